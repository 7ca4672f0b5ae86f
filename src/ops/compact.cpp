// compact.cpp: linear maps and embedding lookups with compact weights.

#include "ops/compact.hpp"

#include "heed/array/map.hpp"
#include "heed/autograd/record.hpp"
#include "heed/base/error.hpp"

namespace HEED_NAMESPACE {

static std::string describe(const CompactMatrix& weight) {
  return "weight " + str(Shape{weight.rows(), weight.columns()}) + " in " + weight.type();
}

static void check_no_grad(const char* operation, const CompactMatrix& weight) {
  if (grad_enabled())
    throw_error(operation, ": weights in ", weight.type(),
                " have no gradients; create a NoGrad object first");
}

// Runs forward() as record() runs an operation that needs no gradient, observers included.
template <class Forward>
static Tensor without_grad(std::string_view op, SourceLocation location, const NodeList& inputs,
                           const Forward& forward) {
  const ObservedOperation observed(op, Phase::no_grad);
  Array value = forward();
  observe(&Observer::computed, op, false, location, value, inputs);
  return finish(make_node<Node>(std::move(value)), op, location, {});
}

Tensor linear(In x, const CompactMatrix& weight, In bias) {
  check_no_grad("linear", weight);
  if (x.dim() == 0 || x.shape().back() != weight.columns())
    throw_error("linear: the last size of x must be the weight's second: ", describe(x, "x"), ", ",
                describe(weight));
  if (bias.defined() && bias.shape() != Shape{weight.rows()})
    throw_error("linear: the bias must have the weight's first size: ", describe(weight), ", ",
                describe(bias, "bias"));
  const std::size_t rows = numel(Shape(x.shape().begin(), x.shape().end() - 1));
  Shape shape = x.shape();
  shape.back() = weight.rows();
  return without_grad("Linear", x.call(), {x.node(), bias.node()}, [&] {
    Array y = uninitialized(shape);  // (..., out)
    product_with_transposed(x.value().data(), rows, weight, y.data());
    if (!bias.defined()) return y;
    return map_broadcast([](Real v, Real b) { return v + b; }, y, bias.value(), shape);
  });
}

Tensor embedding(const IndicesIn& indices, const CompactMatrix& weight) {
  check_no_grad("embedding", weight);
  for (const std::int64_t index : indices)
    if (index < 0 || static_cast<std::size_t>(index) >= weight.rows())
      throw_error("embedding: index ", index, " among ", str(shape_of(indices)),
                  " indices is out of range for ", describe(weight));
  Shape shape = shape_of(indices);
  shape.push_back(weight.columns());
  return without_grad("Embedding", indices.call(), {}, [&] {
    Array y = uninitialized(shape);  // (..., C)
    Real* out = y.data();
    for (const std::int64_t index : indices) {
      weight.copy_row(static_cast<std::size_t>(index), out);
      out += weight.columns();
    }
    return y;
  });
}

}  // namespace HEED_NAMESPACE
