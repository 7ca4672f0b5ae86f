// backward.cpp: the backward pass, which sorts the nodes by depth and calls apply_backward of each.

#include "heed/autograd/backward.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "array/reduce.hpp"
#include "heed/autograd/observer.hpp"
#include "heed/base/error.hpp"

namespace HEED_NAMESPACE {

// Throws Error if an earlier backward pass freed the node's inputs, or if the value of an input was
// changed since the forward pass.
static void check_ready(const Node& node) {
  if (node.depth > 0 && node.inputs.empty())
    throw_error("backward: the graph behind ", node.op, " ", str(node.value.shape()), " made at ",
                str(node.location),
                " was freed by an earlier backward; call that one with keep_graph = true");
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const Node* const input = node.inputs[i].get();
    if (input == nullptr || input->version == node.input_versions[i]) continue;
    throw_error("backward: ", node.op, " made at ", str(node.location), " used ",
                input->name.empty() ? "input " + std::to_string(i) : input->name, " ",
                str(input->value.shape()), ", which was changed at ", str(input->changed_at),
                " since; change it after backward, or use a copy");
  }
}

// The nodes sorted by depth; nodes of equal depth keep their order. count[d] is the number of nodes
// of depth d.
static NodeList sorted_by_depth(NodeList nodes, const std::vector<std::size_t>& count) {
  std::vector<std::size_t> next(count.size(), 0);  // where the next node of each depth is stored
  std::partial_sum(count.begin(), count.end() - 1, next.begin() + 1);
  NodeList sorted(nodes.size());
  for (auto& node : nodes) {
    std::size_t& to = next[node->depth];
    sorted[to++] = std::move(node);
  }
  return sorted;
}

static std::atomic<std::uint64_t> num_searches{0};

// Finds the nodes by a breadth-first search without recursion.
NodeList topological_order(const Tensor& output, NodeSet set, SourceLocation location) {
  const CallSite site(location);
  if (!output.defined())
    throw_error("topological_order: the tensor is undefined; construct it with a value first");
  const std::uint64_t search = ++num_searches;
  NodeList nodes;
  std::vector<std::size_t> count(output.node()->depth + 1, 0);
  const auto visit = [&](const std::shared_ptr<Node>& node) {
    if (std::exchange(node->last_search, search) == search) return;
    ++count[node->depth];
    nodes.push_back(node);
  };
  visit(output.node());
  for (std::size_t next = 0; next < nodes.size(); ++next) {
    const Node& node = *nodes[next];  // not a reference into `nodes`, which visit() may reallocate
    for (const auto& input : node.inputs)
      if (input != nullptr && (set == NodeSet::all || input->requires_grad)) visit(input);
  }
  return sorted_by_depth(std::move(nodes), count);
}

namespace {

// The observer of a backward pass replaces that of the enclosing pass until the pass ends.
class ObservedPass {
 public:
  explicit ObservedPass(Observer* observer) : outer_(std::exchange(observer_of_pass, observer)) {}
  ~ObservedPass() {
    observe(&Observer::end_pass);
    observer_of_pass = outer_;
  }
  ObservedPass(const ObservedPass&) = delete;

 private:
  Observer* outer_;
};

}  // namespace

void backward(const Tensor& output, Upstream upstream, BackwardOptions options,
              SourceLocation location) {
  const CallSite site(location);
  if (options.create_graph)
    throw_error("backward: create_graph asks for derivatives of gradients, which heed does not ",
                "compute; compute them by central differences of two backward passes");
  if (!output.requires_grad())
    throw_error(
        "backward: ", describe(output, "output"),
        " depends on nothing that requires a gradient; make an input with requires_grad = true");
  if (upstream.array.shape() != output.shape())
    throw_error("backward: the upstream gradient has shape ", str(upstream.array.shape()), ", ",
                describe(output, "output"), "; they must be equal");
  NodeList nodes = topological_order(output);
  for (const auto& node : nodes) check_ready(*node);
  const ObservedPass pass(options.observer);
  observe(&Observer::begin_pass, nodes);
  for (const auto& node : nodes)
    if (node->depth > 0) node->has_grad = false, node->contributions.clear();
  Node& last = *output.node();
  if (std::exchange(last.has_grad, true))
    add_to(last.grad, upstream.array);
  else
    last.grad = upstream.array;
  while (!nodes.empty()) {
    const std::shared_ptr<Node> node = std::move(nodes.back());
    nodes.pop_back();  // the node can be freed after its backward if it has no other owner
    [[maybe_unused]] const Node* volatile running = node.get();  // read by debuggers
    const ObservedOperation operation(*node);
    node->apply_backward();
    observe(&Observer::visited, *node);
    if (!options.keep_graph) node->release_variables();
  }
}

void backward(const Tensor& output, BackwardOptions options, SourceLocation location) {
  const CallSite site(location);
  if (output.value().size() != 1)
    throw_error("backward: ", describe(output, "output"),
                " has more than one element; reduce it to one, or give the upstream gradient");
  backward(output, ones(output.shape()), options, location);
}

void Tensor::backward(SourceLocation location) const {
  HEED_NAMESPACE::backward(*this, BackwardOptions(), location);
}

}  // namespace HEED_NAMESPACE
