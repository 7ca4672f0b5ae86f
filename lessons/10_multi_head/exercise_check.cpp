// Tests exercise 10 several_heads: compares the scores and outputs of each head with loops.

#include "exercise.hpp"
#include "heed/array/shape.hpp"
#include "heed/base/error.hpp"

using namespace heed;

Tensor head_scores(const Tensor& queries, const Tensor& keys);
Tensor head_outputs(const Tensor& weights, const Tensor& values);

struct Sizes {
  std::size_t B, N, M, H, D, E;
};

Array scores_by_hand(const Array& q, const Array& k, const Sizes& n) {
  Array scores = zeros({n.B, n.H, n.N, n.M});
  for (std::size_t b = 0; b < n.B; ++b)
    for (std::size_t h = 0; h < n.H; ++h)
      for (std::size_t t = 0; t < n.N; ++t)
        for (std::size_t s = 0; s < n.M; ++s)
          for (std::size_t d = 0; d < n.D; ++d) scores(b, h, t, s) += q(b, t, h, d) * k(b, s, h, d);
  return scores;
}

Array outputs_by_hand(const Array& weights, const Array& v, const Sizes& n) {
  Array outputs = zeros({n.B, n.N, n.H, n.E});
  for (std::size_t b = 0; b < n.B; ++b)
    for (std::size_t t = 0; t < n.N; ++t)
      for (std::size_t h = 0; h < n.H; ++h)
        for (std::size_t s = 0; s < n.M; ++s)
          for (std::size_t e = 0; e < n.E; ++e)
            outputs(b, t, h, e) += weights(b, h, t, s) * v(b, s, h, e);
  return outputs;
}

// Calls `compute` and compares its result. An error of einsum counts as a wrong result.
template <class Compute>
void check_result(const std::string& what, const Compute& compute, const Array& expected) {
  try {
    const Array result = compute().value();
    if (shape_of(result) != shape_of(expected))
      return expect(
          what, false,
          "expected shape " + str(shape_of(expected)) + ", your shape is " + str(shape_of(result)));
    expect(what, result, expected);
  } catch (const Error& error) {
    expect(what, false, error.what());
  }
}

void check_both(const std::string& sizes, const Sizes& n) {
  Generator g(3);
  const Array q = g.randn({n.B, n.N, n.H, n.D}), k = g.randn({n.B, n.M, n.H, n.D});
  const Array v = g.randn({n.B, n.M, n.H, n.E}), weights = g.randn({n.B, n.H, n.N, n.M});
  const auto scores = [&] {
    return head_scores(Tensor(q).set_name("queries"), Tensor(k).set_name("keys"));
  };
  const auto outputs = [&] {
    return head_outputs(Tensor(weights).set_name("weights"), Tensor(v).set_name("values"));
  };
  check_result("scores, " + sizes, scores, scores_by_hand(q, k, n));
  check_result("outputs, " + sizes, outputs, outputs_by_hand(weights, v, n));
}

int main() {
  check_both("one pair, one head, two positions each", {1, 2, 2, 1, 3, 3});
  check_both("one pair, two heads, three positions each", {1, 3, 3, 2, 2, 2});
  check_both("all sizes different", {2, 4, 5, 3, 6, 7});
  check_both("all sizes two", {2, 2, 2, 2, 2, 2});
  return verdict();
}
