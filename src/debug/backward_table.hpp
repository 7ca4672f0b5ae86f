// backward_table.hpp: HEED_TRACE=backward, which prints a table of each backward pass.
#pragma once

#include "heed/autograd/observer.hpp"

namespace HEED_NAMESPACE {

// Prints a line for every node of a backward pass: the norm of its gradient, and the norms of its
// contributions to its inputs' gradients. A node's line is printed when the pass reaches the next
// node or ends, even if an exception ends the pass.
class BackwardTable : public Observer {
 public:
  void begin_pass(const NodeList& nodes) override;
  void end_pass() override;
  void visit(const Node& node) override;
  void add(const Node& from, std::size_t i, const Array& part) override;
};

}  // namespace HEED_NAMESPACE
