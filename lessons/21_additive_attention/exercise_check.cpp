// 21 uses_the_encoder: compares attention weights with loops in double, for several sizes, and
// changes one encoder state, or the decoder's state, to see which weights depend on it.

#include <cmath>

#include "exercise.hpp"

using namespace heed;

Array attention_weights(const Array& s, const Array& H, const Array& W, const Array& U,
                        const Array& v, const Array& P, const std::vector<std::size_t>& lengths);

namespace {

struct Problem {
  Array s, H;                        // (B, C) and (B, S, D)
  Array W, U, v, P;                  // (A, C), (A, D), (A) and (M, C)
  std::vector<std::size_t> lengths;  // of B lines
};

struct Sizes {
  std::size_t A, C, D;
};

Problem random_problem(std::uint64_t seed, const std::vector<std::size_t>& lengths, std::size_t S,
                       const Sizes& n) {
  Generator g(seed);
  const std::size_t B = lengths.size();
  return {g.randn({B, n.C}),
          g.randn({B, S, n.D}),
          g.randn({n.A, n.C}),
          g.randn({n.A, n.D}),
          g.randn({n.A}),
          g.randn({S + 3, n.C}),
          lengths};
}

Array got(const Problem& p) { return attention_weights(p.s, p.H, p.W, p.U, p.v, p.P, p.lengths); }

// First U h_j for all positions, then W s, then the scores: another order than the formula's.
Array expected(const Problem& p) {
  const std::size_t B = p.H.shape(0), S = p.H.shape(1), A = p.v.size();
  xt::xarray<double> keys = xt::zeros<double>({B, S, A});
  for (std::size_t i = 0; i < p.H.size(); ++i) {
    const std::size_t d = i % p.H.shape(2), j = i / p.H.shape(2) % S, b = i / p.H.shape(2) / S;
    for (std::size_t a = 0; a < A; ++a) keys(b, j, a) += double(p.U(a, d)) * double(p.H(b, j, d));
  }
  Array weights = zeros({B, S});
  for (std::size_t b = 0; b < B; ++b) {
    std::vector<double> e(p.lengths[b], 0);
    for (std::size_t a = 0; a < A; ++a) {
      double query = 0;
      for (std::size_t c = 0; c < p.s.shape(1); ++c) query += double(p.W(a, c)) * double(p.s(b, c));
      for (std::size_t j = 0; j < e.size(); ++j)
        e[j] += double(p.v(a)) * std::tanh(query + keys(b, j, a));
    }
    for (std::size_t j = 0; j < e.size(); ++j) {
      double sum = 0;  // 1 / weight
      for (const double other : e) sum += std::exp(other - e[j]);
      weights(b, j) = Real(1 / sum);
    }
  }
  return weights;
}

double largest_change(const Array& x, const Array& y, std::size_t b) {
  double change = 0;
  for (std::size_t j = 0; j < x.shape(1); ++j)
    change = std::max(change, std::abs(double(x(b, j)) - double(y(b, j))));
  return change;
}

// Changes h_j of line b, for each position of each line.
void change_encoder_states(const Problem& p) {
  const Array before = got(p);
  for (std::size_t b = 0; b < p.H.shape(0); ++b)
    for (std::size_t j = 0; j < p.H.shape(1); ++j) {
      Problem changed = p;
      for (std::size_t d = 0; d < p.H.shape(2); ++d) changed.H(b, j, d) += d % 2 == 0 ? 1 : -1;
      const Array after = got(changed), right_before = expected(p), right_after = expected(changed);
      const std::string state = "h_" + std::to_string(j) + " of line " + std::to_string(b);
      const double change = double(after(b, j)) - double(before(b, j)),
                   right = double(right_after(b, j)) - double(right_before(b, j));
      const std::string what = j < p.lengths[b]
                                   ? "a change of " + state + " changes its weight"
                                   : state + " is padding: changing it changes no weight";
      expect(what, std::abs(change - right) < 1e-5,
             "the weight of position " + std::to_string(j) + " changes by " + decimal(change, 4) +
                 " instead of " + decimal(right, 4) +
                 (change == 0 && right != 0 ? ": it does not depend on this state" : ""));
      for (std::size_t other = 0; other < p.H.shape(0); ++other)
        if (other != b && largest_change(after, before, other) > 0)
          expect("a change of " + state + " changes no other line", false,
                 "the weights of line " + std::to_string(other) + " change");
    }
}

// The decoder's state decides which positions are attended to.
void change_decoder_state(const Problem& p) {
  Problem changed = p;
  for (std::size_t c = 0; c < p.s.shape(1); ++c) changed.s(1, c) = -p.s(1, c);
  const Array before = got(p), after = got(changed);
  expect("another decoder state of line 1 changes the weights of line 1",
         largest_change(before, after, 1) > 1e-3,
         "they stay the same: is W s in the score, and inside tanh?");
  expect("another decoder state of line 1 leaves the weights of line 0 as they are",
         largest_change(before, after, 0) == 0,
         "they change by " + decimal(largest_change(before, after, 0), 4));
}

}  // namespace

int main() {
  const Problem two_lines = random_problem(1, {4, 3}, 4, {3, 2, 5});
  expect("the weights of two lines, by loops", got(two_lines), expected(two_lines));
  change_encoder_states(two_lines);
  change_decoder_state(two_lines);
  const Problem wide = random_problem(2, {7, 2, 5}, 7, {8, 6, 3});
  expect("three lines with padding", got(wide), expected(wide));
  const Problem one = random_problem(3, {1, 5}, 5, {4, 3, 2});
  expect("a line of a single position", got(one), expected(one));
  Problem saturated = random_problem(4, {6, 6}, 6, {5, 4, 3});
  saturated.W *= Real(20), saturated.U *= Real(20);
  expect("a saturated tanh", got(saturated), expected(saturated), 1e-4);
  Problem other = two_lines;
  other.P *= Real(-3);
  expect("another P changes nothing", got(other), got(two_lines), 0);
  return verdict();
}
