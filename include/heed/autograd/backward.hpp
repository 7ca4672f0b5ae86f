// backward.hpp: reverse-mode automatic differentiation from an output to all tensors it depends on.
#pragma once

#include "heed/autograd/tensor.hpp"

namespace HEED_NAMESPACE {

class Observer;

// Options of backward().
struct BackwardOptions {
  bool keep_graph = false;  // keep the graph, so that backward can run once more (retain_graph)
  // If not null, an observer of this pass (observer.hpp), such as Provenance, which records the
  // contributions to each gradient, or GradientReady, which reports each complete gradient.
  Observer* observer = nullptr;
  // PyTorch's option for derivatives of gradients, which heed does not compute: a gradient is an
  // Array, which has no graph. backward throws Error if it is true.
  bool create_graph = false;
};

// The upstream gradient of backward(): an Array or an expression of Arrays, but no number, and no
// bool, which in PyTorch is the option retain_graph.
class Upstream {
 public:
  // Evaluates an expression, or copies an Array.
  template <class E, class = std::enable_if_t<xt::is_xexpression<E>::value>>
  Upstream(const E& x) : array(x) {}

  Array array;  // the gradient
};

// Adds d output / d x to the gradient of every tensor x that the output depends on and that
// requires a gradient. Nodes are processed by depth, the deepest first, so that a node's gradient
// is complete before the node's own backward uses it. The gradients of leaves accumulate over
// several calls; each call replaces the gradients of all other nodes. Throws Error if the output
// has more than one element or requires no gradient, if an earlier call freed the graph, or if an
// operation's input was changed (with mutable_value) after the operation was recorded.
void backward(const Tensor& output, BackwardOptions options = {},
              SourceLocation location = SourceLocation::current());

// Like backward(output), but for an output of any shape and an upstream gradient of the same shape.
void backward(const Tensor& output, Upstream upstream, BackwardOptions options = {},
              SourceLocation location = SourceLocation::current());
template <class Number, class = std::enable_if_t<std::is_arithmetic_v<Number>>>
void backward(const Tensor&, Number, BackwardOptions = {}) = delete;  // rejects backward(y, true)

// The nodes that topological_order() lists: only nodes that require a gradient, or all nodes.
enum class NodeSet { requires_grad, all };

// The nodes of the output's graph, ordered so that each node comes after its inputs.
NodeList topological_order(const Tensor& output, NodeSet nodes = NodeSet::requires_grad,
                           SourceLocation location = SourceLocation::current());

}  // namespace HEED_NAMESPACE
