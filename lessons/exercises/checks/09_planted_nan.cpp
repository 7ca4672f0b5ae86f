// 09 planted_nan: compares gradients with finite differences, and looks for hidden NaN.

#include <algorithm>
#include <cmath>

#include "exercise.hpp"
#include "heed/ops/mask.hpp"

using namespace heed;

Array masked_attention_weights(const Array& Q, const Array& K, const Mask& mask);
Array attention_output(const Array& Q, const Array& K, const Array& V, const Mask& mask);
std::vector<Array> gradients(const Array& Q, const Array& K, const Array& V, const Mask& mask,
                             const Array& dR);

using Doubles = xt::xarray<double>;
using Three = std::vector<Doubles>;  // Q, K and V

// The attention weights of query i, computed over the keys that are not masked, without infinities.
std::vector<double> weights_of(std::size_t i, const Three& x, const Mask& mask) {
  const std::size_t N = x[0].shape(0), D = x[0].shape(1);
  std::vector<double> weights(N, 0);
  double maximum = -INFINITY, sum = 0;
  for (std::size_t j = 0; j < N; ++j) {
    for (std::size_t d = 0; d < D; ++d)
      weights[j] += x[0](i, d) * x[1](j, d) / std::sqrt(double(D));
    if (!mask(i, j)) maximum = std::max(maximum, weights[j]);
  }
  for (std::size_t j = 0; j < N; ++j) {
    weights[j] = mask(i, j) ? 0 : std::exp(weights[j] - maximum);
    sum += weights[j];
  }
  for (double& weight : weights) weight /= sum > 0 ? sum : 1;
  return weights;
}

std::vector<double> output_of(std::size_t i, const Three& x, const Mask& mask) {
  const std::vector<double> weights = weights_of(i, x, mask);
  std::vector<double> result(x[2].shape(1), 0);
  for (std::size_t j = 0; j < weights.size(); ++j)
    for (std::size_t d = 0; d < result.size(); ++d) result[d] += weights[j] * x[2](j, d);
  return result;
}

Array array_of(const std::vector<std::vector<double>>& rows) {
  Array x = zeros({rows.size(), rows[0].size()});
  for (std::size_t i = 0; i < x.shape(0); ++i)
    for (std::size_t d = 0; d < x.shape(1); ++d) x(i, d) = static_cast<Real>(rows[i][d]);
  return x;
}

// The sum of all outputs times the upstream gradient.
double loss(const Three& x, const Mask& mask, const Array& dR) {
  double sum = 0;
  for (std::size_t i = 0; i < dR.shape(0); ++i) {
    const std::vector<double> row = output_of(i, x, mask);
    for (std::size_t d = 0; d < dR.shape(1); ++d) sum += row[d] * dR(i, d);
  }
  return sum;
}

// The gradient of the loss with respect to x[which], by central differences.
Array finite_differences(const Three& x, std::size_t which, const Mask& mask, const Array& dR) {
  const double h = 1e-5;
  Array found = dR;
  for (std::size_t n = 0; n < dR.size(); ++n) {
    Three above = x, below = x;
    above[which].data()[n] += h;
    below[which].data()[n] -= h;
    found.data()[n] = static_cast<Real>((loss(above, mask, dR) - loss(below, mask, dR)) / (2 * h));
  }
  return found;
}

// True where the query or the key is padding, and, if causal, where the key is later.
Mask padding_mask(const std::vector<bool>& padding, bool causal) {
  Mask mask = causal_mask(padding.size());
  for (std::size_t i = 0; i < padding.size(); ++i)
    for (std::size_t j = 0; j < padding.size(); ++j)
      mask(i, j) = padding[i] || padding[j] || (causal && j > i);
  return mask;
}

void judge(const std::string& what, const Mask& mask, double factor, Generator& g) {
  const Shape shape = {mask.shape(0), 4};
  const Array Q = g.randn(shape) * Real(factor), K = g.randn(shape), V = g.randn(shape);
  const Array dR = g.randn(shape);
  const Three x = {Q, K, V};
  std::vector<std::vector<double>> weights, R;
  for (std::size_t i = 0; i < shape[0]; ++i) {
    weights.push_back(weights_of(i, x, mask));
    R.push_back(output_of(i, x, mask));
  }
  const double tolerance = factor == 1 ? 1e-5 : 1e-3;
  expect(what + ": attention weights", masked_attention_weights(Q, K, mask), array_of(weights),
         tolerance);
  expect(what + ": output", attention_output(Q, K, V, mask), array_of(R), tolerance);
  const std::vector<Array> came = gradients(Q, K, V, mask, dR);
  const Names names = {"dQ", "dK", "dV"};
  for (std::size_t n = 0; n < 3; ++n)
    expect(what + ": " + names[n], came.at(n), finite_differences(x, n, mask, dR), tolerance);
}

// A NaN in a row of Q or K must lead to NaN in the first number of R, dQ, dK and dV.
void judge_nan(const std::string& what, const Mask& mask, bool in_query, std::size_t row,
               Generator& g) {
  const Shape shape = {mask.shape(0), 4};
  Array Q = g.randn(shape), K = g.randn(shape), V = g.randn(shape), dR = g.randn(shape);
  (in_query ? Q : K)(row, 2) = NAN;
  std::vector<Array> results = gradients(Q, K, V, mask, dR);
  results.insert(results.begin(), attention_output(Q, K, V, mask));
  const Names names = {"R", "dQ", "dK", "dV"};
  for (std::size_t n = 0; n < names.size(); ++n)
    expect("a NaN in " + what + ": " + names[n] + "(0, 0) is NaN", std::isnan(results.at(n)(0, 0)),
           "it is " + decimal(results.at(n)(0, 0), 4));
}

int main() {
  Generator g(9);
  judge("no padding", padding_mask({false, false, false}, true), 1, g);
  judge("padding at the end", padding_mask({false, false, false, true}, true), 1, g);
  judge("padding at the start", padding_mask({true, false, false}, true), 1, g);
  judge("two padding tokens, not causal", padding_mask({false, true, false, false, true}, false), 1,
        g);
  judge("large scores", padding_mask({false, false, false, true}, false), 100, g);

  const std::vector<bool> fourth = {false, false, false, true};
  judge_nan("query 0", padding_mask(fourth, false), true, 0, g);
  judge_nan("key 1, not masked", padding_mask(fourth, false), false, 1, g);
  judge_nan("the only key of query 0", padding_mask(fourth, true), false, 0, g);
  return verdict();
}
