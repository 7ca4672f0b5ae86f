// 02 naive_attention: dot products of embeddings as scores, and scores as weights.
//
// Before this lesson: 01_averaging, in which all weights of a mean were equal.
// After it: 03_matmul_views, four ways to read the product of two matrices.
// Worth a breakpoint: dot_product. With `next`, `sum` grows by one product at a time.

#include <cmath>

#include "bank.hpp"

using namespace heed;

const Names words = {"the", "cat", "sat"};

Real dot_product(const Array& a, const Array& b) {
  Real sum = 0;
  for (std::size_t d = 0; d < a.size(); ++d) sum += a(d) * b(d);
  return sum;
}

// The Euclidean length of each row.
Array lengths_of(const Array& X) {
  Array lengths = zeros({X.shape(0)});
  for (std::size_t i = 0; i < X.shape(0); ++i)
    lengths(i) = std::sqrt(dot_product(xt::view(X, i), xt::view(X, i)));
  return lengths;
}

// Element (i, j) is the score of the tokens i and j.
Array scores_by_hand(const Array& T) {
  Array scores = zeros({T.shape(0), T.shape(0)});
  for (std::size_t i = 0; i < T.shape(0); ++i)
    for (std::size_t j = 0; j < T.shape(0); ++j)
      scores(i, j) = dot_product(xt::view(T, i), xt::view(T, j));
  return scores;
}

// Row i of the result is the weighted sum of all rows of T with the weights in row i.
Array weighted_sums(const Array& weights, const Array& T) {
  Array sums = zeros({weights.shape(0), T.shape(1)});
  for (std::size_t i = 0; i < weights.shape(0); ++i)
    for (std::size_t j = 0; j < T.shape(0); ++j)
      for (std::size_t d = 0; d < T.shape(1); ++d) sums(i, d) += weights(i, j) * T(j, d);
  return sums;
}

// A row with the sum zero remains zero.
Array divide_by_row_sums(const Array& scores) {
  Array weights = zeros({scores.shape(0), scores.shape(1)});
  for (std::size_t i = 0; i < scores.shape(0); ++i) {
    Real row_sum = 0;
    for (std::size_t j = 0; j < scores.shape(1); ++j) row_sum += scores(i, j);
    if (row_sum == 0) continue;
    for (std::size_t j = 0; j < scores.shape(1); ++j) weights(i, j) = scores(i, j) / row_sum;
  }
  return weights;
}

Array weights_without_negative_scores(const Array& scores) {
  return divide_by_row_sums(xt::maximum(scores, Real(0)));
}

Array print_scores(const Array& T) {
  section("A score for each pair of tokens");
  say("The DOT PRODUCT of two vectors multiplies them element by element and adds the",
      "products. Here the dot product of two embeddings is the SCORE of the two tokens.",
      "It is large for two long vectors of the same direction, zero for two orthogonal",
      "vectors, and negative if the angle between them is above 90 degrees.");
  show("T: the embeddings of lesson 01", T, words);
  say("");
  const Array scores = scores_by_hand(T);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      say("score(" + words[i] + ", " + words[j] + ")  " + pad_left(decimal(scores(i, j), 10), 13));
  return scores;
}

void explain_rounding() {
  section("Rounding errors");
  say("You may skip this section. It explains why `check` allows small differences.", "",
      "An article that computes these nine scores with PyTorch prints -0.1217458397 for",
      "(the, cat), but -0.1217458248 for (cat, the). Both are the same dot product. A",
      "float has 24 binary digits, about seven decimal digits. Each addition rounds its",
      "result to these digits. The difference from the exact result is the ROUNDING",
      "ERROR. It depends on the order of the additions:");
  const Real large = 100'000'000;
  say("", "(100000000 + 1) - 100000000 = " + decimal((large + 1) - large, 0),
      "(100000000 - 100000000) + 1 = " + decimal((large - large) + 1, 0), "",
      "A matrix library chooses an order that is fast on the machine. So do not test",
      "whether two floats are equal (==), but whether they are close. `check` allows a",
      "difference of 0.00001.");
}

Array multiply_by_transposed(const Array& T, const Array& scores) {
  section("All scores as one matrix product");
  say("The nine dot products are one matrix product: S = T T^T, where T^T is T",
      "transposed. Row i has the scores of the query position i with all key positions.");
  Array S = xt::linalg::dot(T, xt::transpose(T));  // (3, 5) times (5, 3) is (3, 3)
  show("S = T T^T (rows: query position, columns: key position)", S, words, words);
  check("nine scores by hand = in one line", scores, S);
  return S;
}

void use_scores_as_weights(const Array& T, const Array& S) {
  section("Scores as weights");
  say("Lesson 01 needed weights that are computed. Use the scores. The output",
      "for 'the' is S(0, 0) times 'the' plus S(0, 1) times 'cat' plus S(0, 2) times",
      "'sat'. The outputs of all three positions are one more matrix product, S T.");
  Array outputs = xt::linalg::dot(S, T);  // (3, 3) times (3, 5) is (3, 5)
  show("outputs S T", outputs, words);
  check("by hand = in one line", weighted_sums(S, T), outputs);
}

