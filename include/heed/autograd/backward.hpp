// backward.hpp: the chain rule, from a loss back to every tensor it was made from.
#pragma once

#include "heed/autograd/tensor.hpp"

namespace heed {

struct BackwardOptions {
  bool keep_graph = false;  // keep the links, so that backward can run once more
  bool provenance = false;  // keep where each part of each gradient came from: contributions()
};

// Adds d output / d x to the gradient of every x that the output was made from and that requires
// one. Nodes are visited by depth, deepest first, so that a node's own gradient is complete before
// it is sent on. Leaves accumulate over several calls; values in between show the last call's.
// Throws Error when the output has more than one element, depends on nothing that requires a
// gradient, or its graph was freed by an earlier call.
void backward(const Tensor& output, BackwardOptions options = {});

// The same for an output of any shape, given the gradient that arrives at it (of that shape).
void backward(const Tensor& output, const Array& upstream, BackwardOptions options = {});

// Where the gradient of x came from, each += in its order, as far as backward was called with
// provenance = true. Clearing a gradient clears them too.
std::vector<Contribution> contributions(const Tensor& x);

// Every node with links or a gradient to come, inputs before what is made from them.
std::vector<std::shared_ptr<Node>> topological_order(const Tensor& output);

}  // namespace heed
