// backward.cpp: collect the graph, order it by depth, and let each node send its gradient on.

#include "heed/autograd/backward.hpp"

#include <algorithm>

#include "autograd/trace/backward_trace.hpp"
#include "heed/array/reduce.hpp"
#include "heed/autograd/record.hpp"
#include "heed/autograd/trace/timing.hpp"
#include "heed/base/error.hpp"

namespace heed {
namespace {

using NodeList = std::vector<std::shared_ptr<Node>>;

// The nodes a walk has met; they are unmarked when it ends, however it ends.
struct Walk {
  ~Walk() {
    for (const auto& node : found) node->visited = false;
  }
  void meet(const std::shared_ptr<Node>& node) {
    found.push_back(node);
    node->visited = true;
  }
  NodeList found;
};

// All nodes that the output was made from and that require a gradient, in the order a walk from
// the output meets them. A list of nodes still to expand stands in for recursion.
NodeList reachable(const std::shared_ptr<Node>& output) {
  Walk walk;
  walk.meet(output);
  for (std::size_t next = 0; next < walk.found.size(); ++next) {
    const std::shared_ptr<Node> node = walk.found[next];  // a copy: the list grows below
    for (const auto& input : node->inputs)
      if (input != nullptr && input->requires_grad && !input->visited) walk.meet(input);
  }
  return walk.found;
}

void check_not_freed(const NodeList& nodes) {
  for (const auto& node : nodes)
    if (node->released)
      throw_error("backward: the graph behind ", node->op, " ", str(node->value.shape()),
                  " made at ", str(node->location),
                  " was freed by an earlier backward; give that one keep_graph = true");
}

void start_at(Node& output, const Array& upstream) {
  if (output.has_grad) {
    add_to(output.grad, upstream);
  } else {
    output.grad = upstream;
    output.has_grad = true;
  }
}

}  // namespace

NodeList topological_order(const Tensor& output) {
  NodeList nodes = reachable(output.node());
  std::stable_sort(nodes.begin(), nodes.end(),
                   [](const auto& a, const auto& b) { return a->depth < b->depth; });
  return nodes;
}

void backward(const Tensor& output, const Array& upstream, BackwardOptions options) {
  if (!output.requires_grad())
    throw_error(
        "backward: ", describe(output, "output"),
        " depends on nothing that requires a gradient; make an input with requires_grad = true");
  if (upstream.shape() != output.shape())
    throw_error("backward: the gradient given has shape ", str(upstream.shape()), ", but ",
                describe(output, "output"), " needs its own");
  NodeList nodes = topological_order(output);
  check_not_freed(nodes);
  const ProvenanceGuard keep(options.provenance || trace_enabled(TraceOption::provenance));
  BackwardTrace trace(nodes);
  count_backward_pass();
  for (const auto& node : nodes)
    if (node->depth > 0) node->has_grad = false, node->contributions.clear();
  start_at(*output.node(), upstream);
  while (!nodes.empty()) {
    const std::shared_ptr<Node> node = std::move(nodes.back());
    nodes.pop_back();  // so that a value nobody else holds is freed as soon as it has sent
    // Volatile: there for a debugger to read, however much was optimised.
    [[maybe_unused]] const Node* volatile running = node.get();
    trace.arrive(*node);
    const Timer timer(node->op, Phase::backward);
    node->apply_backward();
    if (options.keep_graph || node->depth == 0) continue;
    node->release();
    node->released = true;
  }
}

void backward(const Tensor& output, BackwardOptions options) {
  if (output.value().size() != 1)
    throw_error(
        "backward: ", describe(output, "output"),
        " has more than one element; reduce it to one, or give the gradient that arrives at it");
  backward(output, ones(output.shape()), options);
}

std::vector<Contribution> contributions(const Tensor& x) {
  if (!x.defined()) throw_error("contributions: the tensor was not given");
  return x.node()->contributions;
}

}  // namespace heed
