// Tests exercise 03 softmax_rows: compares it with softmax in double, for small, large and mixed
// scores.

#include <cmath>

#include "exercise.hpp"
#include "heed/array/shape.hpp"

using namespace heed;

Array softmax_rows(const Array& scores);

namespace {

// Uses 1 / weights(i, j) = sum over k of e^(scores(i, k) - scores(i, j)).
Array expected_weights(const Array& scores) {
  Array weights = zeros(scores.shape());
  for (std::size_t i = 0; i < scores.shape(0); ++i)
    for (std::size_t j = 0; j < scores.shape(1); ++j) {
      double inverse = 0;
      for (std::size_t k = 0; k < scores.shape(1); ++k)
        inverse += std::exp(double(scores(i, k)) - double(scores(i, j)));
      weights(i, j) = Real(1 / inverse);  // 1 / infinity is 0
    }
  return weights;
}

// Describes the first row whose sum is not one; "" if there is none.
std::string wrong_row_sum(const Array& weights) {
  for (std::size_t i = 0; i < weights.shape(0); ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < weights.shape(1); ++j) sum += weights(i, j);
    if (!std::isfinite(sum)) return "row " + std::to_string(i) + " has an infinity or a NaN";
    if (!(std::abs(sum - 1) <= 1e-5))
      return "row " + std::to_string(i) + " sums to " + decimal(sum, 4);
  }
  return "";
}

void check_softmax(const std::string& name, const Array& scores) {
  const Array weights = softmax_rows(scores);
  expect(name + ": the weights", weights, expected_weights(scores));
  if (shape_of(weights) == shape_of(scores))
    expect(name + ": each row sums to one", wrong_row_sum(weights).empty(), wrong_row_sum(weights));
}

}  // namespace

int main() {
  Array T = Generator(42).randn({3, 5});
  check_softmax("the scores of lesson 02", xt::linalg::dot(T, xt::transpose(T)));
  check_softmax("two rows of four", Generator(1).normal({2, 4}, 0, 3));
  check_softmax("five rows of two", Generator(2).normal({5, 2}, 0, 3));
  check_softmax("one column", Generator(3).randn({3, 1}));
  check_softmax("scores near 1000", {{1000, 999, 998}, {1000, 1001, 900}});
  check_softmax("scores near -1000", {{-1000, -1001, -1002}, {-1000, -1000, -1000}});
  check_softmax("rows of large and of small scores", {{1000, 1001}, {0, 1}, {-1000, -1001}});
  check_softmax("scores near 20000 and near -20000", {{20000, 19999}, {-20000, -19999}});
  check_softmax("1000 and -1000 in one row", {{1000, -1000, 1000}, {-1000, 0, -1000}});
  check_softmax("20000 and -20000 in one row", {{20000, -20000}});  // too large for a double too
  return verdict();
}
