// Tests exercise 08 leaky_masks: changes later tokens and scores, and compares earlier outputs bit
// by bit.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "exercise.hpp"
#include "heed/array/shape.hpp"

using namespace heed;

Tensor mask_from_tril(const Tensor& scores);
Tensor filled_scores(const Tensor& scores);
Tensor softmax_by_hand(const Tensor& scores);
Tensor normalized_scores(const Tensor& scores);

namespace {

using Weights = std::function<Tensor(const Tensor&)>;
constexpr std::size_t N = 6, C = 4;

std::string position(std::size_t t) { return "position " + std::to_string(t); }

Array scores_of(const Array& x) {  // (N, C) to (N, N)
  Array W_Q = Generator(1).randn({C, C}), W_K = Generator(2).randn({C, C});
  Array Q = xt::linalg::dot(x, W_Q), K = xt::linalg::dot(x, W_K);
  return xt::linalg::dot(Q, xt::transpose(K));
}

// The weighted sum of all N token vectors, also of later ones.
Array attend(const Weights& weights, const Array& x) {
  const Array w = weights(Tensor(scores_of(x))).value();
  Array out = zeros({N, C});
  for (std::size_t t = 0; t < N; ++t)
    for (std::size_t s = 0; s < N; ++s)
      for (std::size_t c = 0; c < C; ++c) out(t, c) += w(t, s) * x(s, c);
  return out;
}

// "" if both numbers have the same bits.
std::string change(Real before, Real after) {
  if (std::memcmp(&before, &after, sizeof(Real)) == 0) return "";
  return "before " + scientific(before, 8) + ", after " + scientific(after, 8);
}

// Describes the first output before position s that differs; "" if there is none.
std::string changed_output(const Array& before, const Array& after, std::size_t s) {
  for (std::size_t t = 0; t < s; ++t)
    for (std::size_t c = 0; c < C; ++c) {
      const std::string found = change(before(t, c), after(t, c));
      if (!found.empty())
        return "the output at " + position(t) + " changes when the tokens from " +
               std::to_string(s) + " on change: " + found;
    }
  return "";
}

// Random tokens of this standard deviation. Small or huge vectors replace all tokens from s on.
std::string leak(const Weights& weights, double deviation) {
  for (std::size_t i = 0; i < 100; ++i) {
    const Array x = Generator(100 + i).normal({N, C}, 0, deviation), before = attend(weights, x);
    const Array others = Generator(i).normal({N, C}, 0, std::pow(10, i % 7) / 100);
    for (std::size_t s = 1; s < N; ++s) {
      Array changed = x;
      xt::view(changed, xt::range(s, N)) = xt::view(others, xt::range(s, N));
      const std::string found = changed_output(before, attend(weights, changed), s);
      if (!found.empty()) return found;
    }
  }
  return "";
}

// Describes the first weight that changes when the scores of all later keys become `later`; "" if
// there is none.
std::string leak_of_scores(const Weights& weights, Real later) {
  Array scores = Generator(5).normal({N, N}, 0, 2);
  const Array before = weights(Tensor(scores)).value();
  for (std::size_t t = 0; t < N; ++t)
    for (std::size_t s = t + 1; s < N; ++s) scores(t, s) = later;
  const Array after = weights(Tensor(scores)).value();
  for (std::size_t t = 0; t < N; ++t)
    for (std::size_t s = 0; s < N; ++s) {
      const std::string found = change(before(t, s), after(t, s));
      if (!found.empty()) return "query " + position(t) + ", key " + position(s) + ": " + found;
    }
  return "";
}

// Describes the first weight of a later key that is not zero; "" if there is none.
std::string later_weight(const Array& weights) {
  for (std::size_t t = 0; t < weights.shape(0); ++t)
    for (std::size_t s = t + 1; s < weights.shape(1); ++s)
      if (weights(t, s) != 0)
        return "query " + position(t) + ", key " + position(s) + ": expected 0, got " +
               decimal(weights(t, s), 4);
  return "";
}

std::string wrong_row_sum(const Array& weights) {
  for (std::size_t t = 0; t < weights.shape(0); ++t) {
    double sum = 0;
    for (std::size_t s = 0; s < weights.shape(1); ++s) sum += weights(t, s);
    if (!(std::abs(sum - 1) <= 1e-5))
      return "row " + std::to_string(t) + ": expected the sum 1, got " + decimal(sum, 4);
  }
  return "";
}

// Softmax over the keys 0 to t, in double. If `normalized`, the scores are first divided by their
// root mean square. 1 / weight(s) is the sum of exp(score(r) - score(s)) over the keys r.
Array expected_weights(const Array& scores, bool normalized) {
  const std::size_t n = scores.shape(0);
  Array weights = zeros({n, n});
  for (std::size_t t = 0; t < n; ++t) {
    double squares = 0;
    for (std::size_t s = 0; s <= t; ++s) squares += double(scores(t, s)) * scores(t, s);
    const double size = normalized ? std::sqrt(squares / double(t + 1)) : 1;
    for (std::size_t s = 0; s <= t; ++s) {
      double inverse = 0;
      for (std::size_t r = 0; r <= t; ++r)
        inverse += std::exp((double(scores(t, r)) - scores(t, s)) / size);
      weights(t, s) = Real(1 / inverse);
    }
  }
  return weights;
}

void judge(const std::string& name, const Weights& weights, bool normalized) {
  const Array scores = Generator(4).normal({3, 3}, 0, 2);
  const Array got = weights(Tensor(scores)).value();
  expect(name + ": the weights of three tokens", got, expected_weights(scores, normalized));
  if (shape_of(got) != shape_of(scores)) return;
  const Array large = Generator(6).normal({5, 5}, 0, 300);  // exp(300) is infinite in a float
  expect(name + ": the weights of scores in the hundreds", weights(Tensor(large)).value(),
         expected_weights(large, normalized));
  const std::string row = wrong_row_sum(got);
  expect(name + ": every row sums to one", row.empty(), row);
  Array low = filled({3, 3}, normalized ? Real(-1e15) : std::numeric_limits<Real>::lowest());
  const std::string later = later_weight(weights(Tensor(low)).value());
  expect(name + ": later keys have weight 0, however low the scores", later.empty(), later);
  for (const double deviation : {1.0, 300.0}) {
    const std::string found = leak(weights, deviation);
    expect(name + ": later tokens change no bit, tokens of size " + decimal(deviation, 0),
           found.empty(), found);
  }
  for (const Real score : {Real(1e20), std::numeric_limits<Real>::infinity()}) {
    const std::string found = leak_of_scores(weights, score);
    expect(name + ": later scores of " + scientific(score, 0) + " change no bit", found.empty(),
           found);
  }
}

}  // namespace

int main() {
  judge("mask_from_tril", mask_from_tril, false);
  judge("filled_scores", filled_scores, false);
  judge("softmax_by_hand", softmax_by_hand, false);
  judge("normalized_scores", normalized_scores, true);
  return verdict();
}
