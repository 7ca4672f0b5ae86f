// 02 softmax_rows: shares as in double precision, of small scores, large ones and very low ones.

#include <cmath>

#include "exercise.hpp"
#include "heed/array/shape.hpp"

using namespace heed;

Array softmax_rows(const Array& scores);

namespace {

// One score against another at a time: 1 / share(i, j) = sum_k e^(scores(i, k) - scores(i, j)).
Array wanted(const Array& scores) {
  Array shares = zeros(scores.shape());
  for (std::size_t i = 0; i < scores.shape(0); ++i)
    for (std::size_t j = 0; j < scores.shape(1); ++j) {
      double inverse = 0;
      for (std::size_t k = 0; k < scores.shape(1); ++k)
        inverse += std::exp(double(scores(i, k)) - double(scores(i, j)));
      shares(i, j) = Real(1 / inverse);  // 1 / infinity is 0
    }
  return shares;
}

// The first row whose sum is not one; nothing when all are.
std::string odd_row(const Array& shares) {
  for (std::size_t i = 0; i < shares.shape(0); ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < shares.shape(1); ++j) sum += shares(i, j);
    if (!(std::abs(sum - 1) <= 1e-5))
      return "row " + std::to_string(i) + " sums to " + decimal(sum, 4);
  }
  return "";
}

void judge(const std::string& name, const Array& scores) {
  const Array shares = softmax_rows(scores);
  expect(name + ": the shares", shares, wanted(scores));
  if (shape_of(shares) == shape_of(scores))
    expect(name + ": every row sums to one", odd_row(shares).empty(), odd_row(shares));
}

}  // namespace

int main() {
  Array T = Generator(42).randn({3, 5});
  judge("the scores of lesson 02", xt::linalg::dot(T, xt::transpose(T)));
  judge("two rows of four", Generator(1).normal({2, 4}, 0, 3));
  judge("five rows of two", Generator(2).normal({5, 2}, 0, 3));
  judge("a column", Generator(3).randn({3, 1}));
  judge("scores of 1000", {{1000, 999, 998}, {1000, 1001, 900}});
  judge("scores of -1000", {{-1000, -1001, -1002}, {-1000, -1000, -1000}});
  judge("high and low rows together", {{1000, 1001}, {0, 1}, {-1000, -1001}});
  judge("scores of 20000 and -20000", {{20000, 19999}, {-20000, -19999}});  // too much for any type
  judge("high and low in one row", {{1000, -1000, 1000}, {-1000, 0, -1000}});
  return verdict();
}
