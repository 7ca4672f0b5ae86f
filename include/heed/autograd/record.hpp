// record.hpp: runs an operation's forward and records its result in the autograd graph.
//
// An operation is a plain struct:
//
//   struct Tanh {
//     static constexpr std::string_view name = "Tanh";
//     Array forward(const Array& x) const;
//     Array backward(const Array& dy, const Array& y, const Array& x) const;
//   };
//
// With N inputs, forward takes N arrays and backward returns N gradients, Grads<N>; other numbers
// do not compile. An operation on a list of tensors (concat, einsum) has forward(ArrayList) and
// backward(dy, y, ArrayList). A forward that is not const may save values in members for backward.
#pragma once

#include <optional>
#include <utility>

#include "heed/autograd/tensor.hpp"
#include "heed/autograd/trace/trace.hpp"

namespace HEED_NAMESPACE {

// One gradient if N is 1, otherwise an array of N gradients.
template <std::size_t N>
using Grads = std::conditional_t<N == 1, Array, std::array<Array, N>>;

// Like checked_axis and checked_axes of shape.hpp, but for a tensor. Error messages contain the
// tensor's name if it has one.
std::size_t checked_axis(std::string_view op, const Tensor& x, int axis,
                         std::string_view role = "x");
Axes checked_axes(std::string_view op, const Tensor& x, const AxisList& axes);

// The value of N (the number of inputs) for an operation on a list of tensors.
inline constexpr std::size_t any_number = 0;

// Adds `part` to the gradient of input i of the node `from`, if that input requires a gradient.
// Throws an Error that names the operation when `part` does not have the input's shape.
void accumulate(const Node& from, std::size_t i, Array part);

// Throws Error unless the backward of an operation on a list has returned a gradient for each
// input.
void check_number_of_gradients(const Node& node, std::size_t returned);

// The value of input i, or undefined_array() if input i is an omitted optional argument.
inline const Array& input_value(const NodeList& inputs, std::size_t i) {
  return inputs[i] == nullptr ? undefined_array() : inputs[i]->value;
}

// The values of all inputs.
inline ArrayList input_values(const NodeList& inputs) {
  ArrayList values;
  for (std::size_t i = 0; i < inputs.size(); ++i) values.push_back(input_value(inputs, i));
  return values;
}

// Calls op.forward with the values of the N inputs, or with one list of values if N is any_number.
template <class Op, std::size_t... I>
Array run_forward(Op& op, const NodeList& inputs, std::index_sequence<I...>) {
  if constexpr (sizeof...(I) == any_number)
    return op.forward(input_values(inputs));
  else
    return op.forward(input_value(inputs, I)...);
}
// Calls op.forward with the given values of the N inputs, or with their list if N is any_number.
template <class Op, std::size_t... I>
Array run_forward(Op& op, const ArrayList& x, std::index_sequence<I...>) {
  if constexpr (sizeof...(I) == any_number)
    return op.forward(x);
  else
    return op.forward(x[I].get()...);
}

// Like run_forward, but calls op.backward and returns a list of gradients.
template <class Op, std::size_t... I>
std::vector<Array> run_backward(Op& op, const Array& dy, const Array& y, const ArrayList& x,
                                std::index_sequence<I...>) {
  if constexpr (sizeof...(I) == any_number) {
    return op.backward(dy, y, x);
  } else if constexpr (sizeof...(I) == 1) {
    return {op.backward(dy, y, x[I].get()...)};
  } else {
    Grads<sizeof...(I)> grads = op.backward(dy, y, x[I].get()...);
    return {std::move(grads[I])...};
  }
}

// return_type(&Op::forward) has the type that forward returns.
template <class Result, class Op, class... Arguments>
Result return_type(Result (Op::*)(Arguments...));
template <class Result, class Op, class... Arguments>
Result return_type(Result (Op::*)(Arguments...) const);
// The same for a static member function.
template <class Result, class... Arguments>
Result return_type(Result (*)(Arguments...));

// Whether forward and backward of an operation with N inputs return arrays.
template <class Op, std::size_t N>
constexpr bool returns_arrays = std::conjunction_v<
    std::is_same<decltype(return_type(&Op::forward)), Array>,
    std::is_same<decltype(return_type(&Op::backward)),
                 std::conditional_t<N == any_number, std::vector<Array>, Grads<N>>>>;

// The node of an operation with N inputs. apply_backward has one case per N, so that a debugger
// shows only one frame between backward() and the operation's own backward.
template <class Op, std::size_t N>
struct OpNode final : Node {
  static_assert(N <= 3, "an operation with more than 3 inputs must take a list");
  explicit OpNode(Op the_operation) : operation(std::move(the_operation)) {}

