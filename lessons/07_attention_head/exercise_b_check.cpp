// Tests exercise 07b cross_entropy_backward: compares it with finite differences in double, for
// small and large logits and several sizes.

#include <algorithm>
#include <cmath>

#include "exercise.hpp"
#include "heed/array/shape.hpp"

using namespace heed;

Array cross_entropy_backward(const Array& logits, const Indices& targets);

namespace {

using Doubles = xt::xarray<double>;

double mean_cross_entropy(const Doubles& logits, const Indices& targets) {
  double total = 0;
  for (std::size_t i = 0; i < logits.shape(0); ++i) {
    double maximum = logits(i, 0), sum = 0;
    for (std::size_t j = 0; j < logits.shape(1); ++j) maximum = std::max(maximum, logits(i, j));
    for (std::size_t j = 0; j < logits.shape(1); ++j) sum += std::exp(logits(i, j) - maximum);
    total += maximum - logits(i, std::size_t(targets(i))) + std::log(sum);
  }
  return total / double(logits.shape(0));
}

Array finite_differences(const Array& logits, const Indices& targets) {
  const double h = 1e-4;
  Array gradient = zeros(logits.shape());
  for (std::size_t n = 0; n < logits.size(); ++n) {
    Doubles above = logits, below = logits;
    above.data()[n] += h;
    below.data()[n] -= h;
    const double change = mean_cross_entropy(above, targets) - mean_cross_entropy(below, targets);
    gradient.data()[n] = Real(change / (2 * h));
  }
  return gradient;
}

void judge(const std::string& what, const Array& logits, const Indices& targets) {
  expect(what, cross_entropy_backward(logits, targets), finite_differences(logits, targets), 2e-6);
}

void judge_random(std::size_t N, std::size_t V, Generator& g) {
  const Array logits = g.normal({N, V}, 0, 2);
  judge("N = " + std::to_string(N) + ", V = " + std::to_string(V), logits,
        g.randint(0, std::int64_t(V), {N}));
}

void judge_sums(Generator& g) {
  const Array logits = g.normal({6, 9}, 0, 30);
  const Array gradient = cross_entropy_backward(logits, g.randint(0, 9, {6}));
  const bool same_shape = shape_of(gradient) == shape_of(logits);
  expect("each row of the gradient sums to zero",
         same_shape ? Array(xt::sum(gradient, {1})) : gradient, zeros({6}), 1e-6);
}

}  // namespace

int main() {
  Generator g(10);
  judge_random(3, 4, g);
  judge_random(1, 5, g);
  judge_random(7, 2, g);
  judge_random(2, 11, g);
  judge("all targets are the same token", g.randn({4, 3}), {2, 2, 2, 2});
  judge("V = 1", g.randn({3, 1}), {0, 0, 0});
  judge("equal logits", zeros({2, 4}), {3, 0});
  judge("logits near 1000", {{1000, 999, 1001}, {1002, 1000, 1000}}, {1, 0});
  judge("logits near -1000", {{-1000, -999, -1001}, {-1002, -1000, -1000}}, {0, 2});
  judge("one row near 1000, one near -1000", {{1000, 1001}, {-1000, -999}, {0, 1}}, {0, 1, 1});
  judge("20000 and -20000 in one row, the target is unlikely", {{20000, -20000, 0}}, {1});
  judge("20000 and -20000 in one row, the target is likely", {{20000, -20000, 0}}, {0});
  judge_sums(g);
  return verdict();
}