void divide_rows(const Array& S) {
  section("Weights that sum to one");
  say("The weights of a mean sum to one. The scores in a row of S do not. Divide each",
      "row of S by its sum.");
  Array row_sums = xt::sum(S, {1});
  Array weights = S / xt::view(row_sums, xt::all(), xt::newaxis());  // (3) becomes (3, 1)
  show("row sums of S", row_sums, {}, words);
  show("weights (rows: query position, columns: key position)", weights, words, words);
  check("by hand = in one line", divide_by_row_sums(S), weights);
}

// Row s of the result has the lengths of the rows of X after s steps of attention.
Array lengths_over_steps(Array X, std::size_t steps, Array weights_of(const Array& scores)) {
  Array lengths = zeros({steps + 1, X.shape(0)});
  for (std::size_t s = 0; s <= steps; ++s) {
    xt::view(lengths, s) = lengths_of(X);
    X = weighted_sums(weights_of(scores_by_hand(X)), X);
  }
  return lengths;
}

void repeat(const Array& T) {
  section("Six steps");
  say("A model applies attention many times, each time to the outputs of the previous",
      "step. If the vectors grow in every step, they soon exceed the range of a float.",
      "Do weights that sum to one prevent this? Each step computes new scores from the",
      "current vectors, divides each row by its sum, and computes the weighted sums.");
  const Names rows = {"step 0", "step 1", "step 2", "step 3", "step 4", "step 5", "step 6"};
  const Array lengths = lengths_over_steps(T, 6, divide_by_row_sums);
  show("lengths, weights = scores / row sum", lengths, rows, words);
  say("", "Step 1 makes 'sat' shorter, but 'the' and 'cat' longer. After six steps all",
      "vectors are hundreds of times as long. So it is not enough that weights sum to",
      "one. Some of these weights are negative, so the others sum to more than one.", "",
      "Now replace each negative score by zero before the division. (Each row keeps a",
      "positive sum, because the score of a vector with itself is its squared length.)");
  const Array bounded = lengths_over_steps(T, 6, weights_without_negative_scores);
  show("lengths, weights = max(score, 0) / row sum", bounded, rows, words);
  claim("no length exceeds that of 'sat' at step 0", xt::amax(bounded)() <= bounded(0, 2),
        decimal(xt::amax(bounded)(), 4));
}

// The weights of the scores X X^T, with zeros for later positions.
Array causal_score_weights(const BankText& text) {
  return weights_without_negative_scores(xt::tril(scores_by_hand(text.X)));
}

void task_of_the_bank() {
  section("The task of the bank");
  say("Lesson 01 predicted the word after 'bank' from the causal mean. Now the weights",
      "are the scores of 'bank' with the tokens up to 'bank', divided by their sum. The",
      "score is 0.5 for 'river', 'money' and 'bank', and 0 for all other words. A row",
      "without a positive score gets the weights zero.");
  show_bank_losses(2, causal_score_weights);
  say("", "At the first 'bank' only the topic word and 'bank' have a weight, and the loss",
      "is 0.018. At the second 'bank' both topics have the same weight: still 0.6931.", "",
      "To watch a score grow: gdb build/release/lessons/02_naive_attention, and in it:",
      "break dot_product, run, then next and print sum, a few times.");
}

int main() {
  opening(
      {"to compute a score for each pair of tokens, to use the scores as\n"
       "weights, and to explain why such weights must not be negative",
       "S = T T^T   T (N, C): embeddings; S (N, N): scores;\n"
       "S(i, j) = sum over d of T(i, d) T(j, d); outputs: S T (N, C)",
       "dot-product score: Luong, Pham and Manning, Effective Approaches to\n"
       "Attention-based Neural Machine Translation, section 3.1, 2015\n"
       "rounding error: Goldberg, What Every Computer Scientist Should Know\n"
       "About Floating-Point Arithmetic, 1991",
       "T @ T.T, torch.dot, torch.allclose (compares floats as `check` does)"});
  const Array T = Generator(42).randn({3, 5});
  const Array scores = print_scores(T);
  explain_rounding();
  const Array S = multiply_by_transposed(T, scores);
  use_scores_as_weights(T, S);
  divide_rows(S);
  repeat(T);
  say("", "Lesson 03 explains why non-negative weights that sum to one bound the lengths.");
  task_of_the_bank();
  questions(
      "In `weights_without_negative_scores`, replace xt::maximum(scores, Real(0)) by\n"
      "xt::abs(scores). What is the largest length after six steps now?",
      "In main, make the embeddings twice as long: 2 * Generator(42).randn({3, 5}).\n"
      "By which factors do the scores S, the weights and the outputs S T change?",
      "In `dot_product`, declare `sum` as double. What is score(the, cat) now? How\n"
      "much do the lengths of steps 1 and 5 change?");
}
