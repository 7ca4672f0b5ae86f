// 03 several_heads: scores and mixtures of every text and every head, against loops.

#include "exercise.hpp"
#include "heed/array/shape.hpp"
#include "heed/base/error.hpp"

using namespace heed;

Tensor head_scores(const Tensor& queries, const Tensor& keys);
Tensor head_mixtures(const Tensor& weights, const Tensor& values);

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

Array mixtures_by_hand(const Array& weights, const Array& v, const Sizes& n) {
  Array mixtures = zeros({n.B, n.N, n.H, n.E});
  for (std::size_t b = 0; b < n.B; ++b)
    for (std::size_t t = 0; t < n.N; ++t)
      for (std::size_t h = 0; h < n.H; ++h)
        for (std::size_t s = 0; s < n.M; ++s)
          for (std::size_t e = 0; e < n.E; ++e)
            mixtures(b, t, h, e) += weights(b, h, t, s) * v(b, s, h, e);
  return mixtures;
}

// Asks for the answer, which einsum may refuse, and shows how far off it is.
template <class Answer>
void judge(const std::string& what, const Answer& answer, const Array& expected) {
  try {
    const Array came = answer().value();
    if (shape_of(came) != shape_of(expected))
      return expect(what, false,
                    "expected shape " + str(shape_of(expected)) + ", came " + str(shape_of(came)));
    expect(what, came, expected);
  } catch (const Error& error) {
    expect(what, false, error.what());
  }
}

void judge_both(const std::string& of, const Sizes& n) {
  Generator g(3);
  const Array q = g.randn({n.B, n.N, n.H, n.D}), k = g.randn({n.B, n.M, n.H, n.D});
  const Array v = g.randn({n.B, n.M, n.H, n.E}), weights = g.randn({n.B, n.H, n.N, n.M});
  const auto scores = [&] {
    return head_scores(Tensor(q).set_name("queries"), Tensor(k).set_name("keys"));
  };
  const auto mixtures = [&] {
    return head_mixtures(Tensor(weights).set_name("weights"), Tensor(v).set_name("values"));
  };
  judge("scores of " + of, scores, scores_by_hand(q, k, n));
  judge("mixtures of " + of, mixtures, mixtures_by_hand(weights, v, n));
}

int main() {
  judge_both("one pair, one head, two tokens each", {1, 2, 2, 1, 3, 3});
  judge_both("one pair, two heads, three tokens each", {1, 3, 3, 2, 2, 2});
  judge_both("sizes that all differ", {2, 4, 5, 3, 6, 7});
  judge_both("sizes that are all two", {2, 2, 2, 2, 2, 2});
  return verdict();
}
