// einsum.cpp: any sum of products, done as a chain of matrix products.

#include "heed/ops/einsum.hpp"

#include <algorithm>
#include <cctype>
#include <map>

#include "heed/array/matmul.hpp"
#include "heed/array/reduce.hpp"
#include "heed/array/strided.hpp"
#include "heed/autograd/record.hpp"
#include "heed/base/error.hpp"

namespace heed {

// The axes of an operand by letter. Those behind "..." are numbered from the right: -1, -2, ...
using Labels = std::vector<int>;
using Sizes = std::map<int, std::size_t>;

struct Equation {
  std::vector<Labels> operands;
  Labels result;
  Sizes sizes;  // of every label
};

// An array with its axes named, each once.
struct Labeled {
  Array values;
  Labels labels;
};

static bool has(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

static Labels only(const Labels& labels, const Labels& in, bool present) {
  Labels result;
  for (const int label : labels)
    if (has(in, label) == present) result.push_back(label);
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

// ---- from the equation's text to labels

// "ij,jk->ik", of operand 0 (2, 3), operand 1 (4, 2)
struct Question {
  std::string_view equation;
  const std::vector<Tensor>& operands;
};

static std::ostream& operator<<(std::ostream& out, const Question& asked) {
  out << '"' << asked.equation << "\", of ";
  for (std::size_t i = 0; i < asked.operands.size(); ++i)
    out << (i == 0 ? "" : ", ") << describe(asked.operands[i], "operand " + std::to_string(i));
  return out;
}

static Labels parse(std::string_view text, std::size_t dots, const Question& asked) {
  Labels labels;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == ' ') continue;
    if (text.substr(i, 3) == "...") {
      if (text.find("...", i + 3) != text.npos)
        throw_error("einsum: \"", text, "\" has ... twice, in ", asked);
      for (std::size_t k = dots; k > 0; --k) labels.push_back(-static_cast<int>(k));
      i += 2;
    } else if (std::isalpha(c)) {
      labels.push_back(c);
    } else {
      throw_error("einsum: '", text[i], "' is not a letter, a comma, -> or ... in ", asked);
    }
  }
  return labels;
}

static std::vector<std::string_view> comma_separated(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t comma; (comma = text.find(',')) != text.npos; text.remove_prefix(comma + 1))
    parts.push_back(text.substr(0, comma));
  parts.push_back(text);
  return parts;
}

static Labels parse_operand(std::string_view text, const Tensor& x, const Question& asked) {
  const std::size_t letters = parse(text, 0, asked).size();
  const bool dots = text.find("...") != text.npos;
  if (dots ? x.dim() < letters : x.dim() != letters)
    throw_error("einsum: \"", text, "\" names ", letters, " axes, ", describe(x, "its operand"),
                " has ", x.dim(), ", in ", asked);
  return parse(text, x.dim() - letters, asked);
}

// Without an arrow: what "..." stands for, then the letters that appear once, sorted.
static Labels implicit_result(const std::vector<Labels>& operands) {
  std::map<int, int> uses;
  for (const Labels& labels : operands)
    for (const int label : labels) ++uses[label];
  Labels result;
  for (const auto& [label, count] : uses)  // sorted: -2, -1, 'A', ..., 'z'
    if (label < 0 || count == 1) result.push_back(label);
  return result;
}

static void check_result(const Equation& parsed, const Question& asked) {
  for (const int label : parsed.result) {
    if (parsed.sizes.count(label) == 0)
      throw_error("einsum: '", static_cast<char>(label), "' after the arrow is in no operand in ",
                  asked);
    if (std::count(parsed.result.begin(), parsed.result.end(), label) > 1)
      throw_error("einsum: '", static_cast<char>(label), "' appears twice after the arrow in ",
                  asked);
  }
}

