// 02 naive_attention: dot products of embeddings as scores, and scores as weights.
//
// Before this lesson: 01_averaging, in which all weights of a mean were equal.
// After it: 02b_matmul_views, four ways to read the product of two matrices.
// Worth a breakpoint: dot_product. With `next`, `sum` grows by one product at a time.

#include <cmath>

#include "bank.hpp"
#include "helpers.hpp"

using namespace heed;

const Names words = {"the", "cat", "sat"};

Real dot_product(const Array& a, const Array& b) {
  Real sum = 0;
  for (std::size_t d = 0; d < a.size(); ++d) {
    sum += a(d) * b(d);
  }
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
Array scores_by_hand(const Array& X) {
  Array scores = zeros({X.shape(0), X.shape(0)});
  for (std::size_t i = 0; i < X.shape(0); ++i)
    for (std::size_t j = 0; j < X.shape(0); ++j)
      scores(i, j) = dot_product(xt::view(X, i), xt::view(X, j));
  return scores;
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

Array print_scores(const Array& X) {
  section("A score for each pair of tokens");
  say("Some tokens of the context matter more than others. A first idea: a token",
      "matters more if its embedding is similar to that of the query position. The DOT",
      "PRODUCT measures this. It multiplies two vectors element by element and adds the",
      "products. Here the dot product of two embeddings is the SCORE of the two tokens.",
      "It is large for two long vectors of the same direction, zero for two orthogonal",
      "vectors, and negative if the angle between them is above 90 degrees. (Long means",
      "a large Euclidean length, the root of the dot product of a vector with itself.)", "",
      "A model that writes a text must not use later tokens (lesson 01). The next",
      "sections use all tokens, as a model can that reads a complete text (lesson 17).",
      "The task of the bank at the end uses no later tokens.");
  show("X: the embeddings of lesson 01", X, words);
  say("");
  const Array scores = scores_by_hand(X);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      say("score(" + words[i] + ", " + words[j] + ")  " + pad_left(decimal(scores(i, j), 10), 13));
  return scores;
}

Array multiply_by_transposed(const Array& X, const Array& scores) {
  section("All scores as one matrix product");
  say("The nine dot products are one matrix product: S = X X^T, where X^T is X",
      "TRANSPOSED: its rows are the columns of X, so element (i, j) of X^T is X(j, i).",
      "Row i of S has the scores of the query position i with all key positions.");
  Array S = xt::linalg::dot(X, xt::transpose(X));  // (3, 5) times (5, 3) is (3, 3)
  show("S = X X^T (rows: query position, columns: key position)", S, words, words);
  check("nine scores by hand = in one line", scores, S);
  return S;
}

void use_scores_as_weights(const Array& X, const Array& S) {
  section("Scores as weights");
  say("Lesson 01 asked for weights that are computed from the vectors. The scores are a",
      "first try. The output for 'the' is S(0, 0) times 'the' plus S(0, 1) times 'cat'",
      "plus S(0, 2) times 'sat'. All three outputs are one more matrix product, S X.");
  Array outputs = xt::linalg::dot(S, X);  // (3, 3) times (3, 5) is (3, 5)
  show("outputs S X", outputs, words);
  check("by hand = in one line", weighted_sums(S, X), outputs);
}

void divide_rows(const Array& S) {
  section("Weights that sum to one");
  say("The output of 'sat' is six times as long as its embedding, and the weights in",
      "its row of S sum to 7.2. The weights of a mean sum to one. So divide each row of",
      "S by its sum.");
  Array row_sums = xt::sum(S, {1});
  Array weights = S / xt::view(row_sums, xt::all(), xt::newaxis());  // (3) becomes (3, 1)
  show("row sums of S", row_sums, {}, words);
  show("weights (rows: query position, columns: key position)", weights, words, words);
  check("by hand = in one line", divide_by_row_sums(S), weights);
}

using WeightsOf = Array(const Array& scores);
// X after so many rounds of attention.
Array after_rounds(Array X, std::size_t rounds, WeightsOf weights_of) {
  for (std::size_t r = 0; r < rounds; ++r) X = weighted_sums(weights_of(scores_by_hand(X)), X);
  return X;
}

// Row r of the result has the lengths of the rows of X after r rounds of attention.
Array lengths_over_rounds(const Array& X, std::size_t rounds, WeightsOf weights_of) {
  Array lengths = zeros({rounds + 1, X.shape(0)});
  for (std::size_t r = 0; r <= rounds; ++r)
    xt::view(lengths, r) = lengths_of(after_rounds(X, r, weights_of));
  return lengths;
}

void repeat(const Array& X) {
  section("Seven rounds");
  say("A model applies attention several times, each time to the previous outputs. If",
      "the vectors became much longer each time, the scores would soon be too large for",
      "a float. Do weights that sum to one prevent this? Each round computes new scores",
      "from the current vectors, divides each row by its sum, and computes the weighted", "sums.");
  Names rows;
  for (int r = 0; r < 8; ++r) rows.push_back("round " + std::to_string(r));
  const Array lengths = lengths_over_rounds(X, 7, divide_by_row_sums);
  show("lengths, weights = scores / row sum", lengths, rows, words);
  const auto weights_in_round = [&](std::size_t r) {
    return divide_by_row_sums(scores_by_hand(after_rounds(X, r - 1, divide_by_row_sums)));
  };
  const Array five = after_rounds(X, 5, divide_by_row_sums), scores = scores_by_hand(five);
  const Array lengths5 = lengths_of(five), cosines = scores / xt::linalg::outer(lengths5, lengths5);
  explain_lengths(weights_in_round(5), weights_in_round(6), xt::amin(xt::abs(cosines))());
  say("", "Now replace each negative score by zero before the division. (The row sums are",
      "then positive: the score of a vector with itself is its squared length.)");
  const Array bounded = lengths_over_rounds(X, 7, weights_without_negative_scores);
  show("lengths, weights = max(score, 0) / row sum", bounded, rows, words);
  claim("no length exceeds that of 'sat' at round 0", xt::amax(bounded)() <= bounded(0, 2),
        decimal(xt::amax(bounded)(), 4));
  draw_lengths(lengths, bounded);
  say("", "Lesson 02 explains why non-negative weights that sum to one bound the lengths.");
}

void task_of_the_bank() {
  section("The task of the bank");
  say("Now the weights are the scores of 'bank' with the tokens up to 'bank', divided",
      "by their sum. The score is 0.5 for 'river', 'money' and 'bank', and 0 for all",
      "other words. A row without a positive score gets the weights zero.");
  show_bank_losses(2, [](const BankText& text) {  // tril: no weight for later positions
    return weights_without_negative_scores(xt::tril(scores_by_hand(text.X)));
  });
  say("", "At the first 'bank' only the topic word and 'bank' have a weight. At the second",
      "'bank' both topics have the same weight: still the loss of a guess. The smaller",
      "loss at the first 'bank' says little, as it depends on our factor 8: c0 and c1",
      "differ by 1/5 there for the causal mean and by 1/2 here. So with the factor 20",
      "the causal mean has the loss 0.0181, too (20/5 = 8/2). The longer texts show a",
      "difference: words with the score 0 have no weight, so the loss does not grow.", "",
      "To watch a score grow (repeat the last two lines):", "",
      "  gdb build/release/lessons/02_naive_attention", "  break dot_product", "  run", "  next",
      "  print sum");
}

int main() {
  opening(
      {"to compute a score for each pair of tokens, to use the scores as\n"
       "weights, and to show what negative weights can do",
       "S = X X^T   X (T, C): embeddings; S (T, T): scores;\n"
       "S(i, j) = sum over d of X(i, d) X(j, d); outputs: S X (T, C)",
       "dot-product score: Luong, Pham and Manning, Effective Approaches to\n"
       "Attention-based Neural Machine Translation, section 3.1, 2015\n"
       "rounding error: Goldberg, What Every Computer Scientist Should Know\n"
       "About Floating-Point Arithmetic, 1991",
       "X @ X.T, torch.dot, torch.allclose(a, b, rtol=0, atol=1e-5)"});
  const Array X = Generator(42).randn({3, 5});
  const Array scores = print_scores(X);
  explain_rounding();
  const Array S = multiply_by_transposed(X, scores);
  use_scores_as_weights(X, S);
  divide_rows(S);
  repeat(X);
  task_of_the_bank();
  questions(
      "In `weights_without_negative_scores`, replace xt::maximum(scores, Real(0)) by\n"
      "xt::abs(scores). What is the largest length after round 6 now?",
      "In main, make the embeddings twice as long: 2 * Generator(42).randn({3, 5}).\n"
      "By which factors do the scores S, the weights and the outputs S X change?",
      "In `dot_product`, declare `sum` as double. What is score(the, cat) now? How\n"
      "much do the lengths of rounds 1 and 5 change?");
}
