// backward_trace.hpp: what the engine calls on its way back, and the text that lines and errors
// share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heed/autograd/trace/trace.hpp"

namespace heed {

struct TracedPass;

// One backward pass through these nodes, the last of which is its output. A node's line is written
// when the pass goes on to the next, or ends, also by an exception. Does nothing unless asked to.
class BackwardTrace {
 public:
  explicit BackwardTrace(const std::vector<std::shared_ptr<Node>>& nodes);
  ~BackwardTrace();
  BackwardTrace(const BackwardTrace&) = delete;
  BackwardTrace& operator=(const BackwardTrace&) = delete;

  // The gradient of `node` is complete and about to be sent on.
  void arrive(const Node& node) {
    if (pass_ != nullptr) look_at(node);
  }

 private:
  void look_at(const Node& node);

  std::unique_ptr<TracedPass> pass_;  // null when there is nothing to watch
  TracedPass* outer_ = nullptr;       // the pass that this one runs inside of
};

// `from` has computed `part` of the gradient of its input i.
void trace_part(const Node& from, std::size_t i, const Array& part);

// Throw Error when the array is not finite, whether or not somebody asked.
void check_part(const Node& from, std::size_t i, const Array& part);
void check_arrived(const Node& node, bool is_output);

// One line to where lines go.
void tell(const std::string& line);

// "V (3, 4)", or "MatMul (3, 4)" when it has no name.
std::string short_label(const Node& node);

}  // namespace heed