// A letter twice in one operand is a diagonal, which only equal sizes have.
static void check_diagonals(const Labels& labels, const Shape& shape, const Question& asked) {
  for (std::size_t k = 0; k < labels.size(); ++k) {
    const auto first = static_cast<std::size_t>(std::find(labels.begin(), labels.end(), labels[k]) -
                                                labels.begin());
    if (shape[first] != shape[k])
      throw_error("einsum: sizes ", shape[first], " and ", shape[k], " have no diagonal in ",
                  asked);
  }
}

static Sizes sizes_of(const Equation& parsed, const Question& asked) {
  Sizes sizes;
  for (std::size_t i = 0; i < asked.operands.size(); ++i) {
    check_diagonals(parsed.operands[i], asked.operands[i].shape(), asked);
    for (std::size_t k = 0; k < parsed.operands[i].size(); ++k) {
      const std::size_t size = asked.operands[i].shape()[k];
      std::size_t& known = sizes.emplace(parsed.operands[i][k], size).first->second;
      if (known != size && known != 1 && size != 1)
        throw_error("einsum: sizes ", known, " and ", size, " of one letter differ in ", asked);
      if (known == 1) known = size;
    }
  }
  return sizes;
}

static Equation parse_equation(std::string_view equation, const std::vector<Tensor>& operands) {
  const Question asked{equation, operands};
  const std::size_t arrow = equation.find("->");
  const auto parts = comma_separated(equation.substr(0, arrow));
  if (parts.size() != operands.size())
    throw_error("einsum: ", parts.size(), " operands are named and ", operands.size(), " given in ",
                asked);
  Equation parsed;
  std::size_t dots = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    parsed.operands.push_back(parse_operand(parts[i], operands[i], asked));
    for (const int label : parsed.operands[i])
      if (label < 0) dots = std::max(dots, static_cast<std::size_t>(-label));
  }
  parsed.sizes = sizes_of(parsed, asked);
  parsed.result = arrow == equation.npos ? implicit_result(parsed.operands)
                                         : parse(equation.substr(arrow + 2), dots, asked);
  check_result(parsed, asked);
  return parsed;
}

// ---- sums of products of labelled arrays

// The window on x that shows its diagonal along repeated labels, each label once.
static StridedView diagonal_window(const Shape& shape, const Labels& labels, Labels& unique) {
  const Strides own = row_major_strides(shape);
  StridedView window;
  for (std::size_t k = 0; k < labels.size(); ++k) {
    const auto at = static_cast<std::size_t>(std::find(unique.begin(), unique.end(), labels[k]) -
                                             unique.begin());
    if (at < unique.size()) {
      window.strides[at] += own[k];
      window.shape[at] = std::max(window.shape[at], shape[k]);
      continue;
    }
    unique.push_back(labels[k]);
    window.shape.push_back(shape[k]);
    window.strides.push_back(own[k]);
  }
  return window;
}

// x with its labels, each once, expanded to the sizes they have elsewhere.
static Labeled labeled(const Array& x, const Labels& labels, const Sizes& sizes) {
  Labels unique;
  const StridedView window = diagonal_window(x.shape(), labels, unique);
  const Shape full = shape_for(unique, sizes);
  if (unique.size() != labels.size()) return {expanded(read_view(x, window), full), unique};
  return {x.shape() == full ? x : expanded(x, full), unique};
}

static Labeled summed(const Labeled& x, const Labels& keep) {
  Axes axes;
  for (std::size_t k = 0; k < x.labels.size(); ++k)
    if (!has(keep, x.labels[k])) axes.push_back(k);
  if (axes.empty()) return x;
  return {sum_over(x.values, axes, false), only(x.labels, keep, true)};
}

static Array arranged(const Labeled& x, const Labels& order) {
  if (order == x.labels) return x.values;
  std::vector<std::size_t> axes;
  for (const int label : order)
    axes.push_back(static_cast<std::size_t>(std::find(x.labels.begin(), x.labels.end(), label) -
                                            x.labels.begin()));
  return permuted(x.values, axes);
}

