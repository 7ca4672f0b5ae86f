// Tests exercise 06 planted_nan: compares gradients with finite differences, and finds hidden NaN.

#include <algorithm>
#include <cmath>
#include <map>

#include "exercise.hpp"
#include "heed/ops/mask.hpp"

using namespace heed;

Array masked_attention_weights(const Array& Q, const Array& K, const Mask& mask);
Array attention_output(const Array& Q, const Array& K, const Array& V, const Mask& mask);
std::vector<Array> gradients(const Array& Q, const Array& K, const Array& V, const Mask& mask,
                             const Array& dO);

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
double loss(const Three& x, const Mask& mask, const Array& dO) {
  double sum = 0;
  for (std::size_t i = 0; i < dO.shape(0); ++i) {
    const std::vector<double> row = output_of(i, x, mask);
    for (std::size_t d = 0; d < dO.shape(1); ++d) sum += row[d] * dO(i, d);
  }
  return sum;
}

// The gradient of the loss with respect to x[which], by central differences.
Array finite_differences(const Three& x, std::size_t which, const Mask& mask, const Array& dO) {
  const double h = 1e-5;
  Array found = dO;
  for (std::size_t n = 0; n < dO.size(); ++n) {
    Three above = x, below = x;
    above[which].data()[n] += h;
    below[which].data()[n] -= h;
    found.data()[n] = static_cast<Real>((loss(above, mask, dO) - loss(below, mask, dO)) / (2 * h));
  }
  return found;
}

// True where the query or the key is padding, and, if causal, where the key is later.
Mask padding_mask(const std::vector<bool>& padding, bool causal) {
  Mask mask = future_mask(padding.size());
  for (std::size_t i = 0; i < padding.size(); ++i)
    for (std::size_t j = 0; j < padding.size(); ++j)
      mask(i, j) = padding[i] || padding[j] || (causal && j > i);
  return mask;
}

void judge(const std::string& what, const Mask& mask, double factor, Generator& g) {
  const Shape shape = {mask.shape(0), 4};
  const Array Q = g.randn(shape) * Real(factor), K = g.randn(shape), V = g.randn(shape);
  const Array dO = g.randn(shape);
  const Three x = {Q, K, V};
  std::vector<std::vector<double>> weights, O;
  for (std::size_t i = 0; i < shape[0]; ++i) {
    weights.push_back(weights_of(i, x, mask));
    O.push_back(output_of(i, x, mask));
  }
  const double tolerance = factor == 1 ? 1e-5 : 1e-3;
  expect(what + ": attention weights", masked_attention_weights(Q, K, mask), array_of(weights),
         tolerance);
  expect(what + ": output", attention_output(Q, K, V, mask), array_of(O), tolerance);
  const std::vector<Array> got = gradients(Q, K, V, mask, dO);
  const Names names = {"dQ", "dK", "dV"};
  for (std::size_t n = 0; n < 3; ++n)
    expect(what + ": " + names[n], got.at(n), finite_differences(x, n, mask, dO), tolerance);
}

// A test case: a NaN in element (row, 2) of one input, and for each result whose formula contains
// it, an element that must then be NaN.
struct Nan {
  std::string input;  // "Q", "K", "V" or "dO"
  std::size_t row;
  Names results;  // some of "O", "dQ", "dK", "dV"
  std::size_t result_row, result_column;
};

// If these results had no NaN, an error of the caller would remain hidden.
void judge_nan(const Nan& nan, const std::string& what, const Mask& mask, Generator& g) {
  const Shape shape = {mask.shape(0), 4};
  std::map<std::string, Array> x;
  for (const std::string name : {"Q", "K", "V", "dO"}) x[name] = g.randn(shape);
  x[nan.input](nan.row, 2) = NAN;
  const std::vector<Array> all = gradients(x["Q"], x["K"], x["V"], mask, x["dO"]);
  const std::map<std::string, Array> results = {
      {"O", attention_output(x["Q"], x["K"], x["V"], mask)},
      {"dQ", all.at(0)},
      {"dK", all.at(1)},
      {"dV", all.at(2)}};
  for (const std::string& name : nan.results) {
    const Real got = results.at(name)(nan.result_row, nan.result_column);
    expect("a NaN in row " + std::to_string(nan.row) + " of " + nan.input + what + ": " + name +
               "(" + std::to_string(nan.result_row) + ", " + std::to_string(nan.result_column) +
               ") is NaN",
           std::isnan(got), "it is " + decimal(got, 4));
  }
}

int main() {
  Generator g(9);
  judge("no padding", padding_mask({false, false, false}, true), 1, g);
  judge("padding at the end", padding_mask({false, false, false, true}, true), 1, g);
  judge("padding at the start", padding_mask({true, false, false}, true), 1, g);
  judge("two padding tokens, not causal", padding_mask({false, true, false, false, true}, false), 1,
        g);
  judge("large scores", padding_mask({false, false, false, true}, false), 100, g);
  // Query 1 has no key, but query 2 attends to key 1. No query attends to key 3.
  const Mask one_way = {{false, true, true, true},
                        {true, true, true, true},
                        {false, false, true, true},
                        {false, false, true, true}};
  judge("query 1 without keys, key 1 in use", one_way, 1, g);
  judge("the same with large scores", one_way, 100, g);

  // Query 3 is padding. Without the causal mask, the queries 0 to 2 attend to the keys 0 to 2.
  const std::vector<bool> fourth = {false, false, false, true};
  const Mask padded = padding_mask(fourth, false), causal = padding_mask(fourth, true);
  judge_nan({"Q", 0, {"O", "dQ", "dK", "dV"}, 0, 0}, "", padded, g);
  judge_nan({"K", 1, {"O", "dQ", "dK", "dV"}, 0, 0}, "", padded, g);
  judge_nan({"K", 0, {"O", "dQ", "dK", "dV"}, 0, 0}, ", the only key of query 0", causal, g);
  judge_nan({"V", 1, {"O"}, 2, 2}, "", padded, g);
  judge_nan({"V", 1, {"dQ", "dK"}, 2, 0}, "", padded, g);
  judge_nan({"dO", 2, {"dV"}, 1, 2}, "", padded, g);
  judge_nan({"dO", 2, {"dQ"}, 2, 0}, "", padded, g);
  judge_nan({"dO", 2, {"dK"}, 1, 0}, "", padded, g);
  return verdict();
}
