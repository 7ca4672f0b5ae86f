// 01 averaging: the word after 'bank', predicted from the mean of the tokens before it.
//
// Before this lesson: nothing but C++ and a little linear algebra (00_where_this_goes is a tour).
// After it: 02_naive_attention, in which the weights are computed from the embeddings.
// Worth a breakpoint: running_mean. Its inner loop adds one token at a time to `sum`.

#include <cmath>

#include "bank_plane.hpp"

using namespace heed;  // Array: floats in any shape; Real: the type of one float

const BankText& text = bank_texts()[0];  // words, X (12, 2), and the positions of both 'bank's

void embeddings() {
  section("A token as two numbers");
  Array X = xt::view(text.X, xt::range(0, 5));  // up to the first 'bank'
  show(X, {"X: the first five embeddings",
           {"the", "river", "and", "a", "bank"},
           {"water", "money"},
           1});
  say();
}

double p_floods(const Array& c) {
  const double factor = 8;
  return std::exp(factor * c(0)) / (std::exp(factor * c(0)) + std::exp(factor * c(1)));
}

void prediction() {
  section("From two numbers to a loss");
  const Array river = {1, 0}, money = {0, 1}, bank = {0.5, 0.5};
  Array losses = zeros({3, 3});
  std::size_t row = 0;
  for (const Array& c : {river, money, bank}) {
    const double p = p_floods(c);
    losses(row, 0) = Real(p);
    losses(row, 1) = Real(-std::log(p));
    losses(row, 2) = Real(-std::log(1 - p));
    ++row;
  }
  show("from one word", losses, {"river", "money", "bank"},
       {"p(floods)", "loss of 'floods'", "loss of 'lends'"});
  check("the loss of a guess = ln 2", xt::view(losses, 2, xt::range(1, 3)),
        filled({2}, std::log(Real(2))));
  say();
}

// Row t of the result is the mean of rows 0 to t of X.
Array running_mean(const Array& X) {
  Array means = zeros({X.shape(0), X.shape(1)});
  for (std::size_t d = 0; d < X.shape(1); ++d) {
    Real sum = 0;
    for (std::size_t t = 0; t < X.shape(0); ++t) {
      sum += X(t, d);
      means(t, d) = sum / Real(t + 1);
    }
  }
  return means;
}

// (T, T): row t has equal weights for the positions 0 to t, or for the latest `count` of them.
Array causal_mean_weights(std::size_t T, int count = 1000) {
  Array used = xt::triu(xt::tril(ones({T, T})), 1 - count);  // 1, or 0 for a position left out
  Array row_sums = xt::sum(used, {1}, xt::keep_dims);        // (T, 1)
  return used / row_sums;
}

void mean_of_the_context() {
  section("The mean of the context");
  const Names words = {"the", "river", "and", "a", "bank"};
  Array X = xt::view(text.X, xt::range(0, 5));  // (5, 2)
  Array by_hand = running_mean(X);
  show(by_hand, {"running mean", words, {"water", "money"}, 2});
  say();
  Array A = causal_mean_weights(5);
  Array M = xt::linalg::dot(A, X);  // (5, 5) times (5, 2) is (5, 2)
  show(A, {"A: the weights of the causal mean", words, words, 2});
  check("a running mean, by hand = A X", by_hand, M);
  say();
}

void second_bank() {
  section("The second 'bank'");
  const BankWeights weights_of = [](const BankText& of) {
    return causal_mean_weights(of.words.size());
  };
  show_bank_losses(1, weights_of);
  const Array c = bank_output(weights_of);  // (2), of the first text
  say({{"loss", decimal(-std::log(1 - p_floods(c)), 4)}});
  draw_bank_plane("01_averaging", {{"01 causal mean", c}});
  say();
}

void numbers_of_the_article() {
  const Names words = {"the", "cat", "sat"};
  Array X = Generator(42).randn({3, 5});
  show("X", X, words);
  Array mean2 = (xt::row(X, 0) + xt::row(X, 1)) / 2;
  Array mean3 = (xt::row(X, 0) + xt::row(X, 1) + xt::row(X, 2)) / 3;
  show("mean of 'the' and 'cat'", mean2);
  show("mean of 'the', 'cat' and 'sat'", mean3);
  Array A = causal_mean_weights(3), M = xt::linalg::dot(A, X);
  show("A: the weights of the causal mean", A, words, words);
  show("M = A X", M, words);
  check("a running mean, by hand = A X", running_mean(X), M);
  check("row 1 = the mean of two", xt::row(M, 1), mean2);
  check("row 2 = the mean of three", xt::row(M, 2), mean3);
}

int main() {
  opening();
  section("What would you need to know?");
  embeddings();
  prediction();
  mean_of_the_context();
  second_bank();
  if (appendix("The article's numbers")) numbers_of_the_article();
  ending();
}
