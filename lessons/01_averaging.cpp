// 01 averaging: a token's surroundings as one vector, the mean of itself and its neighbours.
//
// Before this lesson: nothing but C++ and a little linear algebra.
// After it: 02_naive_attention, in which tokens choose for themselves whom to listen to.
// Worth a breakpoint: running_mean. In its loop, `sum` takes in a token at a time.

#include <cmath>

#include "lesson.hpp"

using namespace heed;  // Array: a block of floats of any shape; Real: one of them

const Names words = {"the", "cat", "sat"};

// Row i of the result: the sum, over all t, of weights(i, t) times row t of T.
Array weighted_sums(const Array& weights, const Array& T) {
  Array sums = zeros({weights.shape(0), T.shape(1)});
  for (std::size_t i = 0; i < weights.shape(0); ++i)
    for (std::size_t t = 0; t < T.shape(0); ++t)
      for (std::size_t d = 0; d < T.shape(1); ++d) sums(i, d) += weights(i, t) * T(t, d);
  return sums;
}

// Row t of the result: the mean of T's rows 0 to t.
Array running_mean(const Array& T) {
  Array means = zeros({T.shape(0), T.shape(1)});
  for (std::size_t d = 0; d < T.shape(1); ++d) {
    Real sum = 0;
    for (std::size_t t = 0; t < T.shape(0); ++t) {
      sum += T(t, d);
      means(t, d) = sum / Real(t + 1);
    }
  }
  return means;
}

// The length of the arrow from one vector to the other.
Real distance_between(const Array& a, const Array& b) {
  Real squares = 0;
  for (std::size_t d = 0; d < a.size(); ++d) squares += (a(d) - b(d)) * (a(d) - b(d));
  return std::sqrt(squares);
}

int main() {
  section("Three tokens");
  say("Attention is an average with well-chosen weights. We begin with the plain one.", "",
      "A language model reads a text as tokens: words, or pieces of words.",
      "It knows each token by a vector, a short list of numbers. Here are three tokens",
      "of five numbers each. A trained model has learned its numbers; ours are random.");
  Array T = Generator(42).randn({3, 5});
  show("T", T, words);

  section("The mean of two");
  say("On its own a vector knows nothing of the words around it. The simplest summary",
      "of a few vectors is again a vector of five numbers: their mean.");
  Array mean2_by_hand = zeros({5});
  for (std::size_t d = 0; d < 5; ++d) mean2_by_hand(d) = (T(0, d) + T(1, d)) / 2;
  Array mean2 = (xt::row(T, 0) + xt::row(T, 1)) / 2;
  show("mean of 'the' and 'cat'", mean2);
  check("by hand = in one line", mean2_by_hand, mean2);

  section("The mean of three");
  say("Three vectors, the same idea. Each counts a third.");
  Array mean3_by_hand = zeros({5});
  for (std::size_t t = 0; t < 3; ++t)
    for (std::size_t d = 0; d < 5; ++d) mean3_by_hand(d) += T(t, d) / 3;
  Array mean3 = (xt::row(T, 0) + xt::row(T, 1) + xt::row(T, 2)) / 3;
  show("mean of 'the', 'cat' and 'sat'", mean3);
  check("by hand = in one line", mean3_by_hand, mean3);

  section("The same, as a matrix");
  say("Write down how much each token counts, one row for each mean. These are the",
      "weights. The means are then one product of matrices: weights times T.");
  const Real half = Real(1) / 2, third = Real(1) / 3;
  Array weights = {{half, half, 0}, {third, third, third}};
  Array means = xt::linalg::dot(weights, T);  // (2, 3) times (3, 5) is (2, 5)
  show("weights", weights, {"mean of two", "mean of three"}, words);
  show("weights T", means, {"mean of two", "mean of three"});
  check("by hand = in one line", weighted_sums(weights, T), means);
  check("row 0 = the mean of two", xt::row(means, 0), mean2);
  check("row 1 = the mean of three", xt::row(means, 1), mean3);

  section("Looking back");
  say("A model that writes has only the past to go by. So token t gets the mean of the",
      "tokens 0 to t. Such weights are called causal: nothing right of the diagonal.");
  Array causal = {{1, 0, 0}, {half, half, 0}, {third, third, third}};
  Array past = xt::linalg::dot(causal, T);  // (3, 5), all three means at once
  show("causal", causal, words, words);
  show("causal T", past, words);
  check("a running mean, by hand = in one line", running_mean(T), past);
  check("its last row = the mean of three", xt::row(past, 2), mean3);

  section("A picture of who listens to whom");
  say("One row for each token that listens, one column for each it can listen to.");
  picture("01_averaging", "causal", causal, {"causal weights", words, words, "who", "to whom"});

  section("Is the mean good enough?");
  say("Who sat? The cat. A good summary for 'sat' would lie near the vector of 'cat'.",
      "The mean cannot know: every token counts the same, whatever it says. Let us",
      "weigh the three by hand: 0.1 for 'the', 0.7 for 'cat', 0.2 for 'sat'.");
  Array chosen = {Real(0.1), Real(0.7), Real(0.2)};
  Array summary = xt::linalg::dot(chosen, T);  // (3) times (3, 5) is (5)
  Array cat = xt::row(T, 1);
  say("", "distance to 'cat', equal weights   " + decimal(distance_between(mean3, cat), 4),
      "distance to 'cat', chosen weights  " + decimal(distance_between(summary, cat), 4), "",
      "Half as far. But nobody can choose weights by hand for every sentence. In the",
      "next lesson the tokens choose them: 02_naive_attention.", "",
      "To watch a sum being made: gdb build/release/lessons/01_averaging, and in it:",
      "break running_mean, run, next until you are in the inner loop, then next and",
      "print sum, a few times.");
}
