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

#include <iterator>
#include <optional>
#include <utility>

#include "heed/autograd/observer.hpp"
#include "heed/autograd/tensor.hpp"

namespace HEED_NAMESPACE {

// One gradient if N is 1, otherwise an array of N gradients.
template <std::size_t N>
using Grads = std::conditional_t<N == 1, Array, std::array<Array, N>>;

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

// An operation's forward and backward have the arguments I...: the values of the inputs 0, 1, ...,
// or if I is whole_list, one list of all values.
inline constexpr std::size_t whole_list = static_cast<std::size_t>(-1);
// Argument I of the operation, if its inputs are these nodes.
template <std::size_t I>
decltype(auto) argument(const NodeList& inputs) {
  if constexpr (I == whole_list)
    return input_values(inputs);
  else
    return input_value(inputs, I);
}
// Argument I of the operation, if the values of its inputs are x.
template <std::size_t I>
decltype(auto) argument(const ArrayList& x) {
  if constexpr (I == whole_list)
    return (x);
  else
    return x[I].get();
}

// Adds the gradients that the backward of a node has returned to the gradients of its inputs.
inline void accumulate_all(const Node& node, Array grad) { accumulate(node, 0, std::move(grad)); }
// Adds a list of gradients, one for each input, to the gradients of the node's inputs.
template <class List>
void accumulate_all(const Node& node, List grads) {
  check_number_of_gradients(node, grads.size());
  for (std::size_t i = 0; i < grads.size(); ++i) accumulate(node, i, std::move(grads[i]));
}

// A list of one gradient.
inline std::vector<Array> gradient_list(Array grad) {
  std::vector<Array> list;
  list.push_back(std::move(grad));
  return list;
}
// The gradients of an array as a list.
template <class List>
std::vector<Array> gradient_list(List grads) {
  return {std::make_move_iterator(grads.begin()), std::make_move_iterator(grads.end())};
}

// return_type(&Op::forward) has the type that forward returns.
template <class Result, class Op, class... Arguments>
Result return_type(Result (Op::*)(Arguments...));
template <class Result, class Op, class... Arguments>
Result return_type(Result (Op::*)(Arguments...) const);
// return_type for a static member function.
template <class Result, class... Arguments>
Result return_type(Result (*)(Arguments...));

// Whether forward and backward of an operation with the arguments I... return arrays.
template <class Op, std::size_t... I>
constexpr bool returns_arrays =
    std::conjunction_v<std::is_same<decltype(return_type(&Op::forward)), Array>,
                       std::is_same<decltype(return_type(&Op::backward)),
                                    std::conditional_t<((I == whole_list) || ...),
                                                       std::vector<Array>, Grads<sizeof...(I)>>>>;

// Whether an operation has `static constexpr bool may_write_infinity = true`, which allows minus
// infinity in its result. For example, masked_fill writes minus infinity for masked scores.
template <class Op, class = void>
inline constexpr bool may_write_infinity = false;
template <class Op>
inline constexpr bool may_write_infinity<Op, std::void_t<decltype(Op::may_write_infinity)>> =
    Op::may_write_infinity;

// The node of an operation with the arguments I... apply_backward itself calls the operation's
// backward, so that a debugger shows only one frame between backward() and it.
template <class Op, std::size_t... I>
struct OpNode final : Node {
  OpNode(Op the_operation, Array result)
      : Node(std::move(result)), operation(std::move(the_operation)) {}

  void apply_backward() override {
    accumulate_all(*this, operation->backward(grad, value, argument<I>(inputs)...));
  }
  void release_variables() override {
    operation.reset();
    inputs.clear();
  }
  // forward_of and backward_of run a copy of the operation, whose forward may save values for its
  // backward.
  Array forward_of(const ArrayList& x) const override {
    Op copy = *operation;
    return copy.forward(argument<I>(x)...);
  }
  std::vector<Array> backward_of(const Array& dy) const override {
    Op copy = *operation;
    return gradient_list(copy.backward(dy, value, argument<I>(inputs)...));
  }

  std::optional<Op> operation;
};

// Throws Error if the first input is undefined (only later inputs can be optional), or if an input
// has another shape since mutable_value().
void check_inputs(std::string_view op, const NodeList& inputs);

// Whether an operation on `inputs` is recorded in the graph: gradients are enabled, and an input
// requires a gradient.
bool needs_grad(const NodeList& inputs);

// Sets the op, location and inputs of a node, which requires a gradient if it has inputs.
Tensor finish(std::shared_ptr<Node> node, std::string_view op, SourceLocation location,
              NodeList inputs);

// Implements record() and record_list() for an operation with the arguments I...
template <class Op, std::size_t... I>
Tensor record_inputs(Op op, SourceLocation location, NodeList inputs, std::index_sequence<I...>) {
  if constexpr (!returns_arrays<Op, I...>) {
    static_assert(
        returns_arrays<Op, I...>,
        "forward must return one Array, and backward Grads<N> for N inputs, or "
        "std::vector<Array> for a list (record_several of heed/extra is for several results); with "
        "the return type auto, the result may be an expression of arrays that are gone");
    return Tensor();
  } else {
    const CallSite site(location);
    check_inputs(Op::name, inputs);
    const bool recorded = needs_grad(inputs);
    const ObservedOperation observed(Op::name, recorded ? Phase::forward : Phase::no_grad);
    Array value = op.forward(argument<I>(inputs)...);
    observe(&Observer::computed, Op::name, may_write_infinity<Op>, location, value, inputs);
    if (!recorded) return finish(make_node<Node>(std::move(value)), Op::name, location, {});
    auto node = make_node<OpNode<Op, I...>>(std::move(op), std::move(value));
    return finish(std::move(node), Op::name, location, std::move(inputs));
  }
}

// Runs an operation on its inputs, and records the operation if an input requires a gradient.
template <class Op, class... Inputs>
Tensor record(Op op, SourceLocation location, const Inputs&... inputs) {
  static_assert(sizeof...(Inputs) >= 1);
  NodeList nodes;
  nodes.reserve(sizeof...(Inputs));
  (nodes.push_back(inputs.node()), ...);
  return record_inputs(std::move(op), location, std::move(nodes),
                       std::index_sequence_for<Inputs...>());
}

// Like record() above, with the location of the call that converted x to In.
template <class Op, class... Inputs>
Tensor record(Op op, const In& x, const Inputs&... inputs) {
  return record(std::move(op), x.call(), x, inputs...);
}

// Like record(), but for an operation on a list of tensors.
template <class Op>
Tensor record_list(Op op, SourceLocation location, const std::vector<Tensor>& inputs) {
  NodeList nodes;
  for (const Tensor& x : inputs) nodes.push_back(x.node());
  return record_inputs(std::move(op), location, std::move(nodes),
                       std::index_sequence<whole_list>());
}
// Like record_list() above, with the location of the call that converted the list to InList.
template <class Op>
Tensor record_list(Op op, const InList& inputs) {
  return record_list(std::move(op), inputs.call(), inputs);
}

}  // namespace HEED_NAMESPACE
