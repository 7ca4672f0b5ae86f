// 09 planted_nan: gradients that nudging finds too, with fillers and without, and no NaN hidden.

#include <algorithm>
#include <cmath>

#include "exercise.hpp"

using namespace heed;

Array heard(const Array& Q, const Array& K, const Array& V, const Mask& hidden);
std::vector<Array> gradients(const Array& Q, const Array& K, const Array& V, const Mask& hidden,
                             const Array& dR);

using Doubles = xt::xarray<double>;
using Three = std::vector<Doubles>;  // Q, K and V

// What token i hears, over those alone that it may look at: no minus infinity comes up.
std::vector<double> heard_by(std::size_t i, const Three& x, const Mask& hidden) {
  const std::size_t T = x[0].shape(0), D = x[0].shape(1);
  std::vector<double> scores(T, 0), result(D, 0);
  double top = -INFINITY, sum = 0;
  for (std::size_t j = 0; j < T; ++j) {
    for (std::size_t d = 0; d < D; ++d) scores[j] += x[0](i, d) * x[1](j, d);
    scores[j] /= std::sqrt(double(D));
    if (!hidden(i, j)) top = std::max(top, scores[j]);
  }
  for (std::size_t j = 0; j < T; ++j) sum += hidden(i, j) ? 0 : std::exp(scores[j] - top);
  for (std::size_t j = 0; j < T; ++j)
    if (!hidden(i, j))
      for (std::size_t d = 0; d < D; ++d) result[d] += std::exp(scores[j] - top) / sum * x[2](j, d);
  return result;
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
  Mask hidden = future_mask(filler.size());
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
  Array R = dR;
  for (std::size_t i = 0; i < R.shape(0); ++i)
    for (std::size_t d = 0; d < 4; ++d) R(i, d) = static_cast<Real>(heard_by(i, x, hidden)[d]);
  const double tolerance = times == 1 ? 1e-5 : 1e-3;
  expect(what + ": what is heard", heard(Q, K, V, hidden), R, tolerance);
  const std::vector<Array> came = gradients(Q, K, V, hidden, dR);
  const Names names = {"dQ", "dK", "dV"};
  for (std::size_t n = 0; n < 3; ++n)
    expect(what + ": " + names[n], came.at(n), slopes(x, n, hidden, dR), tolerance);
}

int main() {
  Generator g(9);
  judge("no filler", hidden_by({false, false, false}, true), 1, g);
  judge("a filler at the end", hidden_by({false, false, false, true}, true), 1, g);
  judge("a filler at the start", hidden_by({true, false, false}, true), 1, g);
  judge("two fillers, and tokens that see the later ones too",
        hidden_by({false, true, false, false, true}, false), 1, g);
  judge("large scores", hidden_by({false, false, false, true}, false), 100, g);

  const Mask hidden = hidden_by({false, false, false, true}, false);
  Array Q = g.randn({4, 4}), K = g.randn({4, 4}), V = g.randn({4, 4}), dR = g.randn({4, 4});
  K(1, 2) = NAN;
  const Array dQ = gradients(Q, K, V, hidden, dR).at(0);
  expect("a NaN that comes in, in K, comes out in dQ",
         std::isnan(dQ(0, 0)) && std::isnan(dQ(1, 0)) && std::isnan(dQ(2, 0)),
         "it was hidden: dQ(0, 0) is " + decimal(dQ(0, 0), 4));
  return verdict();
}
