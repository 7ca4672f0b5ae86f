// 01 averaging: the causal mean of token embeddings, by loops and as one matrix product.
//
// Before this lesson: nothing but C++ and a little linear algebra.
// After it: 02_naive_attention, in which the weights are computed from the embeddings.
// Worth a breakpoint: running_mean. Its inner loop adds one token at a time to `sum`.

#include "plane.hpp"

using namespace heed;  // Array: floats in any shape; Real: the type of one float

const Names words = {"the", "cat", "sat"};

Array tokens_and_embeddings() {
  section("Tokens and embeddings");
  Array X = Generator(42).randn({3, 5});
  show("X", X, words);
  return X;
}

Array mean_of_two(const Array& X) {
  section("The mean of two embeddings");
  Array by_hand = zeros({5});
  for (std::size_t d = 0; d < 5; ++d) by_hand(d) = (X(0, d) + X(1, d)) / 2;
  Array mean = (xt::row(X, 0) + xt::row(X, 1)) / 2;
  show("mean of 'the' and 'cat'", mean);
  check("by hand = in one line", by_hand, mean);
  return mean;
}

Array mean_of_three(const Array& X) {
  section("The mean of three embeddings");
  Array by_hand = zeros({5});
  for (std::size_t t = 0; t < 3; ++t)
    for (std::size_t d = 0; d < 5; ++d) by_hand(d) += X(t, d) / 3;
  Array mean = (xt::row(X, 0) + xt::row(X, 1) + xt::row(X, 2)) / 3;
  show("mean of 'the', 'cat' and 'sat'", mean);
  check("by hand = in one line", by_hand, mean);
  return mean;
}

// Row i of the result is the weighted sum of all rows of X: row t has the weight weights(i, t).
Array weighted_sums(const Array& weights, const Array& X) {
  Array sums = zeros({weights.shape(0), X.shape(1)});
  for (std::size_t i = 0; i < weights.shape(0); ++i)
    for (std::size_t t = 0; t < X.shape(0); ++t)
      for (std::size_t d = 0; d < X.shape(1); ++d) sums(i, d) += weights(i, t) * X(t, d);
  return sums;
}

void both_as_one_product(const Array& X, const Array& mean2, const Array& mean3) {
  section("Both means as one matrix product");
  const Real half = Real(1) / 2, third = Real(1) / 3;
  Array weights = {{half, half, 0}, {third, third, third}};
  Array means = xt::linalg::dot(weights, X);  // (2, 3) times (3, 5) is (2, 5)
  show("weights", weights, {"mean of two", "mean of three"}, words);
  check("by hand = in one line", weighted_sums(weights, X), means);
  check("row 0 = the mean of two", xt::row(means, 0), mean2);
  check("row 1 = the mean of three", xt::row(means, 1), mean3);
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

void causal_mean(const Array& X, const Array& mean3) {
  section("The causal mean");
  const Real half = Real(1) / 2, third = Real(1) / 3;
  Array causal_weights = {{1, 0, 0}, {half, half, 0}, {third, third, third}};
  Array causal_means = xt::linalg::dot(causal_weights, X);  // (3, 5), all three means at once
  show("causal weights A (rows: query position, columns: key position)", causal_weights, words,
       words);
  show("causal means M = A X", causal_means, words);
  check("a running mean, by hand = in one line", running_mean(X), causal_means);
  check("its last row = the mean of three", xt::row(causal_means, 2), mean3);
}

// Row t of the result has equal weights for the positions `first` to t, and 0 for all others.
// text.X (T, 2) has the embeddings of the text; only their number T matters here.
Array causal_mean_weights(const BankText& text) {
  Array weights = zeros({text.X.shape(0), text.X.shape(0)});
  for (std::size_t t = 0; t < text.X.shape(0); ++t) {
    const std::size_t first = 0;
    for (std::size_t s = first; s <= t; ++s) weights(t, s) = 1 / Real(t - first + 1);
  }
  return weights;
}

void task_of_the_bank() {
  section("A task: the word after 'bank'");
  show_bank_losses(1, causal_mean_weights);
  say();
  draw_plane(causal_mean_weights);
  say();
}

int main() {
  opening();
  const Array X = tokens_and_embeddings();
  const Array mean2 = mean_of_two(X), mean3 = mean_of_three(X);
  both_as_one_product(X, mean2, mean3);
  causal_mean(X, mean3);
  task_of_the_bank();
  ending();
}
