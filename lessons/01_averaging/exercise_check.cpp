// Tests exercise 01 running_mean: the weights are causal, each row sums to one, and the means are
// right.

#include <cmath>

#include "exercise.hpp"
#include "heed/array/shape.hpp"

using namespace heed;

Array running_mean_weights(std::size_t N);

namespace {

std::string row_name(std::size_t t) { return "row " + std::to_string(t); }

// Row t of the result is the mean of rows 0 to t of x, computed with a loop.
Array running_mean(const Array& x) {
  Array means = zeros({x.shape(0), x.shape(1)});
  for (std::size_t c = 0; c < x.shape(1); ++c) {
    double sum = 0;
    for (std::size_t t = 0; t < x.shape(0); ++t) {
      sum += x(t, c);
      means(t, c) = Real(sum / double(t + 1));
    }
  }
  return means;
}

// Describes the first weight of a later position that is not zero; "" if there is none.
std::string future_weight(const Array& weights) {
  for (std::size_t t = 0; t < weights.shape(0); ++t)
    for (std::size_t s = t + 1; s < weights.shape(1); ++s)
      if (weights(t, s) != 0)
        return row_name(t) + " has the weight " + decimal(weights(t, s), 4) +
               " at the later position " + std::to_string(s);
  return "";
}

// Describes the first row whose sum is not one; "" if there is none.
std::string wrong_row_sum(const Array& weights) {
  for (std::size_t t = 0; t < weights.shape(0); ++t) {
    double sum = 0;
    for (std::size_t s = 0; s < weights.shape(1); ++s) sum += weights(t, s);
    if (!(std::abs(sum - 1) <= 1e-5)) return row_name(t) + " sums to " + decimal(sum, 4);
  }
  return "";
}

// Describes the first wrong mean; "" if all are right.
std::string first_difference(const Array& result, const Array& expected) {
  for (std::size_t t = 0; t < result.shape(0); ++t)
    for (std::size_t c = 0; c < result.shape(1); ++c)
      if (!(std::abs(result(t, c) - expected(t, c)) <= 1e-5f))
        return row_name(t) + ", column " + std::to_string(c) + ": expected " +
               decimal(expected(t, c), 4) + ", your result is " + decimal(result(t, c), 4);
  return "";
}

void check_weights(std::size_t N) {
  const std::string tokens = std::to_string(N) + (N == 1 ? " token: " : " tokens: ");
  const Array weights = running_mean_weights(N);
  const Shape shape = shape_of(weights);
  expect(tokens + "the shape of the weights is " + str(Shape{N, N}), shape == Shape{N, N},
         "your shape is " + str(shape));
  if (shape != Shape{N, N}) return;
  expect(tokens + "all weights of later positions are zero", future_weight(weights).empty(),
         future_weight(weights));
  expect(tokens + "every row sums to one", wrong_row_sum(weights).empty(), wrong_row_sum(weights));
  Array x = Generator(N).randn({N, 5}), means = xt::linalg::dot(weights, x);
  const Array expected = running_mean(x);
  const std::string what = tokens + "weights times x = the causal mean of x";
  if (N == 3) return expect(what, means, expected);  // small enough to print
  const std::string difference = first_difference(means, expected);
  expect(what, difference.empty(), difference);
}

}  // namespace

int main() {
  for (const std::size_t N : {3u, 1u, 2u, 100u}) check_weights(N);
  return verdict();
}
