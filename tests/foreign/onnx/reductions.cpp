// reductions.cpp: ONNX's reductions as calls of heed.

#include "heed/extra/reductions.hpp"

#include "foreign/onnx/operators.hpp"
#include "heed/heed.hpp"

namespace heed_test::onnx {
namespace {

using heed::AxisList;
using heed::Tensor;

// The axes are an attribute or, in later versions, input 1. {} means all.
AxisList axes_of(const Node& node, const Values& inputs) {
  AxisList axes = node.integers("axes");
  if (has(inputs, 1))
    for (const std::int64_t axis : integers(inputs[1])) axes.push_back(static_cast<int>(axis));
  return axes;
}

template <Tensor (*function)(heed::In, const AxisList&, heed::Bool)>
Values reduce(const Node& node, const Values& inputs) {
  const AxisList axes = axes_of(node, inputs);
  const bool keepdims = node.integer("keepdims", 1) != 0;
  if (axes.empty() && node.integer("noop_with_empty_axes", 0) != 0) return {inputs[0]};
  return {value_of(function(tensor(inputs[0]), axes, keepdims), inputs[0].type)};
}

Tensor sum(heed::In x, const AxisList& axes, heed::Bool keepdim) {
  return heed::sum(x, axes, keepdim);
}
Tensor mean(heed::In x, const AxisList& axes, heed::Bool keepdim) {
  return heed::mean(x, axes, keepdim);
}
Tensor max(heed::In x, const AxisList& axes, heed::Bool keepdim) {
  return heed::amax(x, axes, keepdim);
}
Tensor min(heed::In x, const AxisList& axes, heed::Bool keepdim) {
  return heed::amin(x, axes, keepdim);
}
Tensor l1(heed::In x, const AxisList& axes, heed::Bool keepdim) {
  return heed::norm(x, 1, axes, keepdim);
}
Tensor l2(heed::In x, const AxisList& axes, heed::Bool keepdim) {
  return heed::norm(x, 2, axes, keepdim);
}
Tensor log_sum(heed::In x, const AxisList& axes, heed::Bool keepdim) {
  return heed::log(heed::sum(x, axes, keepdim));
}
Tensor log_sum_exp(heed::In x, const AxisList& axes, heed::Bool keepdim) {
  return heed::logsumexp(x, axes, keepdim);
}
Tensor sum_square(heed::In x, const AxisList& axes, heed::Bool keepdim) {
  return heed::sum(x * x, axes, keepdim);
}

// The product over several axes, one after the other.
Tensor product(heed::In x, const AxisList& axes, heed::Bool keepdim) {
  std::vector<int> all;
  for (int axis = 0; axis < static_cast<int>(x.dim()); ++axis) {
    bool wanted = axes.empty();
    for (const int given : axes) wanted = wanted || positive(given, x.dim()) == axis;
    if (wanted) all.push_back(axis);
  }
  Tensor y = x;
  for (std::size_t i = all.size(); i-- > 0;) y = heed::prod(y, all[i], keepdim);
  return y;
}

template <heed::Indices (*function)(heed::In, int)>
Values arg(const Node& node, const Values& inputs) {
  if (node.integer("select_last_index", 0) != 0)
    throw NotExpressible("the last of equal elements, which PyTorch does not have either");
  const int axis = positive(node.integer("axis", 0), inputs[0].dim());
  Value result = value_of(function(tensor(inputs[0]), axis));
  if (node.integer("keepdims", 1) != 0)
    result.shape.insert(result.shape.begin() + axis, std::size_t{1});
  return {result};
}

heed::Indices argmax(heed::In x, int axis) { return heed::argmax(x, axis); }
heed::Indices argmin(heed::In x, int axis) { return heed::argmin(x, axis); }

Values topk(const Node& node, const Values& inputs) {
  const bool largest = node.integer("largest", 1) != 0;
  const auto k = static_cast<std::size_t>(number(inputs[1]));
  const Tensor x = largest ? tensor(inputs[0]) : -tensor(inputs[0]);
  const heed::TopK found = heed::topk(x, k, node.integer("axis", -1));
  return {value_of(largest ? found.values : -found.values, inputs[0].type),
          value_of(found.indices)};
}

Values cumsum(const Node& node, const Values& inputs) {
  if (node.integer("exclusive", 0) != 0)
    throw NotExpressible("a cumsum without the element itself");
  const int axis = static_cast<int>(number(inputs[1]));
  const auto flipped = [&](const Tensor& x) {
    if (node.integer("reverse", 0) == 0) return x;
    std::vector<Tensor> parts;
    for (std::size_t i = x.size(axis); i-- > 0;)
      parts.push_back(
          heed::slice(x, axis, static_cast<std::int64_t>(i), static_cast<std::int64_t>(i) + 1));
    return heed::concat(parts, axis);
  };
  return {value_of(flipped(heed::cumsum(flipped(tensor(inputs[0])), axis)), inputs[0].type)};
}

}  // namespace

Operators reduction_operators() {
  return {{"ReduceSum", reduce<sum>},
          {"ReduceMean", reduce<mean>},
          {"ReduceMax", reduce<max>},
          {"ReduceMin", reduce<min>},
          {"ReduceProd", reduce<product>},
          {"ReduceL1", reduce<l1>},
          {"ReduceL2", reduce<l2>},
          {"ReduceLogSum", reduce<log_sum>},
          {"ReduceLogSumExp", reduce<log_sum_exp>},
          {"ReduceSumSquare", reduce<sum_square>},
          {"ArgMax", arg<argmax>},
          {"ArgMin", arg<argmin>},
          {"TopK", topk},
          {"CumSum", cumsum}};
}

}  // namespace heed_test::onnx
