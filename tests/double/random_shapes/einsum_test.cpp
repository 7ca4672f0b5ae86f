// einsum_test.cpp: gradients of einsum at random equations and shapes.

#include "heed/ops/einsum.hpp"

#include <algorithm>

#include "catch.hpp"
#include "run.hpp"

namespace heed::test {

namespace {

// A random equation of the letters i, j, k, l and "..." (up to two axes). An operand may repeat a
// letter.
struct EquationDraw {
  explicit EquationDraw(Draw& draw) : d(draw) {
    sizes = {d.turn_size(), 1 + d.below(3), 1 + d.below(3), 1 + d.below(2)};
    if (d.below(3) == 0) dots = {1 + d.below(2), 1 + d.below(3)};
    add_operand(d.rank);
    for (std::size_t more = d.below(3); more > 0; --more) add_operand(d.below(4));
    add_result();
  }

  // Adds an operand. The first has the letter i, with the turn's size. Sizes of others may be 1.
  void add_operand(std::size_t rank) {
    const bool first = operands.empty();
    const std::size_t dotted =
        rank == 0 || dots.empty() ? 0 : 1 + d.below(std::min<std::size_t>(rank, 2));
    const Shape own = first ? sizes : d.sometimes_one(sizes);
    std::string letters;
    Shape shape;
    while (letters.size() + dotted < rank) {
      std::size_t letter = first && letters.empty() ? 0 : d.below(4);
      if (numel(shape) * own[letter] > max_elements) letter = 3;
      letters += "ijkl"[letter];
      shape.push_back(own[letter]);
    }
    if (!dots.empty()) put_dots(letters, shape, dotted);
    equation += (first ? "" : ",") + letters;
    operands.push_back(d.values(shape));
  }
  void put_dots(std::string& letters, Shape& shape, std::size_t count) {
    const std::size_t at = d.below(letters.size() + 1);
    letters.insert(at, "...");
    const Shape own = d.sometimes_one(dots);
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(at),
                 own.end() - static_cast<std::ptrdiff_t>(count), own.end());
  }
  void add_result() {
    if (d.below(4) == 0) return;  // no arrow
    std::string result;
    for (const std::size_t letter : d.order(4))
      if (equation.find("ijkl"[letter]) != equation.npos && d.coin()) result += "ijkl"[letter];
    if (!dots.empty() && d.below(4) != 0) result.insert(d.below(result.size() + 1), "...");
    equation += "->" + result;
  }

  Draw& d;
  Shape sizes, dots;
  std::string equation;
  std::vector<Array> operands;
};

Case einsum_case(Draw& d) {
  const EquationDraw drawn(d);
  return {[equation = drawn.equation](X x) { return einsum(equation, x); }, drawn.operands,
          '"' + drawn.equation + '"'};
}

}  // namespace

Rows einsum_rows() { return {{"einsum", 0, 4, einsum_case}}; }

TEST_CASE("the gradients of einsum are right at random equations and shapes",
          "[double][random_shapes][einsum]") {
  check(einsum_rows());
}

}  // namespace heed::test
