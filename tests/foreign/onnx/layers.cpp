// layers.cpp: ONNX's products, normalizations and losses as calls of heed.

#include <numeric>

#include "foreign/onnx/operators.hpp"
#include "heed/extra/losses.hpp"
#include "heed/extra/reductions.hpp"
#include "heed/heed.hpp"

namespace heed_test::onnx {
namespace {

using heed::Tensor;

Tensor optional_tensor(const Values& inputs, std::size_t i) {
  return has(inputs, i) ? tensor(inputs[i]) : Tensor();
}

Values softmax(const Node& node, const Values& inputs) {
  return {value_of(heed::softmax(tensor(inputs[0]), node.integer("axis", -1)), inputs[0].type)};
}

Values log_softmax(const Node& node, const Values& inputs) {
  return {value_of(heed::log_softmax(tensor(inputs[0]), node.integer("axis", -1)), inputs[0].type)};
}

// ---- products

Values matmul(const Node&, const Values& inputs) {
  const Tensor a = tensor(inputs[0]), b = tensor(inputs[1]);
  if (a.dim() == 1 || b.dim() == 1) {  // PyTorch's rule: a vector gets an axis of size 1
    const Tensor row = a.dim() == 1 ? heed::unsqueeze(a, 0) : a;
    const Tensor column = b.dim() == 1 ? heed::unsqueeze(b, -1) : b;
    Tensor y = heed::matmul(row, column);
    if (b.dim() == 1) y = heed::squeeze(y, -1);
    return {value_of(a.dim() == 1 ? heed::squeeze(y, b.dim() == 1 ? -1 : -2) : y, inputs[0].type)};
  }
  return {value_of(heed::matmul(a, b), inputs[0].type)};
}

Values gemm(const Node& node, const Values& inputs) {
  Tensor a = tensor(inputs[0]), b = tensor(inputs[1]);
  if (node.integer("transA", 0) != 0) a = heed::transpose(a, 0, 1);
  if (node.integer("transB", 0) != 0) b = heed::transpose(b, 0, 1);
  Tensor y = heed::matmul(a, b) * node.number("alpha", 1);
  if (has(inputs, 2)) y = y + tensor(inputs[2]) * node.number("beta", 1);
  return {value_of(y, inputs[0].type)};
}

Values einsum(const Node& node, const Values& inputs) {
  std::vector<Tensor> operands;
  for (const Value& value : inputs) operands.push_back(tensor(value));
  return {value_of(heed::einsum(node.text("equation", ""), operands), inputs[0].type)};
}

// ---- normalizations

std::vector<int> last_axes(int axis, std::size_t dim) {
  std::vector<int> axes;
  for (int i = positive(axis, dim); i < static_cast<int>(dim); ++i) axes.push_back(i);
  return axes;
}

heed::Shape last_sizes(const Value& x, int axis) {
  return {x.shape.begin() + positive(axis, x.dim()), x.shape.end()};
}

Values layer_norm(const Node& node, const Values& inputs) {
  const int axis = node.integer("axis", -1);
  const double eps = node.number("epsilon", 1e-5);
  const Tensor x = tensor(inputs[0]);
  const std::vector<int> axes = last_axes(axis, x.dim());
  const Tensor variance = heed::variance(x, axes, false, true);
  return {value_of(heed::layer_norm(x, last_sizes(inputs[0], axis), tensor(inputs[1]),
                                    optional_tensor(inputs, 2), eps)),
          value_of(heed::mean(x, axes, true)), value_of(1.0 / heed::sqrt(variance + eps))};
}

Values rms_norm(const Node& node, const Values& inputs) {
  const int axis = node.integer("axis", -1);
  return {value_of(heed::rms_norm(tensor(inputs[0]), last_sizes(inputs[0], axis), tensor(inputs[1]),
                                  node.number("epsilon", 1e-5)),
                   inputs[0].type)};
}

// x with mean 0 and variance 1 over its axes from `axis` on.
Tensor normalized(const Tensor& x, const std::vector<int>& axes, double eps) {
  const Tensor variance = heed::variance(x, axes, false, true);
  return (x - heed::mean(x, axes, true)) / heed::sqrt(variance + eps);
}

// A vector with one element for each channel, to multiply x (N, C, ...).
Tensor per_channel(const Value& vector, std::size_t dim) {
  std::vector<std::size_t> shape(dim - 1, 1);
  shape[0] = vector.elements.size();
  return heed::reshape(tensor(vector), shape);
}

Values instance_norm(const Node& node, const Values& inputs) {
  const Tensor x = tensor(inputs[0]);
  const Tensor y = normalized(x, last_axes(2, x.dim()), node.number("epsilon", 1e-5));
  return {value_of(y * per_channel(inputs[1], x.dim()) + per_channel(inputs[2], x.dim()))};
}

Values group_norm(const Node& node, const Values& inputs) {
  const Tensor x = tensor(inputs[0]);
  const heed::Shape shape = x.shape();
  const auto groups = static_cast<std::size_t>(node.integer("num_groups", 1));
  const Tensor parts = heed::reshape(x, {shape[0], groups, x.value().size() / shape[0] / groups});
  const Tensor y = heed::reshape(normalized(parts, {2}, node.number("epsilon", 1e-5)), shape);
  return {value_of(y * per_channel(inputs[1], x.dim()) + per_channel(inputs[2], x.dim()))};
}

Values batch_norm(const Node& node, const Values& inputs) {
  if (node.integer("training_mode", 0) != 0) throw NotExpressible("batch norm in training");
  const Tensor x = tensor(inputs[0]);
  const auto channels = [&](std::size_t i) { return per_channel(inputs[i], x.dim()); };
  const Tensor y = (x - channels(3)) / heed::sqrt(channels(4) + node.number("epsilon", 1e-5));
  return {value_of(y * channels(1) + channels(2))};
}

Values mean_variance_norm(const Node& node, const Values& inputs) {
  std::vector<int> axes = node.integers("axes");
  if (axes.empty()) axes = {0, 2, 3};
  return {value_of(normalized(tensor(inputs[0]), axes, 1e-9))};
}

Values lp_norm(const Node& node, const Values& inputs) {
  return {
      value_of(heed::normalize(tensor(inputs[0]), node.number("p", 2), node.integer("axis", -1)))};
}

Values dropout(const Node&, const Values& inputs) {
  if (has(inputs, 2) && number(inputs[2]) != 0) throw NotExpressible("dropout with numpy's masks");
  Value all{Type::boolean, inputs[0].shape, std::vector<double>(inputs[0].elements.size(), 1)};
  return {inputs[0], all};
}

// ---- losses: ONNX's classes are axis 1, heed's the last one

Tensor classes_last(const Value& scores) {
  std::vector<int> order(scores.dim());
  std::iota(order.begin(), order.end(), 0);
  order.erase(order.begin() + 1);
  order.push_back(1);
  return heed::permute(tensor(scores), order);
}

heed::CrossEntropyOptions loss_options(const Node& node) {
  heed::CrossEntropyOptions options;
  const std::string reduction = node.text("reduction", "mean");
  options.reduction = reduction == "mean"  ? heed::Reduction::mean
                      : reduction == "sum" ? heed::Reduction::sum
                                           : heed::Reduction::none;
  options.ignore_index = node.integer("ignore_index", -1000);  // ONNX ignores none without it
  return options;
}

Values cross_entropy(const Node& node, const Values& inputs) {
  const Tensor logits = classes_last(inputs[0]);
  const heed::Indices targets = indices(inputs[1]);
  const heed::CrossEntropyOptions options = loss_options(node);
  const Tensor loss = has(inputs, 2)
                          ? heed::cross_entropy(logits, targets, tensor(inputs[2]).value(), options)
                          : heed::cross_entropy(logits, targets, options);
  return {value_of(loss), value_of(heed::log_softmax(tensor(inputs[0]), 1))};
}

Values nll_loss(const Node& node, const Values& inputs) {
  const Tensor log_probabilities = classes_last(inputs[0]);
  const heed::Indices targets = indices(inputs[1]);
  const heed::CrossEntropyOptions options = loss_options(node);
  return {value_of(has(inputs, 2) ? heed::nll_loss(log_probabilities, targets,
                                                   tensor(inputs[2]).value(), options)
                                  : heed::nll_loss(log_probabilities, targets, options))};
}

}  // namespace

Operators layer_operators() {
  return {{"Softmax", softmax},
          {"LogSoftmax", log_softmax},
          {"MatMul", matmul},
          {"Gemm", gemm},
          {"Einsum", einsum},
          {"LayerNormalization", layer_norm},
          {"RMSNormalization", rms_norm},
          {"InstanceNormalization", instance_norm},
          {"GroupNormalization", group_norm},
          {"BatchNormalization", batch_norm},
          {"MeanVarianceNormalization", mean_variance_norm},
          {"LpNormalization", lp_norm},
          {"Dropout", dropout},
          {"SoftmaxCrossEntropyLoss", cross_entropy},
          {"NegativeLogLikelihoodLoss", nll_loss}};
}

}  // namespace heed_test::onnx
