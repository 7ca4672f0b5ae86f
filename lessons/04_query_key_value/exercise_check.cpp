// Tests exercise 04 read_token_0: computes the attention weights in double, for several orthonormal
// X.

#include <algorithm>
#include <cmath>

#include "exercise.hpp"
#include "heed/array/shape.hpp"

using namespace heed;

Array query_matrix(const Array& X);
Array key_matrix(const Array& X);

using Row = std::vector<double>;

// Row t is the unit vector with a 1 at directions[t].
Array unit_vectors(std::size_t d, const std::vector<std::size_t>& directions) {
  Array X = zeros({3, d});
  for (std::size_t t = 0; t < 3; ++t) X(t, directions[t]) = 1;
  return X;
}

// Random token vectors, made orthonormal by the Gram-Schmidt process.
Array random_tokens(std::uint64_t seed, std::size_t d) {
  Array X = Generator(seed).randn({3, d});
  for (std::size_t t = 0; t < 3; ++t)
    for (int twice = 0; twice < 2; ++twice)  // the second pass removes rounding errors
      for (std::size_t s = 0; s <= t; ++s) {
        double product = 0;
        for (std::size_t i = 0; i < d; ++i) product += double(X(t, i)) * X(s, i);
        for (std::size_t i = 0; i < d; ++i)
          X(t, i) = Real(s < t ? X(t, i) - product * X(s, i) : X(t, i) / std::sqrt(product));
      }
  return X;
}

// Token t times the matrix.
Row projected(const Array& X, std::size_t t, const Array& W) {
  Row y(W.shape(1));
  for (std::size_t i = 0; i < X.shape(1); ++i)
    for (std::size_t j = 0; j < y.size(); ++j) y[j] += double(X(t, i)) * W(i, j);
  return y;
}

// The attention weights of token t.
Row weights_of(const Array& X, std::size_t t, const Array& W_Q, const Array& W_K) {
  const Row query = projected(X, t, W_Q);
  Row weights(3);
  for (std::size_t s = 0; s < 3; ++s) {
    const Row key = projected(X, s, W_K);
    for (std::size_t j = 0; j < key.size(); ++j) weights[s] += query[j] * key[j];
    weights[s] /= std::sqrt(double(key.size()));
  }
  const double maximum = *std::max_element(weights.begin(), weights.end());
  double sum = 0;
  for (double& weight : weights) weight = std::exp(weight - maximum);
  for (const double weight : weights) sum += weight;
  for (double& weight : weights) weight /= sum;
  return weights;
}

// Describes what is wrong with the matrices; "" if nothing is.
std::string fault(const Array& X, const Array& W_Q, const Array& W_K) {
  const std::size_t d = X.shape(1);
  const bool shapes_match = W_Q.dimension() == 2 && W_K.dimension() == 2 && W_Q.size() > 0 &&
                            W_Q.shape(0) == d && shape_of(W_Q) == shape_of(W_K);
  if (!shapes_match)
    return "for d = " + std::to_string(d) + ", W_Q is " + str(shape_of(W_Q)) + " and W_K is " +
           str(shape_of(W_K));
  const std::size_t target[] = {0, 1, 0};
  for (std::size_t t = 0; t < 3; ++t) {
    const double weight = weights_of(X, t, W_Q, W_K)[target[t]];
    if (!(weight > 0.9))
      return "the attention weight of token " + std::to_string(t) + " for token " +
             std::to_string(target[t]) + " is " + decimal(weight, 4);
  }
  return "";
}

void judge(const std::string& what, const Array& X) {
  const Array W_Q = query_matrix(X), W_K = key_matrix(X);
  std::string otherwise = fault(X, W_Q, W_K);
  const bool holds = otherwise.empty();
  if (!holds && fault(X, W_K, W_Q).empty()) otherwise += "; did you swap W_Q and W_K?";
  expect(what, holds, otherwise);
}

int main() {
  judge("token vectors 100, 010, 001", unit_vectors(3, {0, 1, 2}));
  judge("token vectors 00001, 01000, 00100", unit_vectors(5, {4, 1, 2}));
  judge("random token vectors of six numbers", random_tokens(5, 6));
  judge("random token vectors of three numbers", random_tokens(55, 3));
  judge("random token vectors of forty numbers", random_tokens(555, 40));
  return verdict();
}
