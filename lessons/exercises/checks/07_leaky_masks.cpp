// 07 leaky_masks: for each of the four, other futures that must not change a bit of the past.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "exercise.hpp"
#include "heed/array/shape.hpp"

using namespace heed;

Tensor mask_from_tril(const Tensor& scores);
Tensor large_number(const Tensor& scores);
Tensor mask_after_softmax(const Tensor& scores);
Tensor one_size_for_all(const Tensor& scores);

namespace {

using Weights = std::function<Tensor(const Tensor&)>;
constexpr std::size_t N = 6, C = 4;

std::string token(std::size_t t) { return "token " + std::to_string(t); }

Array scores_of(const Array& x) {  // (N, C) to (N, N)
  Array W_Q = Generator(1).randn({C, C}), W_K = Generator(2).randn({C, C});
  Array Q = xt::linalg::dot(x, W_Q), K = xt::linalg::dot(x, W_K);
  return xt::linalg::dot(Q, xt::transpose(K));
}

// What each token takes home: its weights, all N of them, times the tokens.
Array attend(const Weights& weights, const Array& x) {
  const Array w = weights(Tensor(scores_of(x))).value();
  Array out = zeros({N, C});
  for (std::size_t t = 0; t < N; ++t)
    for (std::size_t s = 0; s < N; ++s)
      for (std::size_t c = 0; c < C; ++c) out(t, c) += w(t, s) * x(s, c);
  return out;
}

// Nothing when both are the same to the last bit.
std::string change(Real before, Real after) {
  if (std::memcmp(&before, &after, sizeof(Real)) == 0) return "";
  return "before " + scientific(before, 8) + ", after " + scientific(after, 8);
}

// The first of the outputs before s that changes when the tokens from s on do.
std::string changed_past(const Array& before, const Array& after, std::size_t s) {
  for (std::size_t t = 0; t < s; ++t)
    for (std::size_t c = 0; c < C; ++c) {
      const std::string found = change(before(t, c), after(t, c));
      if (!found.empty())
        return token(t) + " when those from " + std::to_string(s) + " on change: " + found;
    }
  return "";
}

// Tokens of the given size; all from s on become others, small or huge.
std::string leak(const Weights& weights, double size) {
  for (std::size_t i = 0; i < 100; ++i) {
    const Array x = Generator(100 + i).normal({N, C}, 0, size), before = attend(weights, x);
    const Array others = Generator(i).normal({N, C}, 0, std::pow(10, i % 7) / 100);
    for (std::size_t s = 1; s < N; ++s) {
      Array changed = x;
      xt::view(changed, xt::range(s, N)) = xt::view(others, xt::range(s, N));
      const std::string found = changed_past(before, attend(weights, changed), s);
      if (!found.empty()) return found;
    }
  }
  return "";
}

// The first weight that changes when all scores of later tokens do.
std::string leak_of_scores(const Weights& weights, Real later) {
  Array scores = Generator(5).normal({N, N}, 0, 2);
  const Array before = weights(Tensor(scores)).value();
  for (std::size_t t = 0; t < N; ++t)
    for (std::size_t s = t + 1; s < N; ++s) scores(t, s) = later;
  const Array after = weights(Tensor(scores)).value();
  for (std::size_t t = 0; t < N; ++t)
    for (std::size_t s = 0; s < N; ++s) {
      const std::string found = change(before(t, s), after(t, s));
      if (!found.empty()) return token(t) + "'s weight for " + token(s) + ": " + found;
    }
  return "";
}

// The first weight of a later token that is not zero; nothing when all are.
std::string future_in(const Array& weights) {
  for (std::size_t t = 0; t < weights.shape(0); ++t)
    for (std::size_t s = t + 1; s < weights.shape(1); ++s)
      if (weights(t, s) != 0)
        return token(t) + " gives " + token(s) + ": expected 0, came " + decimal(weights(t, s), 4);
  return "";
}

std::string odd_row(const Array& weights) {
  for (std::size_t t = 0; t < weights.shape(0); ++t) {
    double sum = 0;
    for (std::size_t s = 0; s < weights.shape(1); ++s) sum += weights(t, s);
    if (!(std::abs(sum - 1) <= 1e-5))
      return "row of " + token(t) + ": expected the sum 1, came " + decimal(sum, 4);
  }
  return "";
}

// Softmax over the past, each row's scores divided by its `size` of them, in double.
Array wanted(const Array& scores, bool by_size) {
  const std::size_t n = scores.shape(0);
  Array weights = zeros({n, n});
  for (std::size_t t = 0; t < n; ++t) {
    double squares = 0, sum = 0;
    for (std::size_t s = 0; s <= t; ++s) squares += double(scores(t, s)) * scores(t, s);
    const double size = by_size ? std::sqrt(squares / double(t + 1)) : 1;
    for (std::size_t s = 0; s <= t; ++s) sum += std::exp(scores(t, s) / size);
    for (std::size_t s = 0; s <= t; ++s) weights(t, s) = Real(std::exp(scores(t, s) / size) / sum);
  }
  return weights;
}

void judge(const std::string& name, const Weights& weights, bool by_size) {
  const Array scores = Generator(4).normal({3, 3}, 0, 2);
  const Array came = weights(Tensor(scores)).value();
  expect(name + ": the weights of three tokens", came, wanted(scores, by_size));
  if (shape_of(came) != shape_of(scores)) return;
  expect(name + ": every row sums to one", odd_row(came).empty(), odd_row(came));
  Array low = filled({3, 3}, by_size ? Real(-1e15) : std::numeric_limits<Real>::lowest());
  const std::string share = future_in(weights(Tensor(low)).value());
  expect(name + ": no share for the future, however low the scores", share.empty(), share);
  for (const double size : {1.0, 300.0}) {
    const std::string found = leak(weights, size);
    expect(name + ": tokens of size " + decimal(size, 0) + " keep every bit", found.empty(), found);
  }
  for (const Real later : {Real(1e20), std::numeric_limits<Real>::infinity()}) {
    const std::string found = leak_of_scores(weights, later);
    expect(name + ": later scores of " + scientific(later, 0) + " change no bit", found.empty(),
           found);
  }
}

}  // namespace

int main() {
  judge("mask_from_tril", mask_from_tril, false);
  judge("large_number", large_number, false);
  judge("mask_after_softmax", mask_after_softmax, false);
  judge("one_size_for_all", one_size_for_all, true);
  return verdict();
}
