// slider_numbers.cpp: computes with the engine, in double, what the sliders of the book compute in
// the browser. Reads a JSON list of {"widget": ..., "arrays": {name: matrix}} and prints the list
// of their results.

#include <iostream>
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

}  // namespace

int main() {
  Json results = Json::array();
  for (const Json& setting : Json::parse(std::cin))
    results.push_back(setting["widget"] == "attention" ? attention(setting["arrays"])
                                                       : saturation(setting["arrays"]));
  std::cout << results << '\n';
}
