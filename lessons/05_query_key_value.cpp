// 05 query_key_value: a token asks with one vector, answers with another, hands over a third.
//
// Before this lesson: 04_graph_attention, which gave the three roles their names.
// After it: 06_scaling_and_saturation, why scores are divided by a square root.
// Worth a breakpoint: heard_by, all of attention for one token. Go on with `next`.

#include <cmath>
#include <limits>

#include "heed/ops/arithmetic.hpp"
#include "heed/ops/attention.hpp"
#include "heed/ops/mask.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/shape.hpp"
#include "heed/ops/softmax.hpp"
#include "lesson.hpp"

using namespace heed;

const Names words = {"the", "cat", "sat"};
const Real infinity = std::numeric_limits<Real>::infinity();

// Element (i, j): the dot product of row i of a and column j of b.
Array product(const Array& a, const Array& b) {
  Array c = zeros({a.shape(0), b.shape(1)});
  for (std::size_t i = 0; i < a.shape(0); ++i)
    for (std::size_t j = 0; j < b.shape(1); ++j)
      for (std::size_t d = 0; d < b.shape(0); ++d) c(i, j) += a(i, d) * b(d, j);
  return c;
}

// What token i hears: its query meets the keys of tokens 0 to i, and mixes their values. (Scores
// as small as ours need no largest one subtracted.)
Array heard_by(std::size_t i, const Array& Q, const Array& K, const Array& V) {
  std::vector<Real> e(i + 1);  // exp(score); divided by their total they are the shares
  Real total = 0;
  for (std::size_t t = 0; t <= i; ++t) {
    Real score = 0;
    for (std::size_t d = 0; d < K.shape(1); ++d) score += Q(i, d) * K(t, d);
    e[t] = std::exp(score / std::sqrt(Real(K.shape(1))));
    total += e[t];
  }
  Array heard = zeros({V.shape(1)});
  for (std::size_t t = 0; t <= i; ++t)
    for (std::size_t d = 0; d < V.shape(1); ++d) heard(d) += e[t] / total * V(t, d);
  return heard;
}

// The length of the arrow from one vector to the other.
std::string distance_between(const Array& a, const Array& b) {
  Real squares = 0;
  for (std::size_t d = 0; d < a.size(); ++d) squares += (a(d) - b(d)) * (a(d) - b(d));
  return decimal(std::sqrt(squares), 4);
}