// sum over the labels that are not in `keep` of a b: as (batch, m, k) times (batch, k, n).
static Labeled product(const Labeled& whole_a, const Labeled& whole_b, const Labels& keep,
                       const Sizes& sizes) {
  const Labeled a = summed(whole_a, joined(keep, whole_b.labels));
  const Labeled b = summed(whole_b, joined(keep, a.labels));
  const Labels shared = only(a.labels, b.labels, true);
  const Labels batch = only(shared, keep, true), inner = only(shared, keep, false);
  const Labels rows = only(a.labels, b.labels, false), columns = only(b.labels, a.labels, false);
  const auto count = [&](const Labels& labels) { return numel(shape_for(labels, sizes)); };
  const Shape left{count(batch), count(rows), count(inner)};
  const Shape right{count(batch), count(inner), count(columns)};
  const Labels labels = joined(joined(batch, rows), columns);
  Array c =
      count(inner) == 0
          ? zeros(shape_for(labels, sizes))
          : matrix_product(
                reshaped(arranged(a, joined(joined(batch, rows), inner)), left), Transpose::no,
                reshaped(arranged(b, joined(joined(batch, inner), columns)), right), Transpose::no);
  return {reshaped(std::move(c), shape_for(labels, sizes)), labels};
}

// The product of all factors, summed over what is not in `keep`; its labels are among `keep`.
static Labeled product_of(const std::vector<Labeled>& factors, const Labels& keep,
                          const Sizes& sizes) {
  Labeled total = factors[0];
  for (std::size_t i = 1; i < factors.size(); ++i) {
    Labels later = keep;
    for (std::size_t j = i + 1; j < factors.size(); ++j) later = joined(later, factors[j].labels);
    total = product(total, factors[i], later, sizes);
  }
  return summed(total, keep);
}

// y = sum over the letters not in the result of the product of all operands
struct Einsum {
  static constexpr std::string_view name = "Einsum";
  Array forward(const ArrayList& operands) const {
    std::vector<Labeled> factors;
    for (std::size_t i = 0; i < operands.size(); ++i)
      factors.push_back(labeled(operands[i], equation.operands[i], equation.sizes));
    return arranged(product_of(factors, equation.result, equation.sizes), equation.result);
  }
  std::vector<Array> backward(const Array& dy, const Array&, const ArrayList& operands) const {
    std::vector<Array> gradients;
    for (std::size_t i = 0; i < operands.size(); ++i)
      gradients.push_back(gradient_of(i, dy, operands));
    return gradients;
  }
  // d operand = the einsum of dy and all other operands, with that operand's letters as the result
  Array gradient_of(std::size_t i, const Array& dy, const ArrayList& operands) const {
    Labels unique;
    const Shape own = operands[i].get().shape();
    const StridedView window = diagonal_window(own, equation.operands[i], unique);
    std::vector<Labeled> factors{{dy, equation.result}};
    for (std::size_t j = 0; j < operands.size(); ++j)
      if (j != i) factors.push_back(labeled(operands[j], equation.operands[j], equation.sizes));
    const Labeled part = product_of(factors, unique, equation.sizes);
    const Array full = repeated(part, unique);  // letters that were only summed get dy everywhere
    if (unique.size() == own.size()) return sum_to(full, own);
    Array gradient = zeros(own);
    add_to_view(gradient, window, sum_to(full, window.shape));
    return gradient;
  }
  Array repeated(const Labeled& part, const Labels& labels) const {
    const Labels have = only(labels, part.labels, true);
    Sizes sizes = equation.sizes;
    for (const int label : labels)
      if (!has(have, label)) sizes[label] = 1;
    return expanded(reshaped(arranged(part, have), shape_for(labels, sizes)),
                    shape_for(labels, equation.sizes));
  }
  Equation equation;
};

Tensor einsum(std::string_view equation, const std::vector<Tensor>& operands,
              SourceLocation location) {
  if (operands.empty()) throw_error("einsum: needs at least one operand");
  return record_list(Einsum{parse_equation(equation, operands)}, location, operands);
}

}  // namespace heed
