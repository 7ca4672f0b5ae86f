// 02 naive_attention: dot products of embeddings as scores, and scores as convex weights.
//
// Before this lesson: 01_averaging, in which all weights of a mean were equal.
// After it: 03_graph_attention, in which softmax turns any scores into convex weights.
// Worth a breakpoint: dot_product. With `next`, `sum` grows by one product at a time.

#include <cmath>

#include "bank_plane.hpp"
#include "pictures.hpp"

using namespace heed;

const BankText& text = bank_texts()[0];  // the river and a bank floods the money and a bank lends
const Names water_and_money = {"water", "money"}, sentence = {"the", "cat", "sat"};

Real dot_product(const Array& a, const Array& b) {
  Real sum = 0;
  for (std::size_t d = 0; d < a.size(); ++d) {
    sum += a(d) * b(d);
  }
  return sum;
}

// Element (i, j) is the score of the tokens i and j.
Array scores_by_hand(const Array& X) {
  Array scores = zeros({X.shape(0), X.shape(0)});
  for (std::size_t i = 0; i < X.shape(0); ++i)
    for (std::size_t j = 0; j < X.shape(0); ++j)
      scores(i, j) = dot_product(xt::view(X, i), xt::view(X, j));
  return scores;
}

void scores_of_pairs() {
  section("A score for each pair of tokens");
  const Names words = {"bank", "river", "money", "and"};
  const Array X = {{0.5, 0.5}, {1, 0}, {0, 1}, {0, 0}};
  show(X, {"X: the embeddings", words, water_and_money, 1});
  say();
  const Array by_hand = scores_by_hand(X);
  Array S = xt::linalg::dot(X, xt::transpose(X));  // (4, 2) times (2, 4) is (4, 4)
  show(S, {"S = X X^T (rows: query position, columns: key position)", words, words, 1});
  check("sixteen scores by hand = in one line", by_hand, S);
  say();
}

// Each row divided by its sum; a row with the sum zero remains zero.
Array divided_by_row_sums(const Array& scores) {
  Array row_sums = xt::sum(scores, {1}, xt::keep_dims);  // (T, 1)
  return scores / xt::where(xt::equal(row_sums, 0), Real(1), row_sums);
}

// xt::tril: the scores of later positions are zero.
Array dot_product_weights(const BankText& of) {
  Array scores = xt::tril(xt::linalg::dot(of.X, xt::transpose(of.X)));
  return divided_by_row_sums(scores);
}

void scores_as_weights() {
  section("Scores as weights");
  const std::size_t bank = text.banks[1];
  const Array weights = dot_product_weights(text);  // (12, 12)
  show(Array(xt::view(weights, xt::range(bank, bank + 1), xt::range(0, bank + 1))),
       {"weights of the second 'bank'", {}, {text.words.begin(), text.words.begin() + 11}, 2});
  Array output = zeros({2});  // row `bank` of weights times X
  for (std::size_t j = 0; j <= bank; ++j) output += weights(bank, j) * xt::row(text.X, j);
  check("this weighted sum = the row of 'bank' in A X", output, bank_output(dot_product_weights));
  const double loss = std::log(1 + std::exp(8 * (output(0) - output(1))));
  say({{"water", decimal(output(0), 2)},
       {"money", decimal(output(1), 2)},
       {"loss", decimal(loss, 4)}});
}

void negative_weights() {
  section("Why no weight may be negative");
  const Array x = {2, 1};
  Array X = xt::stack(xt::xtuple(x, -0.9 * x));  // two tokens: x and -0.9 x
  Array weights = divided_by_row_sums(scores_by_hand(X));
  Array outputs = xt::linalg::dot(weights, X);
  show(weights, {"weights", {"x", "-0.9 x"}, {"x", "-0.9 x"}, 1});
  check("output of x = 18.1 x", xt::row(outputs, 0), 18.1F * x, 1e-4);
  say();
}

Array lengths(const Array& vectors) { return xt::sqrt(xt::sum(vectors * vectors, {1})); }

