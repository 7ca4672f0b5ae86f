// record.hpp: runs an operation forward and links its result into the graph.
//
// An operation is a plain struct:
//
//   struct Tanh {
//     static constexpr std::string_view name = "Tanh";
//     Array forward(const Array& x) const;
//     Array backward(const Array& dy, const Array& y, const Array& x) const;
//   };
//
// With N inputs, forward takes N arrays and backward returns N gradients, Grads<N>; the wrong
// number does not compile. A forward that is not const may save what backward needs in a member.
#pragma once

#include <optional>
#include <utility>

#include "heed/autograd/tensor.hpp"
#include "heed/autograd/trace/timing.hpp"
#include "heed/autograd/trace/trace.hpp"

namespace heed {

// One gradient, or an array of N.
template <std::size_t N>
using Grads = std::conditional_t<N == 1, Array, std::array<Array, N>>;

using ArrayList = std::vector<std::reference_wrapper<const Array>>;

// grad of input i of `from` += part. Ignores inputs that want no gradient; throws Error, naming
// the operation, when the shape is not the input's.
void accumulate(const Node& from, std::size_t i, Array part);

// While one is alive, accumulate keeps a Contribution for every part.
class ProvenanceGuard {
 public:
  explicit ProvenanceGuard(bool keep);
  ~ProvenanceGuard();
  ProvenanceGuard(const ProvenanceGuard&) = delete;
  ProvenanceGuard& operator=(const ProvenanceGuard&) = delete;

 private:
  bool before_;
};

// The value of input i, or absent() when it was left out.
inline const Array& input_value(const Node& node, std::size_t i) {
  return node.inputs[i] == nullptr ? undefined_array() : node.inputs[i]->value;
}

// Written out by the number of inputs, so that a debugger shows one frame between backward() and
// the operation's own.
template <class Op, std::size_t N>
struct OpNode final : Node {
  static_assert(N >= 1 && N <= 3, "operations with more inputs take a list");
  explicit OpNode(Op it) : operation(std::move(it)) {}

  void apply_backward() override {
    if constexpr (N == 1) {
      accumulate(*this, 0, operation->backward(grad, value, input_value(*this, 0)));
    } else if constexpr (N == 2) {
      accumulate_all(
          operation->backward(grad, value, input_value(*this, 0), input_value(*this, 1)));
    } else {
      accumulate_all(operation->backward(grad, value, input_value(*this, 0), input_value(*this, 1),
                                         input_value(*this, 2)));
    }
  }
  void accumulate_all(Grads<N> grads) {
    for (std::size_t i = 0; i < N; ++i) accumulate(*this, i, std::move(grads[i]));
  }
  void release() override {
    operation.reset();
    inputs.clear();
  }

  std::optional<Op> operation;
};

// The list form, for concat, stack, einsum: forward(ArrayList), backward(dy, y, ArrayList).
template <class Op>
struct ListOpNode final : Node {
  explicit ListOpNode(Op it) : operation(std::move(it)) {}

  void apply_backward() override {
    ArrayList values;
    for (std::size_t i = 0; i < inputs.size(); ++i) values.push_back(input_value(*this, i));
    std::vector<Array> grads = operation->backward(grad, value, values);
    for (std::size_t i = 0; i < inputs.size(); ++i) accumulate(*this, i, std::move(grads[i]));
  }
  void release() override {
    operation.reset();
    inputs.clear();
  }

  std::optional<Op> operation;
};

// Whether a result of these inputs is to be linked.
bool links(const std::vector<std::shared_ptr<Node>>& inputs);

// Fills in what every node has: value, op, where, and links or none.
Tensor finish(std::shared_ptr<Node> node, Array value, std::string_view op, SourceLocation location,
              std::vector<std::shared_ptr<Node>> inputs);

template <class Op, class... Inputs>
Tensor record(Op op, SourceLocation location, const Inputs&... inputs) {
  const auto value_of = [](const Tensor& x) -> const Array& {
    return x.defined() ? x.value() : undefined_array();
  };
  std::vector<std::shared_ptr<Node>> nodes{inputs.node()...};
  const Timer timer(Op::name, links(nodes) ? Phase::forward : Phase::no_grad);
  Array value = op.forward(value_of(inputs)...);
  trace_value(Op::name, location, value, nodes);
  if (!links(nodes))
    return finish(std::make_shared<Node>(), std::move(value), Op::name, location, {});
  auto node = std::make_shared<OpNode<Op, sizeof...(Inputs)>>(std::move(op));
  return finish(std::move(node), std::move(value), Op::name, location, std::move(nodes));
}

template <class Op>
Tensor record_list(Op op, SourceLocation location, const std::vector<Tensor>& inputs) {
  ArrayList values;
  std::vector<std::shared_ptr<Node>> nodes;
  for (const Tensor& x : inputs) {
    values.push_back(x.value());
    nodes.push_back(x.node());
  }
  const Timer timer(Op::name, links(nodes) ? Phase::forward : Phase::no_grad);
  Array value = op.forward(values);
  trace_value(Op::name, location, value, nodes);
  if (!links(nodes))
    return finish(std::make_shared<Node>(), std::move(value), Op::name, location, {});
  auto node = std::make_shared<ListOpNode<Op>>(std::move(op));
  return finish(std::move(node), std::move(value), Op::name, location, std::move(nodes));
}

}  // namespace heed
