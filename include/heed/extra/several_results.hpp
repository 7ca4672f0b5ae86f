// several_results.hpp: record_several, which runs an operation with several results and records it
// in the graph.
#pragma once

#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include "heed/autograd/record.hpp"

namespace HEED_NAMESPACE {

// An operation with several results as an operation of record.hpp: its result has the elements of
// all results, one after another.
template <class Op, class... Inputs>
struct SeveralResults {
  template <class>
  using ArrayFor = Array;
  static constexpr std::string_view name = Op::name;

  Array forward(const ArrayFor<Inputs>&... x) {
    const std::vector<Array> results = operation.forward(x...);
    shapes->clear();
    for (const Array& y : results) shapes->push_back(y.shape());
    return joined(results);
  }
  Grads<sizeof...(Inputs)> backward(const Array& dy, const Array& y,
                                    const ArrayFor<Inputs>&... x) const {
    return operation.backward(parted(dy), parted(y), x...);
  }

  static Array joined(const std::vector<Array>& parts) {
    const std::size_t size =
        std::accumulate(parts.begin(), parts.end(), std::size_t{0},
                        [](std::size_t n, const Array& part) { return n + part.size(); });
    Array all = uninitialized({size});
    Real* to = all.data();
    for (const Array& part : parts) to = std::copy_n(part.data(), part.size(), to);
    return all;
  }
  std::vector<Array> parted(const Array& all) const {
    std::vector<Array> parts;
    const Real* from = all.data();
    for (const Shape& shape : *shapes) {
      parts.push_back(uninitialized(shape));
      std::copy_n(from, parts.back().size(), parts.back().data());
      from += parts.back().size();
    }
    return parts;
  }

  Op operation;
  std::shared_ptr<std::vector<Shape>> shapes = std::make_shared<std::vector<Shape>>();
};

// Result k of an operation: a part of the elements of all results, which is its only input.
struct ResultNode final : Node {
  using Node::Node;  // a node with this value

  void apply_backward() override {
    Node& all = *inputs[0];
    if (!all.has_grad) all.grad = zeros(all.value.shape()), all.has_grad = true;
    std::copy_n(grad.data(), grad.size(), all.grad.data() + begin);  // dall = dy in the part
  }
  void release_variables() override { inputs.clear(); }
  Array forward_of(const ArrayList& x) const override {
    Array y = uninitialized(value.shape());
    std::copy_n(x[0].get().data() + begin, y.size(), y.data());
    return y;
  }
  std::vector<Array> backward_of(const Array& dy) const override {
    Array dall = zeros(inputs[0]->value.shape());
    std::copy_n(dy.data(), dy.size(), dall.data() + begin);
    return gradient_list(std::move(dall));
  }

  std::size_t begin = 0;  // the index of the part's first element
};

// Runs an operation with several results on its inputs, and records it if an input requires a
// gradient. For N inputs, it is a struct such as
//
//   struct MinMax {
//     static constexpr std::string_view name = "MinMax";
//     std::vector<Array> forward(const Array& x) const;   // as many results as it likes
//     Grads<N> backward(const std::vector<Array>& dy, const std::vector<Array>& y,
//                       const Array& x) const;            // N gradients
//   };
//
// dy has zeros for a result that the output does not depend on. The results are copied twice.
template <class Op, class... Inputs>
std::vector<Tensor> record_several(Op op, const In& x, const Inputs&... inputs) {
  SeveralResults<Op, In, Inputs...> joined{std::move(op)};
  const auto shapes = joined.shapes;
  const Tensor all = record(std::move(joined), x.call(), x, inputs...);
  std::vector<Tensor> results;
  std::size_t begin = 0;
  for (const Shape& shape : *shapes) {
    Array value = uninitialized(shape);
    std::copy_n(all.value().data() + begin, value.size(), value.data());
    const std::size_t size = value.size();
    if (all.requires_grad()) {
      auto node = make_node<ResultNode>(std::move(value));
      node->begin = begin;
      results.push_back(finish(node, "Result", x.call(), {all.node()}));
    } else {
      results.push_back(finish(make_node<Node>(std::move(value)), Op::name, x.call(), {}));
    }
    begin += size;
  }
  return results;
}

}  // namespace HEED_NAMESPACE
