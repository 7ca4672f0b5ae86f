// elementwise.cpp: ONNX's elementwise operators as calls of heed.

#include "heed/extra/elementwise.hpp"

#include <cmath>

#include "foreign/onnx/operators.hpp"
#include "heed/extra/comparison.hpp"
#include "heed/heed.hpp"

namespace heed_test::onnx {
namespace {

using heed::Tensor;

Tensor x_of(const Values& inputs, std::size_t i = 0) { return tensor(input(inputs, i)); }

// An operator of one input.
template <Tensor (*function)(heed::In)>
Values unary(const Node&, const Values& inputs) {
  return {value_of(function(x_of(inputs)), inputs[0].type)};
}

// An operator of two inputs, given as f(a, b).
#define HEED_BINARY(name, expression)                   \
  Values name(const Node&, const Values& inputs) {      \
    const Tensor a = x_of(inputs), b = x_of(inputs, 1); \
    return {value_of(expression, inputs[0].type)};      \
  }
HEED_BINARY(add, a + b)
HEED_BINARY(subtract, a - b)
HEED_BINARY(multiply, a* b)
HEED_BINARY(power, heed::pow(a, b))
#undef HEED_BINARY

Values divide(const Node&, const Values& inputs) {
  if (!is_real(inputs[0].type)) throw NotExpressible("integer division");
  return {value_of(x_of(inputs) / x_of(inputs, 1), inputs[0].type)};
}

template <heed::Mask (*function)(heed::In, heed::In)>
Values compare(const Node&, const Values& inputs) {
  return {value_of(function(x_of(inputs), x_of(inputs, 1)))};
}

template <Tensor (*function)(heed::In, heed::In)>
Values of_all(const Node&, const Values& inputs) {
  Tensor result = x_of(inputs);
  for (std::size_t i = 1; i < inputs.size(); ++i) result = function(result, x_of(inputs, i));
  return {value_of(result, inputs[0].type)};
}

Tensor plus(heed::In a, heed::In b) { return a + b; }

Values mean_of_all(const Node& node, const Values& inputs) {
  const Value sum = of_all<plus>(node, inputs)[0];
  return {value_of(tensor(sum) / static_cast<double>(inputs.size()), sum.type)};
}

Values clip(const Node&, const Values& inputs) {
  const double infinity = std::numeric_limits<double>::infinity();
  if (inputs[0].type == Type::int8) throw NotExpressible("integer arrays");
  const double low = has(inputs, 1) ? number(inputs[1]) : -infinity;
  const double high = has(inputs, 2) ? number(inputs[2]) : infinity;
  if (low > high) return {value_of(x_of(inputs) * 0.0 + high, inputs[0].type)};
  return {value_of(heed::clamp(x_of(inputs), low, high), inputs[0].type)};
}

Tensor negative(heed::In x) { return -x; }
Tensor reciprocal(heed::In x) { return 1.0 / x; }
Tensor softplus(heed::In x) { return heed::softplus(x); }
Tensor softsign(heed::In x) { return x / (1.0 + heed::abs(x)); }
Tensor mish(heed::In x) { return x * heed::tanh(heed::softplus(x)); }
Tensor hard_swish(heed::In x) { return x * heed::clamp(x / 6.0 + 0.5, 0, 1); }

Values gelu(const Node& node, const Values& inputs) {
  const bool is_tanh = node.text("approximate", "none") == "tanh";
  return {value_of(heed::gelu(x_of(inputs), is_tanh ? heed::Gelu::tanh : heed::Gelu::erf))};
}

Values leaky_relu(const Node& node, const Values& inputs) {
  return {value_of(heed::leaky_relu(x_of(inputs), node.number("alpha", 0.01)))};
}

Values elu(const Node& node, const Values& inputs) {
  return {value_of(heed::elu(x_of(inputs), node.number("alpha", 1)))};
}

Values selu(const Node& node, const Values& inputs) {
  const double alpha = node.number("alpha", 1.67326319217681884765625);
  return {
      value_of(heed::elu(x_of(inputs), alpha) * node.number("gamma", 1.05070102214813232421875))};
}

Values celu(const Node& node, const Values& inputs) {
  const double alpha = node.number("alpha", 1);
  return {value_of(heed::elu(x_of(inputs) / alpha, 1) * alpha)};
}

Values swish(const Node& node, const Values& inputs) {
  const Tensor x = x_of(inputs);
  return {value_of(x * heed::sigmoid(x * node.number("alpha", 1)))};
}

Values hard_sigmoid(const Node& node, const Values& inputs) {
  const double alpha = node.number("alpha", 0.2), beta = node.number("beta", 0.5);
  return {value_of(heed::clamp(x_of(inputs) * alpha + beta, 0, 1))};
}

Values thresholded_relu(const Node& node, const Values& inputs) {
  const Tensor x = x_of(inputs);
  return {value_of(heed::where(heed::gt(x, node.number("alpha", 1)), x, 0))};
}

Values prelu(const Node&, const Values& inputs) {
  const Tensor x = x_of(inputs);
  return {value_of(heed::where(heed::gt(x, 0), x, x * x_of(inputs, 1)))};
}

Values where(const Node&, const Values& inputs) {
  return {value_of(heed::where(mask(inputs[0]), x_of(inputs, 1), x_of(inputs, 2)), inputs[1].type)};
}

Values logical_not(const Node&, const Values& inputs) {
  return {value_of(heed::Mask(!mask(inputs[0])))};
}
Values logical_and(const Node&, const Values& inputs) {
  return {value_of(heed::Mask(mask(inputs[0]) && mask(inputs[1])))};
}
Values logical_or(const Node&, const Values& inputs) {
  return {value_of(heed::Mask(mask(inputs[0]) || mask(inputs[1])))};
}

// Only casts whose results a graph needs; heed has one real type.
Value cast_to(Value value, Type type) {
  if (type != Type::boolean && !is_real(type))
    for (double& element : value.elements) element = std::trunc(element);
  if (type == Type::boolean)
    for (double& element : value.elements) element = element != 0;
  value.type = type;
  return value;
}

Values cast(const Node& node, const Values& inputs) {
  const int type = node.integer("to", 1);
  for (const Type known : {Type::real, Type::real64, Type::int64, Type::int32, Type::boolean})
    if (type == static_cast<int>(known)) return {cast_to(inputs[0], known)};
  throw NotExpressible("a cast to ONNX's type " + std::to_string(type));
}

Values cast_like(const Node&, const Values& inputs) { return {cast_to(inputs[0], inputs[1].type)}; }

}  // namespace

Operators elementwise_operators() {
  return {{"Add", add},
          {"Sub", subtract},
          {"Mul", multiply},
          {"Div", divide},
          {"Pow", power},
          {"Neg", unary<negative>},
          {"Abs", unary<heed::abs>},
          {"Exp", unary<heed::exp>},
          {"Log", unary<heed::log>},
          {"Sqrt", unary<heed::sqrt>},
          {"Reciprocal", unary<reciprocal>},
          {"Sin", unary<heed::sin>},
          {"Cos", unary<heed::cos>},
          {"Erf", unary<heed::erf>},
          {"Tanh", unary<heed::tanh>},
          {"Sigmoid", unary<heed::sigmoid>},
          {"Relu", unary<heed::relu>},
          {"Softplus", unary<softplus>},
          {"Softsign", unary<softsign>},
          {"Mish", unary<mish>},
          {"HardSwish", unary<hard_swish>},
          {"Gelu", gelu},
          {"LeakyRelu", leaky_relu},
          {"Elu", elu},
          {"Selu", selu},
          {"Celu", celu},
          {"Swish", swish},
          {"HardSigmoid", hard_sigmoid},
          {"ThresholdedRelu", thresholded_relu},
          {"PRelu", prelu},
          {"Clip", clip},
          {"Max", of_all<heed::maximum>},
          {"Min", of_all<heed::minimum>},
          {"Sum", of_all<plus>},
          {"Mean", mean_of_all},
          {"Greater", compare<heed::gt>},
          {"GreaterOrEqual", compare<heed::ge>},
          {"Less", compare<heed::lt>},
          {"LessOrEqual", compare<heed::le>},
          {"Equal", compare<heed::eq>},
          {"Where", where},
          {"Not", logical_not},
          {"And", logical_and},
          {"Or", logical_or},
          {"Cast", cast},
          {"CastLike", cast_like}};
}

}  // namespace heed_test::onnx
