// slider_numbers.cpp: computes with the engine, in double, what the sliders of the book compute in
// the browser. Reads a JSON list of {"widget": ..., "arrays": {name: matrix}} and prints the list
// of their results.

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "heed/heed.hpp"

using namespace heed;
using Json = nlohmann::json;

namespace {

Array matrix_of(const Json& rows) {
  Array x = zeros({rows.size(), rows[0].size()});
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t j = 0; j < rows[i].size(); ++j) x(i, j) = rows[i][j].get<Real>();
  return x;
}

Json json_of(const Array& x) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < x.shape(0); ++i) {
    rows.push_back(Json::array());
    for (std::size_t j = 0; j < x.shape(1); ++j) rows.back().push_back(x(i, j));
  }
  return rows;
}

Json attention(const Json& arrays) {
  const Tensor X(matrix_of(arrays["X"]));
  const auto projected = [&](const char* name) {
    return matmul(X, Tensor(matrix_of(arrays[name])));
  };
  const Tensor Q = projected("W_Q"), K = projected("W_K"), V = projected("W_V");
  AttentionOptions options;
  options.causal = true;
  const Tensor scores = matmul(Q, transpose(K, 0, 1)) / std::sqrt(double(K.shape()[1]));
  return {{"scores S", json_of(scores.value())},
          {"attention weights", json_of(attention_weights(Q, K, options).value())},
          {"output", json_of(scaled_dot_product_attention(Q, K, V, options).value())}};
}

// The Jacobian of softmax, row by row, by the backward pass.
Array jacobian(const Array& scores) {
  const std::size_t n = scores.size();
  Array J = zeros({n, n});
  for (std::size_t i = 0; i < n; ++i) {
    const Tensor s(scores, /*requires_grad=*/true);
    Array upstream = zeros({n});
    upstream(i) = 1;
    backward(sum(softmax(s, -1) * Tensor(upstream)));
    for (std::size_t j = 0; j < n; ++j) J(i, j) = s.grad()(j);
  }
  return J;
}

Json saturation(const Json& arrays) {
  const Array factor = matrix_of(arrays["factor"]);
  const Array scores = matrix_of(arrays["scores"]) * factor(0, 0);
  Array norms = zeros({1, scores.shape(0)});
  for (std::size_t i = 0; i < scores.shape(0); ++i) {
    const Array J = jacobian(xt::view(scores, i));
    const Array squares = J * J;
    norms(0, i) = std::sqrt(sum(Tensor(squares)).item());
  }
  const Array multiplied = norms * factor(0, 0);
  return {{"attention weights", json_of(softmax(Tensor(scores), -1).value())},
          {"Jacobian of the second query", json_of(jacobian(xt::view(scores, 1)))},
          {"Frobenius norm", json_of(norms)},
          {"factor times norm", json_of(multiplied)}};
}

Real number_of(const Json& arrays, const char* name) { return matrix_of(arrays[name])(0, 0); }

// With -1e9 for the logits that are not among the k largest.
Json temperature(const Json& arrays) {
  Array logits = matrix_of(arrays["logits"]), sorted = logits;
  std::sort(sorted.begin(), sorted.end());
  const Real smallest = sorted(0, sorted.size() - std::size_t(number_of(arrays, "k")));
  for (Real& x : logits)
    if (x < smallest) x = -1e9;
  const Tensor scaled = Tensor(logits) / number_of(arrays, "temperature");
  const Tensor p = softmax(scaled, -1);
  const std::size_t n = logits.size();
  const Tensor sums = matmul(p, transpose(tril(Tensor(ones({n, n}))), 0, 1));
  const Array entropy = sum(p * -log_softmax(scaled, -1), {-1}, /*keepdim=*/true).value();
  const Array number = xt::exp(entropy);
  return {{"probabilities", json_of(p.value())},
          {"sum of the probabilities so far", json_of(sums.value())},
          {"entropy in nats", json_of(entropy)},
          {"as many equally likely tokens", json_of(number)}};
}

Json rotary(const Json& arrays) {
  const auto rotated = [&](const char* name, std::size_t position) {
    return rotary_embedding(Tensor(matrix_of(arrays[name])), 1, position);
  };
  const Tensor q = rotated("q", std::size_t(number_of(arrays, "query position"))),
               k = rotated("k", std::size_t(number_of(arrays, "key position")));
  const auto score = [&](const Tensor& key) { return matmul(q, transpose(key, 0, 1)); };
  const Tensor keys = rotary_embedding(expand(Tensor(matrix_of(arrays["k"])), {10, k.shape()[1]}));
  return {{"R_t q", json_of(q.value())},
          {"R_s k", json_of(k.value())},
          {"score", json_of(score(k).value())},
          {"scores of this key at positions 0 to 9", json_of(score(keys).value())}};
}

// Softmax of all keys so far, after each block.
Json online(const Json& arrays) {
  const Array scores = matrix_of(arrays["scores"]);
  const Tensor V(matrix_of(arrays["V"]));
  const auto n = std::int64_t(scores.size()), size = std::int64_t(number_of(arrays, "block size"));
  Json steps = Json::array(), factors = Json::array();
  Real before = -INFINITY;
  for (std::int64_t end = std::min(size, n);; end = std::min(end + size, n)) {
    const Tensor keys = slice(Tensor(scores), 1, 0, end);
    const Array& seen = keys.value();
    const Real m = *std::max_element(seen.begin(), seen.end());
    steps.push_back({m, sum(exp(keys - m)).item()});
    const Array output = matmul(softmax(keys, -1), slice(V, 0, 0, end)).value();
    for (const Real x : output) steps.back().push_back(x);
    factors.push_back(std::exp(before - m));
    before = m;
    if (end == n) break;
  }
  return {{"m, l and o / l after each block", steps},
          {"factor on the earlier l and o", Json::array({factors})}};
}

}  // namespace

int main() {
  const std::map<std::string, Json (*)(const Json&)> widgets = {{"attention", attention},
                                                                {"saturation", saturation},
                                                                {"temperature", temperature},
                                                                {"rotary", rotary},
                                                                {"online", online}};
  Json results = Json::array();
  for (const Json& setting : Json::parse(std::cin))
    results.push_back(widgets.at(setting["widget"].get<std::string>())(setting["arrays"]));
  std::cout << results << '\n';
}
