// 09 planted_nan: gradients that nudging finds too, with fillers and without, and no NaN hidden.

#include <algorithm>
#include <cmath>

#include "exercise.hpp"

using namespace heed;

Array attention_shares(const Array& Q, const Array& K, const Mask& hidden);
Array heard(const Array& Q, const Array& K, const Array& V, const Mask& hidden);
std::vector<Array> gradients(const Array& Q, const Array& K, const Array& V, const Mask& hidden,
                             const Array& dR);

using Doubles = xt::xarray<double>;
using Three = std::vector<Doubles>;  // Q, K and V

// How token i shares out its attention, over those alone that it may look at: no minus infinity
// comes up.
std::vector<double> shares_of(std::size_t i, const Three& x, const Mask& hidden) {
  const std::size_t N = x[0].shape(0), D = x[0].shape(1);
  std::vector<double> shares(N, 0);
  double top = -INFINITY, sum = 0;
  for (std::size_t j = 0; j < N; ++j) {
    for (std::size_t d = 0; d < D; ++d) shares[j] += x[0](i, d) * x[1](j, d) / std::sqrt(double(D));
    if (!hidden(i, j)) top = std::max(top, shares[j]);
  }
  for (std::size_t j = 0; j < N; ++j) {
    shares[j] = hidden(i, j) ? 0 : std::exp(shares[j] - top);
    sum += shares[j];
  }
  for (double& share : shares) share /= sum > 0 ? sum : 1;
  return shares;
}

std::vector<double> heard_by(std::size_t i, const Three& x, const Mask& hidden) {
  const std::vector<double> shares = shares_of(i, x, hidden);
  std::vector<double> result(x[2].shape(1), 0);
  for (std::size_t j = 0; j < shares.size(); ++j)
    for (std::size_t d = 0; d < result.size(); ++d) result[d] += shares[j] * x[2](j, d);
  return result;
}

// A row for each token.
Array rows_of(const std::vector<std::vector<double>>& rows) {
  Array x = zeros({rows.size(), rows[0].size()});
  for (std::size_t i = 0; i < x.shape(0); ++i)
    for (std::size_t d = 0; d < x.shape(1); ++d) x(i, d) = static_cast<Real>(rows[i][d]);
  return x;
}

// The sum of all that is heard, times what arrives at it.
double result(const Three& x, const Mask& hidden, const Array& dR) {
  double sum = 0;
  for (std::size_t i = 0; i < dR.shape(0); ++i) {
    const std::vector<double> row = heard_by(i, x, hidden);
    for (std::size_t d = 0; d < dR.shape(1); ++d) sum += row[d] * dR(i, d);
  }
  return sum;
}

// The slopes along x[which], by nudging each of its numbers.
Array slopes(const Three& x, std::size_t which, const Mask& hidden, const Array& dR) {
  const double h = 1e-5;
  Array found = dR;
  for (std::size_t n = 0; n < dR.size(); ++n) {
    Three above = x, below = x;
    above[which].data()[n] += h;
    below[which].data()[n] -= h;
    found.data()[n] =
        static_cast<Real>((result(above, hidden, dR) - result(below, hidden, dR)) / (2 * h));
  }
  return found;
}

// Nobody looks at a filler, and a filler looks at nobody; causal hides what comes later, too.
Mask hidden_by(const std::vector<bool>& filler, bool causal) {
  Mask hidden = causal_mask(filler.size());
  for (std::size_t i = 0; i < filler.size(); ++i)
    for (std::size_t j = 0; j < filler.size(); ++j)
      hidden(i, j) = filler[i] || filler[j] || (causal && j > i);
  return hidden;
}

void judge(const std::string& what, const Mask& hidden, double times, Generator& g) {
  const Shape shape = {hidden.shape(0), 4};
  const Array Q = g.randn(shape) * Real(times), K = g.randn(shape), V = g.randn(shape);
  const Array dR = g.randn(shape);
  const Three x = {Q, K, V};
  std::vector<std::vector<double>> shares, R;
  for (std::size_t i = 0; i < shape[0]; ++i) {
    shares.push_back(shares_of(i, x, hidden));
    R.push_back(heard_by(i, x, hidden));
  }
  const double tolerance = times == 1 ? 1e-5 : 1e-3;
  expect(what + ": the shares", attention_shares(Q, K, hidden), rows_of(shares), tolerance);
  expect(what + ": what is heard", heard(Q, K, V, hidden), rows_of(R), tolerance);
  const std::vector<Array> came = gradients(Q, K, V, hidden, dR);
  const Names names = {"dQ", "dK", "dV"};
  for (std::size_t n = 0; n < 3; ++n)
    expect(what + ": " + names[n], came.at(n), slopes(x, n, hidden, dR), tolerance);
}

// A NaN that comes in, in a row of Q or K, must come out in what token 0 hears and in its dQ.
void judge_nan(const std::string& what, const Mask& hidden, bool in_query, std::size_t row,
               Generator& g) {
  const Shape shape = {hidden.shape(0), 4};
  Array Q = g.randn(shape), K = g.randn(shape), V = g.randn(shape), dR = g.randn(shape);
  (in_query ? Q : K)(row, 2) = NAN;
  const Array R = heard(Q, K, V, hidden), dQ = gradients(Q, K, V, hidden, dR).at(0);
  expect("a NaN in " + what + ": token 0 hears NaN", std::isnan(R(0, 0)),
         "it was hidden: token 0 hears " + decimal(R(0, 0), 4));
  expect("a NaN in " + what + ": its dQ is NaN", std::isnan(dQ(0, 0)),
         "it was hidden: dQ(0, 0) is " + decimal(dQ(0, 0), 4));
}

int main() {
  Generator g(9);
  judge("no filler", hidden_by({false, false, false}, true), 1, g);
  judge("a filler at the end", hidden_by({false, false, false, true}, true), 1, g);
  judge("a filler at the start", hidden_by({true, false, false}, true), 1, g);
  judge("two fillers, and tokens that see the later ones too",
        hidden_by({false, true, false, false, true}, false), 1, g);
  judge("large scores", hidden_by({false, false, false, true}, false), 100, g);

  const std::vector<bool> fourth = {false, false, false, true};
  judge_nan("token 0's query", hidden_by(fourth, false), true, 0, g);
  judge_nan("a key that all see", hidden_by(fourth, false), false, 1, g);
  judge_nan("the only key that token 0 sees", hidden_by(fourth, true), false, 0, g);
  return verdict();
}
