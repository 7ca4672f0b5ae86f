// backward.hpp: reverse-mode automatic differentiation from an output to every tensor behind it.
#pragma once

#include "heed/autograd/tensor.hpp"

namespace HEED_NAMESPACE {

struct BackwardOptions {
  bool keep_graph = false;  // keep the graph, so that backward can run once more (retain_graph)
  bool provenance = false;  // record the parts of each gradient: contributions()
};

// Adds d output / d x to the gradient of every x behind the output that requires one. Nodes are
// processed by depth, the deepest first, so that a node's gradient is complete before the node's
// own backward uses it. The gradients of leaves accumulate over several calls; each call replaces
// those of all other nodes. Throws Error when the output has more than one element, requires no
// gradient, or an earlier call freed its graph.
void backward(const Tensor& output, BackwardOptions options = {});

// The same for an output of any shape, given the upstream gradient, which has that shape.
void backward(const Tensor& output, const Array& upstream, BackwardOptions options = {});

// Each `+=` into the gradient of x, in order, as recorded by backward with provenance = true.
// Clearing the gradient clears them too.
std::vector<Contribution> contributions(const Tensor& x);

enum class NodeSet { requires_grad, all };

// The nodes of the graph behind an output. Each node comes after its inputs.
std::vector<std::shared_ptr<Node>> topological_order(const Tensor& output,
                                                     NodeSet nodes = NodeSet::requires_grad);

}  // namespace HEED_NAMESPACE
