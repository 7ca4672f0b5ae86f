// equation.cpp: parses the equation of an einsum and checks it against the operands.

#include "ops/equation.hpp"

#include <algorithm>
#include <cctype>

#include "heed/base/error.hpp"
#include "heed/base/text.hpp"

namespace HEED_NAMESPACE {

// The arguments of einsum. Error messages contain the arguments in this form: "ij,jk->ik", of
// operand 0 (2, 3), operand 1 (4, 2)
struct EinsumCall {
  std::string_view equation;
  const std::vector<Tensor>& operands;
};

static std::ostream& operator<<(std::ostream& out, const EinsumCall& call) {
  out << '"' << printable(call.equation) << "\", of ";
  for (std::size_t i = 0; i < call.operands.size(); ++i)
    out << (i == 0 ? "" : ", ") << describe(call.operands[i], "operand " + std::to_string(i));
  return out;
}

// The character of the text that begins at byte i.
static std::string character_at(std::string_view text, std::size_t i) {
  std::size_t end = i + 1;
  while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
  return std::string(text.substr(i, end - i));
}

// Parses the labels of one operand or of the result. "..." stands for `ellipsis_axes` axes.
static Labels parse(std::string_view text, std::size_t ellipsis_axes, const EinsumCall& call) {
  Labels labels;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == ' ') continue;
    if (text.substr(i, 3) == "...") {
      if (text.find("...", i + 3) != text.npos)
        throw_error("einsum: \"", printable(text), "\" has ... twice, in ", call);
      for (std::size_t k = ellipsis_axes; k > 0; --k) labels.push_back(-static_cast<int>(k));
      i += 2;
    } else if (std::isalpha(c)) {
      labels.push_back(c);
    } else {
      throw_error("einsum: ", in_quotes(character_at(text, i)),
                  " is not a letter, a comma, -> or ... in ", call);
    }
  }
  return labels;
}

static Labels parse_operand(std::string_view text, const Tensor& x, const EinsumCall& call) {
  const std::size_t letters = parse(text, 0, call).size();
  const bool has_ellipsis = text.find("...") != text.npos;
  if (has_ellipsis ? x.dim() < letters : x.dim() != letters)
    throw_error("einsum: \"", printable(text), "\" names ", letters, " axes, ",
                describe(x, "its operand"), " has ", x.dim(), ", in ", call);
  return parse(text, x.dim() - letters, call);
}

// Without an arrow, the result has the axes of "..." and the letters that appear once, sorted.
static Labels implicit_result(const std::vector<Labels>& operands) {
  std::map<int, int> uses;
  for (const Labels& labels : operands)
    for (const int label : labels) ++uses[label];
  Labels result;
  for (const auto& [label, count] : uses)  // sorted labels: -2, -1 (axes of "..."), 'A' to 'z'
    if (label < 0 || count == 1) result.push_back(label);
  return result;
}

static void check_result(const Equation& parsed, const EinsumCall& call) {
  for (const int label : parsed.result) {
    if (parsed.sizes.count(label) == 0)
      throw_error("einsum: '", static_cast<char>(label), "' after the arrow is in no operand in ",
                  call);
    if (std::count(parsed.result.begin(), parsed.result.end(), label) > 1)
      throw_error("einsum: '", static_cast<char>(label), "' appears twice after the arrow in ",
                  call);
  }
}

// A letter that is repeated in one operand selects a diagonal, which needs axes of equal size.
static void check_diagonals(const Labels& labels, const Shape& shape, const EinsumCall& call) {
  for (std::size_t k = 0; k < labels.size(); ++k) {
    const std::size_t first = index_of(labels, labels[k]);
    if (shape[first] != shape[k])
      throw_error("einsum: sizes ", shape[first], " and ", shape[k],
                  " of a repeated letter differ in ", call);
  }
}

static Sizes sizes_of(const Equation& parsed, const EinsumCall& call) {
  Sizes sizes;
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    check_diagonals(parsed.operands[i], call.operands[i].shape(), call);
    for (std::size_t k = 0; k < parsed.operands[i].size(); ++k) {
      const std::size_t size = call.operands[i].shape()[k];
      std::size_t& known = sizes.emplace(parsed.operands[i][k], size).first->second;
      if (known != size && known != 1 && size != 1)
        throw_error("einsum: sizes ", known, " and ", size, " of one letter differ in ", call);
      if (known == 1) known = size;
    }
  }
  return sizes;
}

Equation parse_equation(std::string_view equation, const std::vector<Tensor>& operands) {
  const EinsumCall call{equation, operands};
  const std::size_t arrow = equation.find("->");
  const std::vector<std::string> parts = heed::split(equation.substr(0, arrow), ',');
  if (parts.size() != operands.size())
    throw_error("einsum: ", parts.size(), " operands are named and ", operands.size(), " given in ",
                call);
  Equation parsed;
  for (std::size_t i = 0; i < parts.size(); ++i)
    parsed.operands.push_back(parse_operand(parts[i], operands[i], call));
  parsed.sizes = sizes_of(parsed, call);
  // If "..." stands for n axes, their labels are -n to -1. `sizes` is sorted by label, so the first
  // label in `sizes` is -n.
  const int least = parsed.sizes.empty() ? 0 : parsed.sizes.begin()->first;
  const auto ellipsis_axes = static_cast<std::size_t>(std::max(0, -least));
  parsed.result = arrow == equation.npos ? implicit_result(parsed.operands)
                                         : parse(equation.substr(arrow + 2), ellipsis_axes, call);
  check_result(parsed, call);
  return parsed;
}

}  // namespace HEED_NAMESPACE
