// 05 read_token_0: the shares, added up in double, of tokens with easy and with random directions.

#include <algorithm>
#include <cmath>

#include "exercise.hpp"
#include "heed/array/shape.hpp"

using namespace heed;

Array query_matrix(const Array& T);
Array key_matrix(const Array& T);

using Row = std::vector<double>;

// Tokens 0, 1, 2 are the unit vectors of these directions.
Array unit_vectors(std::size_t d, const std::vector<std::size_t>& directions) {
  Array T = zeros({3, d});
  for (std::size_t t = 0; t < 3; ++t) T(t, directions[t]) = 1;
  return T;
}

// Random tokens, less what each shares with those before it, at length one (Gram and Schmidt).
Array random_tokens(std::uint64_t seed, std::size_t d) {
  Array T = Generator(seed).randn({3, d});
  for (std::size_t t = 0; t < 3; ++t)
    for (int twice = 0; twice < 2; ++twice)  // the second time for what rounding left
      for (std::size_t s = 0; s <= t; ++s) {
        double product = 0;
        for (std::size_t i = 0; i < d; ++i) product += double(T(t, i)) * T(s, i);
        for (std::size_t i = 0; i < d; ++i)
          T(t, i) = Real(s < t ? T(t, i) - product * T(s, i) : T(t, i) / std::sqrt(product));
      }
  return T;
}

// Token t times the matrix.
Row projected(const Array& T, std::size_t t, const Array& W) {
  Row y(W.shape(1));
  for (std::size_t i = 0; i < T.shape(1); ++i)
    for (std::size_t j = 0; j < y.size(); ++j) y[j] += double(T(t, i)) * W(i, j);
  return y;
}

// What token t gives to each.
Row shares_of(const Array& T, std::size_t t, const Array& W_Q, const Array& W_K) {
  const Row query = projected(T, t, W_Q);
  Row shares(3);
  for (std::size_t s = 0; s < 3; ++s) {
    const Row key = projected(T, s, W_K);
    for (std::size_t j = 0; j < key.size(); ++j) shares[s] += query[j] * key[j];
    shares[s] /= std::sqrt(double(key.size()));
  }
  const double top = *std::max_element(shares.begin(), shares.end());
  double total = 0;
  for (double& share : shares) share = std::exp(share - top);
  for (const double share : shares) total += share;
  for (double& share : shares) share /= total;
  return shares;
}

// Empty when all is as it should be.
std::string fault(const Array& T, const Array& W_Q, const Array& W_K) {
  const std::size_t d = T.shape(1);
  const bool fit = W_Q.dimension() == 2 && W_K.dimension() == 2 && W_Q.size() > 0 &&
                   W_Q.shape(0) == d && shape_of(W_Q) == shape_of(W_K);
  if (!fit)
    return "for d = " + std::to_string(d) + ", W_Q is " + str(shape_of(W_Q)) + " and W_K is " +
           str(shape_of(W_K));
  const std::size_t wanted[] = {0, 1, 0};
  for (std::size_t t = 0; t < 3; ++t) {
    const double share = shares_of(T, t, W_Q, W_K)[wanted[t]];
    if (!(share > 0.9))
      return "token " + std::to_string(t) + " gives token " + std::to_string(wanted[t]) +
             " a share of " + decimal(share, 4);
  }
  return "";
}

void judge(const std::string& tokens, const Array& T) {
  const Array W_Q = query_matrix(T), W_K = key_matrix(T);
  std::string otherwise = fault(T, W_Q, W_K);
  const bool holds = otherwise.empty();
  if (!holds && fault(T, W_K, W_Q).empty()) otherwise += "; are W_Q and W_K swapped?";
  expect(tokens, holds, otherwise);
}

int main() {
  judge("tokens 100, 010, 001", unit_vectors(3, {0, 1, 2}));
  judge("tokens 00001, 01000, 00100", unit_vectors(5, {4, 1, 2}));
  judge("random tokens of six numbers", random_tokens(5, 6));
  judge("random tokens of three numbers", random_tokens(55, 3));
  judge("random tokens of forty numbers", random_tokens(555, 40));
  return verdict();
}
