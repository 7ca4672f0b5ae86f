// einsum.cpp: einsum, computed as a chain of batched matrix products.

#include "heed/ops/einsum.hpp"

#include "array/reduce.hpp"
#include "heed/array/strided.hpp"
#include "heed/autograd/record.hpp"
#include "heed/base/error.hpp"
#include "heed/gemm/gemm.hpp"
#include "ops/equation.hpp"

namespace HEED_NAMESPACE {

// An array and the labels of its axes. No label appears twice.
struct Labeled {
  Array values;
  Labels labels;
};

static bool contains(const Labels& labels, int label) {
  return index_of(labels, label) < labels.size();
}

// The elements of `labels` that are in `others` (Keep::common), or are not (Keep::different).
enum class Keep { common, different };
static Labels filtered(const Labels& labels, const Labels& others, Keep keep) {
  Labels result;
  for (const int label : labels)
    if (contains(others, label) == (keep == Keep::common)) result.push_back(label);
  return result;
}

static Labels joined(Labels a, const Labels& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

static Shape shape_for(const Labels& labels, const Sizes& sizes) {
  Shape shape;
  for (const int label : labels) shape.push_back(sizes.at(label));
  return shape;
}

// Returns a view with one axis per label, where axes with equal labels are replaced by their
// diagonal. Writes the labels of the view to `unique`.
static StridedView diagonal_view(const Shape& shape, const Labels& labels, Labels& unique) {
  const Strides own = row_major_strides(shape);
  StridedView view;
  for (std::size_t k = 0; k < labels.size(); ++k) {
    const std::size_t at = index_of(unique, labels[k]);
    if (at == unique.size()) {
      unique.push_back(labels[k]);
      view.shape.push_back(shape[k]);
      view.strides.push_back(0);
    }
    view.strides[at] += own[k];
  }
  return view;
}

// Returns x broadcast to `sizes`, with one axis per label: a repeated label selects the diagonal.
static Labeled labeled(const Array& x, const Labels& labels, const Sizes& sizes) {
  Labels unique;
  const StridedView view = diagonal_view(x.shape(), labels, unique);
  const Shape full = shape_for(unique, sizes);
  if (unique.size() != labels.size()) return {expanded(read_view(x, view), full), unique};
  return {x.shape() == full ? x : expanded(x, full), unique};
}

// Sums x over the axes whose labels are not in `keep`.
static Labeled sum_except(const Labeled& x, const Labels& keep) {
  Axes axes;
  for (std::size_t k = 0; k < x.labels.size(); ++k)
    if (!contains(keep, x.labels[k])) axes.push_back(k);
  if (axes.empty()) return x;
  return {sum_over(x.values, axes, false), filtered(x.labels, keep, Keep::common)};
}

static Array permuted_to(const Labeled& x, const Labels& order) {
  if (order == x.labels) return x.values;
  std::vector<std::size_t> axes;
  for (const int label : order) axes.push_back(index_of(x.labels, label));
  return permuted(x.values, axes);
}

// Multiplies a by b and sums over the labels that are not in `keep`, by a batched matrix product:
// (batch, rows, inner) times (batch, inner, columns).
static Labeled product(const Labeled& operand_a, const Labeled& operand_b, const Labels& keep,
                       const Sizes& sizes) {
  const Labeled a = sum_except(operand_a, joined(keep, operand_b.labels));
  const Labeled b = sum_except(operand_b, joined(keep, a.labels));
  const Labels shared = filtered(a.labels, b.labels, Keep::common);
  const Labels batch = filtered(shared, keep, Keep::common);
  const Labels inner = filtered(shared, keep, Keep::different);
  const Labels rows = filtered(a.labels, b.labels, Keep::different);
  const Labels columns = filtered(b.labels, a.labels, Keep::different);
  const auto count = [&](const Labels& labels) { return numel(shape_for(labels, sizes)); };
  const Shape left{count(batch), count(rows), count(inner)};
  const Shape right{count(batch), count(inner), count(columns)};
  const Labels labels = joined(joined(batch, rows), columns);
  const Shape shape = shape_for(labels, sizes);
  if (count(inner) == 0) return {zeros(shape), labels};
  const Array A = reshaped(permuted_to(a, joined(joined(batch, rows), inner)), left);
  const Array B = reshaped(permuted_to(b, joined(joined(batch, inner), columns)), right);
  return {reshaped(matrix_product(A, Transpose::no, B, Transpose::no), shape), labels};
}

// The product of all factors, summed over the labels that are not in `keep`.
static Labeled product_of(const std::vector<Labeled>& factors, const Labels& keep,
                          const Sizes& sizes) {
  Labeled total = factors[0];
  for (std::size_t i = 1; i < factors.size(); ++i) {
    Labels later = keep;
    for (std::size_t j = i + 1; j < factors.size(); ++j) later = joined(later, factors[j].labels);
    total = product(total, factors[i], later, sizes);
  }
  return sum_except(total, keep);
}

// y = the product of all operands, summed over the letters that are not in the result
struct Einsum {
  static constexpr std::string_view name = "Einsum";
  Array forward(const ArrayList& operands) const {
    std::vector<Labeled> factors;
    for (std::size_t i = 0; i < operands.size(); ++i)
      factors.push_back(labeled(operands[i], equation.operands[i], equation.sizes));
    return permuted_to(product_of(factors, equation.result, equation.sizes), equation.result);
  }
  std::vector<Array> backward(const Array& dy, const Array&, const ArrayList& operands) const {
    std::vector<Array> gradients;
    for (std::size_t i = 0; i < operands.size(); ++i)
      gradients.push_back(gradient_of(i, dy, operands));
    return gradients;
  }
  // The gradient of operand i is an einsum of dy and the other operands. Its axes have the letters
  // of operand i.
  Array gradient_of(std::size_t i, const Array& dy, const ArrayList& operands) const {
    Labels unique;
    const Shape own = operands[i].get().shape();
    const StridedView view = diagonal_view(own, equation.operands[i], unique);
    std::vector<Labeled> factors{{dy, equation.result}};
    for (std::size_t j = 0; j < operands.size(); ++j)
      if (j != i) factors.push_back(labeled(operands[j], equation.operands[j], equation.sizes));
    const Labeled part = product_of(factors, unique, equation.sizes);
    const Array full = repeated(part, unique);  // broadcast along the axes that only operand i has
    if (unique.size() == own.size()) return sum_to(full, own);
    Array gradient = zeros(own);
    add_to_view(gradient, view, sum_to(full, view.shape));
    return gradient;
  }
  Array repeated(const Labeled& part, const Labels& labels) const {
    const Labels present = filtered(labels, part.labels, Keep::common);
    Sizes sizes = equation.sizes;
    for (const int label : labels)
      if (!contains(present, label)) sizes[label] = 1;
    return expanded(reshaped(permuted_to(part, present), shape_for(labels, sizes)),
                    shape_for(labels, equation.sizes));
  }
  Equation equation;
};

Tensor einsum(std::string_view equation, InList operands) {
  if (operands.empty()) throw_error("einsum: needs at least one operand");
  return record_list(Einsum{parse_equation(equation, operands)}, operands);
}

}  // namespace HEED_NAMESPACE