int main() {
  section("Why nobody could ask");
  say("In lesson 04 'cat' and 'sat' still heard little but themselves. Here are the",
      "scores once more, as they were in lesson 02:");
  Generator g(42);
  Array T = g.randn({3, 5});
  Array S = product(T, xt::transpose(T));  // (3, 3)
  show("T times T transposed", S, words, words);
  say("", "A token's score with itself is its squared length, so the diagonal is large. And",
      "'the' scores 'cat' as 'cat' scores 'the'. A token has one vector both for asking",
      "and for answering, so all it can ask for is more of what it is itself.");

  section("Asking and offering");
  say("At lesson 04's feast each had a key, what it is, and a query, what it looks for.",
      "So let each token make both out of its vector, with two matrices:", "",
      "  key    T W_K   what the token offers: the label on a box. It is the supply.",
      "  query  T W_Q   what the token asks for. It is the demand.", "",
      "(Some texts have it the other way round, the query as supply and the key as",
      "demand. That is a slip: who asks has the demand.) A model learns both matrices.",
      "Ours are random here, the next numbers of the generator that made T.");
  Array W_K = g.randn({5, 4}), W_Q = g.randn({5, 4});
  say("", "From here on, one line is a line of Tensors, known from lesson 03: Arrays with a",
      "memory. For now x.value() is all we need of one: the Array in it.");
  Tensor K = matmul(Tensor(T), Tensor(W_K));  // (3, 5) times (5, 4) is (3, 4)
  Tensor Q = matmul(Tensor(T), Tensor(W_Q));  // (3, 4)
  show("K", K, words);
  check("by hand = in one line", product(T, W_K), K);
  show("Q", Q, words);
  check("by hand = in one line", product(T, W_Q), Q);

  section("Who asks is not who answers");
  say("A score is now the product of a query and a key. Row i says whom token i",
      "asks for, column j how token j answers to each of them.");
  Tensor scores = matmul(Q, transpose(K, 0, 1));  // (3, 4) times (4, 3) is (3, 3)
  show("scores", scores, words, words);
  check("by hand = in one line", product(Q.value(), xt::transpose(K.value())), scores);
  say("", "                    lesson 02       now");
  const std::size_t pairs[][2] = {{0, 1}, {1, 0}, {2, 2}};
  for (const auto& [i, j] : pairs)
    say("'" + words[i] + "' asks '" + words[j] + "'    " + pad_left(decimal(S(i, j), 4), 9) + " " +
        pad_left(decimal(scores.value()(i, j), 4), 9));
  say("", "The two directions differ, and the diagonal is nothing special any more. Between",
      "the tokens stands one matrix, W_Q times W_K transposed. In lesson 02, when every",
      "token asked and answered with its own vector, that was the identity.");
  Array between = product(W_Q, xt::transpose(W_K));  // (5, 4) times (4, 5) is (5, 5)
  check("T (W_Q W_K^T) T^T = scores", product(product(T, between), xt::transpose(T)), scores);

  section("From scores to shares");
  say("Three steps. Divide by the square root of how many numbers a key has: here 4, so",
      "by 2. Lesson 06 is about why. Hide what comes later, with minus infinity: lesson",
      "07 is about why. Then softmax, from lesson 04, turns each row into shares.");
  Tensor scaled = scores / std::sqrt(4.0);
  Tensor masked = masked_fill(scaled, causal_mask(3), -infinity);
  Tensor weights = softmax(masked, -1);
  show("scaled", scaled, words, words);
  show("masked", masked, words, words);
  show("weights", weights, words, words);
  Array e = xt::exp(masked.value());  // e^-infinity is 0
  Array totals = xt::sum(e, {1});
  Array by_hand = e / xt::view(totals, xt::all(), xt::newaxis());  // the totals as a column
  check("by hand = in one line", by_hand, weights);
  picture("05_query_key_value", "weights", weights, {"weights", words, words, "asks", "answers"});
  const Array before = softmax(Tensor(S), -1).value();
  say("", "what 'sat' gives itself, with lesson 04's scores  " + decimal(before(2, 2), 4),
      "what 'sat' gives itself, now                      " + decimal(weights.value()(2, 2), 4), "",
      "That is luck, of course: other random matrices would give another answer.");

  section("What is handed over");
  say("The key says what is in the box. What is in it, the value, may be something",
      "else again: a third matrix makes it. Each token hears a mixture of the values,",
      "by its shares: R.");
  Array W_V = g.randn({5, 4});
  Tensor V = matmul(Tensor(T), Tensor(W_V));  // (3, 4)
  Tensor R = matmul(weights, V);              // (3, 3) times (3, 4) is (3, 4)
  show("V", V, words);
  check("by hand = in one line", product(T, W_V), V);
  show("R", R, words);
  check("by hand = in one line", product(by_hand, V.value()), R);
  check("'the' hears only itself", xt::row(R.value(), 0), xt::row(V.value(), 0));
  say("", "All of it, for one token in heard_by, for all in the function that models call:");
  AttentionOptions options;
  options.causal = true;  // hides what comes later
  Tensor heard = scaled_dot_product_attention(Q, K, V, options);
  check("heard_by for 'sat' = row 2 of R", heard_by(2, Q.value(), K.value(), V.value()),
        xt::row(R.value(), 2));
  check("R = in one function", R, heard);

  section("A token that knows what it wants");
  say("Random matrices ask for random things. So let us set them. Say a token is known",
      "by its kind alone, and offers just that: W_K is the identity. W_Q has a row for",
      "each kind that asks and a column for what it asks for: a noun for an article, a",
      "verb for a noun, each with a ten, for 'very much'. An article asks for nothing.",
      "No mask this time.");
  const Names kinds = {"article", "noun", "verb"};
  Array kind = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};  // of 'the', 'cat' and 'sat'
  Array asks = {{0, 0, 0}, {10, 0, 0}, {0, 10, 0}};
  show("W_Q", asks, kinds, kinds);
  Tensor queries = matmul(Tensor(kind), Tensor(asks)), keys = Tensor(kind);  // (3, 3) both
  Tensor shares = attention_weights(queries, keys);  // softmax(queries keys^T / sqrt(3))
  picture("05_query_key_value", "asked", shares, {"shares", words, words, "asks", "answers"});
  const Real wanted = std::exp(10 / std::sqrt(Real(3)));  // the others have e^0 = 1
  const Real one = wanted / (wanted + 2), rest = 1 / (wanted + 2), third = Real(1) / 3;
  Array expected = {{third, third, third}, {one, rest, rest}, {rest, one, rest}};
  show("shares", shares, words, words);
  check("by hand = in one line", expected, shares);

  section("Who sat?");
  say("Let the tokens hand over their vectors of lesson 01: V = T. (In a trained model",
      "kind and meaning lie in one vector; W_K and W_V pick them out.) Then 'the', who",
      "asks for nothing, hears the plain mean. And 'sat', who asks for a noun?");
  Tensor answers = matmul(shares, Tensor(T));  // (3, 5)
  Array mean = xt::mean(T, {0}), cat = xt::row(T, 1);
  Array chosen = Real(0.1) * xt::row(T, 0) + Real(0.7) * cat + Real(0.2) * xt::row(T, 2);
  check("'the' hears lesson 01's mean of three", xt::row(answers.value(), 0), mean);
  say("", "distance to 'cat', equal weights   " + distance_between(mean, cat),
      "distance to 'cat', chosen weights  " + distance_between(chosen, cat),
      "distance to 'cat', asked for       " + distance_between(xt::row(answers.value(), 2), cat));
  say("", "It hears the cat. Nobody chose weights for this sentence: the matrices hold a",
      "rule, 'a verb asks for a noun'. But why a ten, and not a one or a thousand? Why",
      "divide by a square root? That is the next lesson: 06_scaling_and_saturation.", "",
      "To watch one token ask: gdb build/release/lessons/05_query_key_value, and in it:",
      "break heard_by, run, next until you are in a loop; there next and print e.");
}
