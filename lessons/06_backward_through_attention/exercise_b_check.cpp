// Tests exercise 06b dq_and_dk: compares dQ and dK with finite differences in double, for several
// sizes and scales, masked keys, and attention weights of 0 and 1.

#include <algorithm>
#include <cmath>

#include "exercise.hpp"
#include "heed/array/shape.hpp"
#include "heed/ops/mask.hpp"

using namespace heed;

std::vector<Array> query_and_key_gradients(const Array& Q, const Array& K, const Array& V,
                                           const Array& A, double scale, const Array& dO);

namespace {

using Doubles = xt::xarray<double>;

struct Sizes {
  std::size_t B, T, S, d_k, d_v;
};

struct Problem {
  Array Q, K, V, dO;
  Mask mask;  // (T, S): true where the key is masked
  double scale;
};

// The attention weights of query t of sentence b, over the keys that are not masked.
std::vector<double> weights_of(std::size_t b, std::size_t t, const Doubles& Q, const Doubles& K,
                               const Problem& p) {
  std::vector<double> weights(K.shape(1), 0);
  double maximum = -INFINITY, sum = 0;
  for (std::size_t s = 0; s < weights.size(); ++s) {
    for (std::size_t i = 0; i < Q.shape(2); ++i) weights[s] += p.scale * Q(b, t, i) * K(b, s, i);
    if (!p.mask(t, s)) maximum = std::max(maximum, weights[s]);
  }
  for (std::size_t s = 0; s < weights.size(); ++s) {
    weights[s] = p.mask(t, s) ? 0 : std::exp(weights[s] - maximum);
    sum += weights[s];
  }
  for (double& weight : weights) weight /= sum > 0 ? sum : 1;
  return weights;
}

Array attention_weights_of(const Problem& p) {
  Array A = zeros({p.Q.shape(0), p.Q.shape(1), p.K.shape(1)});
  for (std::size_t b = 0; b < A.shape(0); ++b)
    for (std::size_t t = 0; t < A.shape(1); ++t) {
      const std::vector<double> weights = weights_of(b, t, p.Q, p.K, p);
      for (std::size_t s = 0; s < A.shape(2); ++s) A(b, t, s) = Real(weights[s]);
    }
  return A;
}

// The sum of all outputs times the upstream gradient. Its gradient with respect to O is dO.
double loss(const Doubles& Q, const Doubles& K, const Problem& p) {
  double sum = 0;
  for (std::size_t b = 0; b < Q.shape(0); ++b)
    for (std::size_t t = 0; t < Q.shape(1); ++t) {
      const std::vector<double> weights = weights_of(b, t, Q, K, p);
      for (std::size_t s = 0; s < weights.size(); ++s)
        for (std::size_t i = 0; i < p.V.shape(2); ++i)
          sum += weights[s] * p.V(b, s, i) * p.dO(b, t, i);
    }
  return sum;
}

// The gradient of the loss with respect to Q, or to K, by central differences.
Array finite_differences(const Problem& p, bool by_query) {
  const double h = 1e-5;
  const Doubles x = by_query ? p.Q : p.K;
  Array gradient = zeros(by_query ? p.Q.shape() : p.K.shape());
  for (std::size_t n = 0; n < x.size(); ++n) {
    Doubles above = x, below = x;
    above.data()[n] += h;
    below.data()[n] -= h;
    const double difference = by_query ? loss(above, p.K, p) - loss(below, p.K, p)
                                       : loss(p.Q, above, p) - loss(p.Q, below, p);
    gradient.data()[n] = Real(difference / (2 * h));
  }
  return gradient;
}

// Compares the gradients sentence by sentence, so that they are matrices.
void compare(const std::string& what, const Array& got, const Array& expected, double tolerance) {
  if (shape_of(got) != shape_of(expected)) return expect(what, got, expected);
  for (std::size_t b = 0; b < expected.shape(0); ++b)
    expect(what + " of sentence " + std::to_string(b), Array(xt::view(got, b)),
           Array(xt::view(expected, b)), tolerance);
}

Problem random_problem(std::uint64_t seed, const Sizes& n, double scale) {
  Generator g(seed);
  Mask mask = future_mask(n.T, n.S);
  mask.fill(false);
  return {g.randn({n.B, n.T, n.d_k}),
          g.randn({n.B, n.S, n.d_k}),
          g.randn({n.B, n.S, n.d_v}),
          g.randn({n.B, n.T, n.d_v}),
          mask,
          scale};
}

void judge(const std::string& what, const Problem& p, double tolerance = 2e-5) {
  const std::vector<Array> got =
      query_and_key_gradients(p.Q, p.K, p.V, attention_weights_of(p), p.scale, p.dO);
  if (got.size() != 2)
    return expect(what + ": dQ and dK", false, "arrays: " + std::to_string(got.size()));
  compare(what + ": dQ", got[0], finite_differences(p, true), tolerance);
  compare(what + ": dK", got[1], finite_differences(p, false), tolerance);
}

}  // namespace

int main() {
  judge("3 queries, 5 keys", random_problem(1, {1, 3, 5, 2, 4}, 1 / std::sqrt(2.0)));
  judge("scale 0.3", random_problem(2, {2, 4, 2, 5, 3}, 0.3));
  judge("scale 2", random_problem(3, {1, 2, 3, 1, 6}, 2));

  Problem causal = random_problem(4, {3, 4, 4, 5, 2}, 1 / std::sqrt(5.0));
  causal.mask = future_mask(4);
  judge("causal", causal);

  Problem masked = random_problem(5, {2, 3, 4, 2, 5}, 0.7);
  for (std::size_t s = 0; s < 4; ++s) masked.mask(1, s) = true;
  judge("query 1 without a key", masked);

  Problem saturated = random_problem(6, {1, 3, 4, 2, 3}, 1);
  saturated.Q *= Real(300);
  judge("attention weights of 0 and 1", saturated, 1e-3);
  judge("a single query and key", random_problem(7, {2, 1, 1, 3, 2}, 1));
  return verdict();
}
