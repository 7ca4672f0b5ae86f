// 01 running_mean: nothing from the future, shares that sum to one, and the means of a loop.

#include <cmath>

#include "exercise.hpp"
#include "heed/array/shape.hpp"

using namespace heed;

Array running_mean_weights(std::size_t N);

namespace {

std::string token(std::size_t t) { return "token " + std::to_string(t); }

// Row t: the mean of x's rows 0 to t, added up one token at a time.
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

// The first token that listens to a later one; nothing when none does.
std::string future_in(const Array& weights) {
  for (std::size_t t = 0; t < weights.shape(0); ++t)
    for (std::size_t s = t + 1; s < weights.shape(1); ++s)
      if (weights(t, s) != 0)
        return token(t) + " gives " + decimal(weights(t, s), 4) + " to " + token(s);
  return "";
}

// The first row whose sum is not one; nothing when all are.
std::string odd_row(const Array& weights) {
  for (std::size_t t = 0; t < weights.shape(0); ++t) {
    double sum = 0;
    for (std::size_t s = 0; s < weights.shape(1); ++s) sum += weights(t, s);
    if (!(std::abs(sum - 1) <= 1e-5))
      return "the row of " + token(t) + " sums to " + decimal(sum, 4);
  }
  return "";
}

// The first mean that is off; nothing when all are right.
std::string difference(const Array& came, const Array& expected) {
  for (std::size_t t = 0; t < came.shape(0); ++t)
    for (std::size_t c = 0; c < came.shape(1); ++c)
      if (!(std::abs(came(t, c) - expected(t, c)) <= 1e-5f))
        return token(t) + ": expected " + decimal(expected(t, c), 4) + ", came " +
               decimal(came(t, c), 4);
  return "";
}

void judge(std::size_t N) {
  const std::string of = std::to_string(N) + (N == 1 ? " token: " : " tokens: ");
  const Array weights = running_mean_weights(N);
  const Shape shape = shape_of(weights);
  expect(of + "the weights are " + str(Shape{N, N}), shape == Shape{N, N},
         "they are " + str(shape));
  if (shape != Shape{N, N}) return;
  expect(of + "nobody listens to the future", future_in(weights).empty(), future_in(weights));
  expect(of + "every row sums to one", odd_row(weights).empty(), odd_row(weights));
  Array x = Generator(N).randn({N, 5}), means = xt::linalg::dot(weights, x);
  const Array expected = running_mean(x);
  const std::string what = of + "weights times x = the running mean";
  if (N == 3) return expect(what, means, expected);  // small enough to be shown
  expect(what, difference(means, expected).empty(), difference(means, expected));
}

}  // namespace

int main() {
  for (const std::size_t N : {3u, 1u, 2u, 100u}) judge(N);
  return verdict();
}
