// shapes.cpp: ONNX's operators on shapes and indices as calls of heed.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "foreign/onnx/operators.hpp"
#include "heed/extra/indexing.hpp"
#include "heed/heed.hpp"

namespace heed_test::onnx {
namespace {

using heed::Tensor;

Tensor x_of(const Values& inputs) { return tensor(inputs[0]); }

Values same_type(const Tensor& x, const Values& inputs) { return {value_of(x, inputs[0].type)}; }

Values identity(const Node&, const Values& inputs) { return {inputs[0]}; }

Values reshape(const Node& node, const Values& inputs) {
  std::vector<std::int64_t> shape = integers(inputs[1]);
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (shape[i] == 0 && node.integer("allowzero", 0) == 0)
      shape[i] = static_cast<std::int64_t>(inputs[0].shape.at(i));
  return same_type(heed::reshape(x_of(inputs), shape), inputs);
}

Values flatten(const Node& node, const Values& inputs) {
  const int axis = positive(node.integer("axis", 1), inputs[0].dim());
  const auto& shape = inputs[0].shape;
  const std::size_t rows = std::accumulate(shape.begin(), shape.begin() + axis, std::size_t{1},
                                           std::multiplies<std::size_t>());
  return same_type(heed::reshape(x_of(inputs), {rows, inputs[0].elements.size() / rows}), inputs);
}

Values transpose(const Node& node, const Values& inputs) {
  std::vector<int> order = node.integers("perm");
  if (!node.has("perm")) {
    order.resize(inputs[0].dim());
    std::iota(order.rbegin(), order.rend(), 0);
  }
  return same_type(heed::permute(x_of(inputs), order), inputs);
}

std::vector<int> axes_of(const Node& node, const Values& inputs, std::size_t dim) {
  std::vector<int> axes = node.integers("axes");
  if (has(inputs, 1))
    for (const std::int64_t axis : integers(inputs[1])) axes.push_back(static_cast<int>(axis));
  for (int& axis : axes) axis = positive(axis, dim);
  std::sort(axes.begin(), axes.end());
  return axes;
}

Values squeeze(const Node& node, const Values& inputs) {
  std::vector<int> axes = axes_of(node, inputs, inputs[0].dim());
  if (axes.empty())
    for (std::size_t axis = 0; axis < inputs[0].dim(); ++axis)
      if (inputs[0].shape[axis] == 1) axes.push_back(static_cast<int>(axis));
  Tensor x = x_of(inputs);
  for (std::size_t i = axes.size(); i-- > 0;) x = heed::squeeze(x, axes[i]);
  return same_type(x, inputs);
}

Values unsqueeze(const Node& node, const Values& inputs) {
  const std::size_t added =
      has(inputs, 1) ? inputs[1].elements.size() : node.integers("axes").size();
  Tensor x = x_of(inputs);
  for (const int axis : axes_of(node, inputs, inputs[0].dim() + added))
    x = heed::unsqueeze(x, axis);
  return same_type(x, inputs);
}

// ONNX's Expand broadcasts both ways: a size of 1 in the shape keeps that of x.
Values expand(const Node&, const Values& inputs) {
  std::vector<std::int64_t> shape = integers(inputs[1]);
  const std::size_t dim = inputs[0].dim();
  if (shape.size() < dim) shape.insert(shape.begin(), dim - shape.size(), 1);
  for (std::size_t i = 0; i < dim; ++i) {
    std::int64_t& size = shape[shape.size() - dim + i];
    if (size == 1) size = static_cast<std::int64_t>(inputs[0].shape[i]);
  }
  return same_type(heed::expand(x_of(inputs), shape), inputs);
}

Values concat(const Node& node, const Values& inputs) {
  std::vector<Tensor> parts;
  for (const Value& part : inputs) parts.push_back(tensor(part));
  return same_type(heed::concat(parts, node.integer("axis", 0)), inputs);
}

Values split(const Node& node, const Values& inputs) {
  const int axis = positive(node.integer("axis", 0), inputs[0].dim());
  const std::size_t length = inputs[0].shape.at(static_cast<std::size_t>(axis));
  std::vector<std::int64_t> sizes;
  if (has(inputs, 1)) {
    sizes = integers(inputs[1]);
  } else {
    const std::size_t parts = node.outputs.size(), size = (length + parts - 1) / parts;
    for (std::size_t begin = 0; sizes.size() < parts; begin += size)
      sizes.push_back(static_cast<std::int64_t>(std::min(size, length - std::min(length, begin))));
  }
  Values results;
  for (const Tensor& part : heed::split(x_of(inputs), sizes, axis))
    results.push_back(value_of(part, inputs[0].type));
  return results;
}

Values slice(const Node&, const Values& inputs) {
  const std::vector<std::int64_t> begins = integers(inputs[1]), ends = integers(inputs[2]);
  Tensor x = x_of(inputs);
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const int axis =
        has(inputs, 3) ? static_cast<int>(integers(inputs[3])[i]) : static_cast<int>(i);
    const std::int64_t step = has(inputs, 4) ? integers(inputs[4])[i] : 1;
    if (step < 0) throw NotExpressible("a negative step, which PyTorch does not have either");
    x = heed::slice(x, axis, begins[i], ends[i], step);
  }
  return same_type(x, inputs);
}

// Indices from 0 on, for an axis of this size.
heed::Indices from_zero(const Value& value, std::size_t size) {
  heed::Indices all = indices(value);
  for (std::int64_t& index : all)
    if (index < 0) index += static_cast<std::int64_t>(size);
  return all;
}

// index_select takes a vector of indices; a reshape gives the result the axes of all indices.
Values gather(const Node& node, const Values& inputs) {
  const int axis = positive(node.integer("axis", 0), inputs[0].dim());
  const auto at = static_cast<std::ptrdiff_t>(axis);
  heed::Indices list = from_zero(inputs[1], inputs[0].shape.at(static_cast<std::size_t>(axis)));
  list.reshape({list.size()});
  std::vector<std::size_t> shape = inputs[0].shape;
  shape.erase(shape.begin() + at);
  shape.insert(shape.begin() + at, inputs[1].shape.begin(), inputs[1].shape.end());
  return same_type(heed::reshape(heed::index_select(x_of(inputs), axis, list), shape), inputs);
}

Values gather_elements(const Node& node, const Values& inputs) {
  const int axis = positive(node.integer("axis", 0), inputs[0].dim());
  const auto size = inputs[0].shape.at(static_cast<std::size_t>(axis));
  return same_type(heed::gather(x_of(inputs), axis, from_zero(inputs[1], size)), inputs);
}

Values scatter_elements(const Node& node, const Values& inputs) {
  const int axis = positive(node.integer("axis", 0), inputs[0].dim());
  const heed::Indices at = from_zero(inputs[1], inputs[0].shape.at(static_cast<std::size_t>(axis)));
  const std::string reduction = node.text("reduction", "none");
  const Tensor x = x_of(inputs), source = tensor(inputs[2]);
  if (reduction == "none") return same_type(heed::scatter(x, axis, at, source), inputs);
  if (reduction == "add") return same_type(heed::scatter_add(x, axis, at, source), inputs);
  throw NotExpressible("scatter with the reduction " + reduction);
}

Values tile(const Node&, const Values& inputs) {
  return same_type(heed::repeat(x_of(inputs), integers(inputs[1])), inputs);
}

// PyTorch's pad lists the last axis first, and for each axis both sides.
Values pad(const Node& node, const Values& inputs) {
  if (node.text("mode", "constant") != "constant") throw NotExpressible("pad by mirrored elements");
  const std::vector<std::int64_t> pads = integers(inputs[1]);
  const std::size_t dim = inputs[0].dim(), count = pads.size() / 2;
  std::vector<std::int64_t> both(2 * dim, 0);
  for (std::size_t i = 0; i < count; ++i) {
    const int given =
        has(inputs, 3) ? static_cast<int>(integers(inputs[3])[i]) : static_cast<int>(i);
    const auto axis = static_cast<std::size_t>(positive(given, dim));
    both[2 * (dim - 1 - axis)] = pads[i];
    both[2 * (dim - 1 - axis) + 1] = pads[count + i];
  }
  return same_type(heed::pad(x_of(inputs), both, has(inputs, 2) ? number(inputs[2]) : 0), inputs);
}

Values triangle(const Node& node, const Values& inputs) {
  const int k = has(inputs, 1) ? static_cast<int>(number(inputs[1])) : 0;
  const Tensor x = x_of(inputs);
  return same_type(node.integer("upper", 1) != 0 ? heed::triu(x, k) : heed::tril(x, k), inputs);
}

// heed's one_hot puts the classes last, as PyTorch's does.
Values one_hot(const Node& node, const Values& inputs) {
  const auto depth = static_cast<std::size_t>(number(inputs[1]));
  const std::size_t dim = inputs[0].dim() + 1;
  const Tensor classes(
      heed::one_hot(from_zero(inputs[0], depth), static_cast<std::int64_t>(depth)));
  std::vector<int> order(dim - 1);
  std::iota(order.begin(), order.end(), 0);
  order.insert(order.begin() + positive(node.integer("axis", -1), dim), static_cast<int>(dim) - 1);
  const double off = inputs[2].elements.at(0), on = inputs[2].elements.at(1);
  return {value_of(heed::permute(classes, order) * (on - off) + off, inputs[2].type)};
}

// ---- what a graph computes about shapes, without heed

Values shape(const Node& node, const Values& inputs) {
  const auto dim = static_cast<int>(inputs[0].dim());
  const auto limit = [&](int axis) { return std::clamp(positive(axis, inputs[0].dim()), 0, dim); };
  const int begin = limit(node.integer("start", 0)), end = limit(node.integer("end", dim));
  const auto& all = inputs[0].shape;
  if (end <= begin) return {value_of(std::vector<std::int64_t>())};
  return {value_of(std::vector<std::int64_t>(all.begin() + begin, all.begin() + end))};
}

Values size(const Node&, const Values& inputs) {
  return {{Type::int64, {}, {static_cast<double>(inputs[0].elements.size())}}};
}

Values constant(const Node& node, const Values&) {
  if (node.has("value")) return {node.attributes.at("value").tensor};
  if (node.has("value_int")) return {{Type::int64, {}, {node.number("value_int", 0)}}};
  if (node.has("value_float")) return {{Type::real, {}, {node.number("value_float", 0)}}};
  for (const char* name : {"value_ints", "value_floats"})
    if (node.has(name)) {
      const std::vector<double>& list = node.attributes.at(name).numbers;
      return {{name[6] == 'i' ? Type::int64 : Type::real, {list.size()}, list}};
    }
  throw NotExpressible("a constant of texts or a sparse one");
}

Values constant_of_shape(const Node& node, const Values& inputs) {
  Value value{Type::real, {}, {0}};
  if (node.has("value")) value = node.attributes.at("value").tensor;
  value.shape.clear();
  std::size_t count = 1;
  for (const std::int64_t length : integers(inputs[0]))
    value.shape.push_back(static_cast<std::size_t>(length)), count *= value.shape.back();
  value.elements.assign(count, value.elements.at(0));
  return {value};
}

Values range(const Node&, const Values& inputs) {
  const double begin = number(inputs[0]), end = number(inputs[1]), step = number(inputs[2]);
  const double count = std::max(0.0, std::ceil((end - begin) / step));
  Value value{inputs[0].type, {static_cast<std::size_t>(count)}, {}};
  for (double i = 0; i < count; ++i) value.elements.push_back(begin + i * step);
  return {value};
}

}  // namespace

Operators shape_operators() {
  return {{"Identity", identity},
          {"Reshape", reshape},
          {"Flatten", flatten},
          {"Transpose", transpose},
          {"Squeeze", squeeze},
          {"Unsqueeze", unsqueeze},
          {"Expand", expand},
          {"Concat", concat},
          {"Split", split},
          {"Slice", slice},
          {"Gather", gather},
          {"GatherElements", gather_elements},
          {"ScatterElements", scatter_elements},
          {"Scatter", scatter_elements},
          {"Tile", tile},
          {"Pad", pad},
          {"Trilu", triangle},
          {"OneHot", one_hot},
          {"Shape", shape},
          {"Size", size},
          {"Constant", constant},
          {"ConstantOfShape", constant_of_shape},
          {"Range", range}};
}

}  // namespace heed_test::onnx