  void apply_backward() override {
    const auto x = [this](std::size_t i) -> const Array& { return input_value(inputs, i); };
    if constexpr (N == any_number) {
      std::vector<Array> grads = operation->backward(grad, value, input_values(inputs));
      check_number_of_gradients(*this, grads.size());
      accumulate_all(std::move(grads));
    } else if constexpr (N == 1) {
      accumulate(*this, 0, operation->backward(grad, value, x(0)));
    } else if constexpr (N == 2) {
      accumulate_all(operation->backward(grad, value, x(0), x(1)));
    } else {
      accumulate_all(operation->backward(grad, value, x(0), x(1), x(2)));
    }
  }
  template <class Gradients>
  void accumulate_all(Gradients grads) {
    for (std::size_t i = 0; i < inputs.size(); ++i) accumulate(*this, i, std::move(grads[i]));
  }
  void release_variables() override {
    operation.reset();
    inputs.clear();
  }
  // Both run a copy of the operation, whose forward may save values for its backward.
  Array forward_of(const ArrayList& x) const override {
    Op copy = *operation;
    return run_forward(copy, x, std::make_index_sequence<N>());
  }
  std::vector<Array> backward_of(const Array& dy) const override {
    Op copy = *operation;
    return run_backward(copy, dy, value, input_values(inputs), std::make_index_sequence<N>());
  }

  std::optional<Op> operation;
};

// Throws Error if the first input is undefined (only later inputs can be optional), or if an input
// has another shape since mutable_value().
void check_inputs(std::string_view op, const NodeList& inputs);

// Whether an operation on `inputs` is recorded in the graph: gradients are enabled, and an input
// requires a gradient.
bool needs_grad(const NodeList& inputs);

// Sets the value, op, location and inputs of a node, which requires a gradient if it has inputs.
Tensor finish(std::shared_ptr<Node> node, Array value, std::string_view op, SourceLocation location,
              NodeList inputs);

// Implements record() and record_list(). N is the number of inputs, or any_number for a list.
template <std::size_t N, class Op>
Tensor record_inputs(Op op, SourceLocation location, NodeList inputs) {
  if constexpr (!returns_arrays<Op, N>) {
    static_assert(returns_arrays<Op, N>,
                  "forward must return one Array, and backward Grads<N> for N inputs, or "
                  "std::vector<Array> for a list: several results are not supported, and with the "
                  "return type auto, the result may be an expression of arrays that exist no more");
    return Tensor();
  } else {
    const CallSite site(location);
    check_inputs(Op::name, inputs);
    const bool recorded = needs_grad(inputs);
    const OperationTimer timer(Op::name, recorded ? Phase::forward : Phase::no_grad);
    Array value = run_forward(op, inputs, std::make_index_sequence<N>());
    check_finite(Op::name, may_write_infinity<Op>, location, value, inputs);
    if (!recorded) return finish(make_node<Node>(), std::move(value), Op::name, location, {});
    auto node = make_node<OpNode<Op, N>>(std::move(op));
    return finish(std::move(node), std::move(value), Op::name, location, std::move(inputs));
  }
}

// Runs an operation on its inputs, and records the operation if an input requires a gradient.
template <class Op, class... Inputs>
Tensor record(Op op, SourceLocation location, const Inputs&... inputs) {
  static_assert(sizeof...(Inputs) >= 1);
  NodeList nodes;
  nodes.reserve(sizeof...(Inputs));
  (nodes.push_back(inputs.node()), ...);
  return record_inputs<sizeof...(Inputs)>(std::move(op), location, std::move(nodes));
}

// Like record(), but for an operation on a list of tensors.
template <class Op>
Tensor record_list(Op op, SourceLocation location, const std::vector<Tensor>& inputs) {
  NodeList nodes;
  for (const Tensor& x : inputs) nodes.push_back(x.node());
  return record_inputs<any_number>(std::move(op), location, std::move(nodes));
}

}  // namespace HEED_NAMESPACE
