// trace.hpp: the environment variable HEED_TRACE, which traces the autograd engine.
//
// Its value is a list of options separated by commas: HEED_TRACE=backward,nan. It is read at first
// use.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heed/autograd/tensor.hpp"
#include "heed/base/error.hpp"

namespace HEED_NAMESPACE {

enum class TraceOption : unsigned {
  backward,    // writes a line for every node of every backward pass
  nan,         // throws NonFinite at the first value or gradient that is not finite
  provenance,  // every backward pass records contributions()
  time,        // prints the time of each operation when the program ends (timing.hpp)
};

// Thrown by TraceOption::nan.
struct NonFinite : Error {
  explicit NonFinite(const std::string& what)
      : Error("HEED_TRACE=nan: " + what), description(what) {}
  std::string description;  // "MatMul (3, 4) made at lessons/my.cpp:12 has nan at (0, 2); ..."
};

// Replaces the options of HEED_TRACE by these; "" turns all off. Throws Error, and changes nothing,
// for an unknown option. Affects the whole program: do not call it while another thread computes.
void set_trace(std::string_view options);

// The options that are on, in the form that set_trace takes.
std::string trace_options();

// Whether an option is on. Throws Error when HEED_TRACE contains an unknown one.
bool trace_enabled(TraceOption option);

// Sends trace lines, each without its line break, to this function instead of stderr. The function
// must not throw.
void set_trace_output(std::function<void(const std::string& line)> output);

// Whether an operation has `static constexpr bool may_write_infinity = true`: minus infinity in its
// result is intended, as masked_fill writes it for masked scores.
template <class Op, class = void>
inline constexpr bool may_write_infinity = false;
template <class Op>
inline constexpr bool may_write_infinity<Op, std::void_t<decltype(Op::may_write_infinity)>> =
    Op::may_write_infinity;

// With TraceOption::nan, throws NonFinite when `value` contains NaN or plus infinity. Minus
// infinity is allowed if the operation may write it or an input contains it.
void check_finite(std::string_view op, bool may_write_infinity, SourceLocation location,
                  const Array& value, const std::vector<std::shared_ptr<Node>>& inputs);

}  // namespace HEED_NAMESPACE