void convex_combinations() {
  section("Convex combinations");
  const Array X = {{2, 0}, {0.5, 1.5}, {-1, -0.5}};  // u, v, w
  const Array convex = {{0.8F, 0.1F, 0.1F}, {0.3F, 0.6F, 0.1F}, {0.1F, 0.7F, 0.2F}};
  const Array scored = divided_by_row_sums(scores_by_hand(X));
  const Array Y = xt::linalg::dot(convex, X), Z = xt::linalg::dot(scored, X);
  show_weights("Y: convex weights", convex, lengths(Y));
  show_weights("Z: scores / row sum", scored, lengths(Z));
  claim("no row of Y is longer than the longest row of X",
        xt::amax(lengths(Y))() <= xt::amax(lengths(X))(), "longer");
  say();
  draw_triangle(X, Y, Z);
  say();
}

void left_and_right() {
  section("Left mixes positions, right mixes components");
  Generator g(42);
  const Array X = g.randn({3, 5}), A = g.rand({3, 3}), W = g.randn({5, 2});
  Array AX = zeros({3, 5}), XW = zeros({3, 2});
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)  // row j of X goes to position i
      xt::row(AX, i) += A(i, j) * xt::row(X, j);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t d = 0; d < 5; ++d)  // component d of X, at its own position i
      xt::row(XW, i) += X(i, d) * xt::row(W, d);
  check("A X, row by row = in one line", AX, xt::linalg::dot(A, X));
  check("X W, row by row = in one line", XW, xt::linalg::dot(X, W));
  check("(A X) W = A (X W)", xt::linalg::dot(AX, W), xt::linalg::dot(A, XW));
  say();
}

// Each 'bank' takes the word three positions before it, and no other.
Array weights_chosen_by_hand(const BankText& of) {
  Array weights = zeros({of.words.size(), of.words.size()});
  for (const std::size_t bank : of.banks) weights(bank, bank - 3) = 1;
  return weights;
}

void best_weights() {
  section("The best weights");
  show_bank_losses(2, {dot_product_weights, weights_chosen_by_hand});
  say();
  draw_bank_plane("02_naive_attention", {{"01 causal mean", bank_output("causal mean")},
                                         {"02 dot products", bank_output(dot_product_weights)},
                                         {"02 by hand", bank_output(weights_chosen_by_hand)}});
  say();
}

void numbers_of_the_article() {
  const Array X = Generator(42).randn({3, 5});
  show("X", X, sentence);
  const Array scores = scores_by_hand(X);
  print_scores(scores, sentence);
  Array S = xt::linalg::dot(X, xt::transpose(X));
  show("S = X X^T", S, sentence, sentence);
  check("nine scores by hand = in one line", scores, S);
  Array row0 = S(0, 0) * xt::row(X, 0) + S(0, 1) * xt::row(X, 1) + S(0, 2) * xt::row(X, 2);
  show("row 0 of S X", row0);
  Array outputs = xt::linalg::dot(S, X);
  show("outputs S X", outputs, sentence);
  check("row 0 by hand = in one line", row0, xt::row(outputs, 0));
}

void rounding_and_einsum() {
  const Real large = 100'000'000;
  say("(100000000 + 1) - 100000000 = " + decimal((large + 1) - large, 0));
  say("(100000000 - 100000000) + 1 = " + decimal((large - large) + 1, 0));
  say();
  const Array X = Generator(42).randn({3, 5}), S = scores_by_hand(X);
  const Array O = xt::linalg::dot(S, X);
  const Tensor tokens = Tensor(X).set_name("X");
  check("einsum id,jd->ij = X X^T", S, einsum("id,jd->ij", {tokens, tokens}));
  check("einsum ij,jd->id = S X", O, einsum("ij,jd->id", {Tensor(S), tokens}));
}

int main() {
  opening();
  scores_of_pairs();
  scores_as_weights();
  negative_weights();
  convex_combinations();
  left_and_right();
  best_weights();
  if (appendix("The article's numbers")) numbers_of_the_article();
  if (appendix("Rounding and einsum")) rounding_and_einsum();
  ending();
}
