// node_check.hpp: HEED_TRACE=check and the debuggers' `heed check`, which compare the gradients
// that the backward of a node returns with central differences of its forward.
#pragma once

#include <string>
#include <vector>

#include "heed/autograd/observer.hpp"

namespace HEED_NAMESPACE {

// Compares the gradients that the backward of `node` returns with central differences of its
// forward: of each input, up to 64 elements, the largest gradients among them. Without an upstream
// gradient, a random one is used. Returns a line for each input; `differs` is the first line with
// an element outside the tolerance, or "".
struct NodeCheck {
  std::vector<std::string> lines;
  std::string differs;
  std::size_t compared = 0;  // elements compared; not those where the node is not finite
};
NodeCheck check_node(const Node& node);

// Throws Error if check_node() finds a difference at a node of a backward pass.
class GradientCheck : public Observer {
 public:
  void visit(const Node& node) override;
};

// The verdict ("right", "wrong" or "not compared") and the lines of check_node(), for a debugger.
// The text is valid until the next call.
const char* check_text(const Node* node);

}  // namespace HEED_NAMESPACE
