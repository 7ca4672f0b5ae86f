// nan_check.hpp: NanCheck, which throws at the first value or gradient that is not finite.
#pragma once

#include <string>

#include "heed/autograd/observer.hpp"
#include "heed/base/error.hpp"

namespace HEED_NAMESPACE {

// The exception that NanCheck throws.
struct NonFinite : Error {
  // The message is "HEED_TRACE=nan: " and `what`.
  explicit NonFinite(const std::string& what)
      : Error("HEED_TRACE=nan: " + what), description(what) {}
  std::string description;  // "MatMul (3, 4) made at lessons/my.cpp:12 has nan at (0, 2); ..."
};

// Throws NonFinite when an operation's result or a gradient contains NaN or infinity. Minus
// infinity is allowed in the result if the operation may write it or an input contains it.
// HEED_TRACE=nan turns it on.
class NanCheck : public Observer {
 public:
  void computed(std::string_view op, bool writes_infinity, SourceLocation location,
                const Array& value, const NodeList& inputs) override;
  void begin_pass(const NodeList& nodes) override;
  void visit(const Node& node) override;
  void add(const Node& from, std::size_t i, const Array& part) override;
};

}  // namespace HEED_NAMESPACE
