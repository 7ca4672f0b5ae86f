// 01 averaging: the causal mean of token embeddings, by loops and as one matrix product.
//
// Before this lesson: nothing but C++ and a little linear algebra.
// After it: 02_naive_attention, in which the weights are computed from the embeddings.
// Worth a breakpoint: running_mean. Its inner loop adds one token at a time to `sum`.

#include "plane.hpp"

using namespace heed;  // Array: floats in any shape; Real: the type of one float

const Names words = {"the", "cat", "sat"};

// Row i of the result is the weighted sum of all rows of X: row t has the weight weights(i, t).
Array weighted_sums(const Array& weights, const Array& X) {
  Array sums = zeros({weights.shape(0), X.shape(1)});
  for (std::size_t i = 0; i < weights.shape(0); ++i)
    for (std::size_t t = 0; t < X.shape(0); ++t)
      for (std::size_t d = 0; d < X.shape(1); ++d) sums(i, d) += weights(i, t) * X(t, d);
  return sums;
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
  say("Random embeddings have no meaning. To measure how useful a summary of the",
      "context is, here are two texts, with embeddings made by hand:", "",
      "  the river and a bank floods the money and a bank lends",
      "  the money and a bank lends the river and a bank floods", "",
      "An embedding has two numbers: how much the word is about water, and how much",
      "about money. 'river' is (1, 0), 'money' is (0, 1), and the ambiguous word 'bank'",
      "is (0.5, 0.5). All other words are (0, 0). At each 'bank', the model predicts",
      "the next word from the summary c = (c0, c1) at this position:", "",
      "  p(floods) = exp(8 c0) / (exp(8 c0) + exp(8 c1)),   p(lends) = 1 - p(floods)", "",
      "exp is positive, so each probability lies between 0 and 1. p(floods) is 0.5 if",
      "c0 = c1, near 1 if c0 is much larger than c1, and near 0 if it is much smaller.",
      "The factor 8 is our choice.", "",
      "The LOSS of a prediction is -ln p(correct word), the negative log-likelihood, in",
      "nats (the unit of the natural logarithm). It is 0 if p is 1, ln 2 = 0.6931 if p",
      "is 0.5, and grows without bound as p approaches 0: a confident but wrong",
      "prediction has a large loss. A lower loss is better. The probability of a text",
      "is a product, so its -ln is the sum of the losses of its tokens.", "",
      "The table has the mean loss of all four 'bank's, and the losses at the first and",
      "at the second 'bank' of a text. The column 'longer texts' has the mean loss on",
      "the same texts with 'then' before each 'a bank', so the topic word is farther",
      "away. Nobody adapts a method to these texts: they test whether it works at other",
      "distances.");
  show_bank_losses(1, causal_mean_weights);
  say("", "A BIGRAM is a pair of neighbouring tokens. A bigram model predicts from the",
      "current token alone: here c is the embedding of 'bank', mixed with no other. It",
      "says nothing about the next word. Nor does the mean of all tokens, because each",
      "text is as much about water as about money. The causal mean helps at the first",
      "'bank', because only one topic came before it. At the second 'bank', both topics",
      "came before it: its loss is ln 2, the loss of a guess. Better weights would",
      "prefer the nearer topic.");
  draw_plane(causal_mean_weights);
  say("", "Each lesson up to 07 adds a row to this table.", "",
      "Nobody can choose weights by hand for every text. ATTENTION is a weighted sum",
      "whose weights are computed from the vectors themselves. The next lesson,",
      "02_naive_attention, computes such weights.", "", "To watch a sum grow:", "",
      "  gdb build/release/lessons/01_averaging", "  break running_mean", "  run", "  next",
      "  print sum", "",
      "Repeat next until you are in the inner loop. Then repeat the last two lines.");
}

void ask_questions() {
  questions(
      "In `causal_mean_weights`, replace the 0 of `first` by (t < 3 ? 0 : t - 3): a\n"
      "mean of the latest four tokens. What is the loss at each 'bank' now, and what\n"
      "is it on the longer texts? Why do they differ?",
      "In the line `Array causal_weights`, replace the first row by half, half, 0.\n"
      "Which check fails? Which token does position 0 use now that it must not use?",
      "In the line `Array X`, replace the seed 42 by 43. Which checks still hold?\n"
      "Why?");
}

int main() {
  opening(
      {"to compute, for each position of a text, the mean of the embeddings\n"
       "up to this position, and to compute all means as one matrix product",
       "M = A X   X (T, C): T embeddings of C numbers; A (T, T): weights;\n"
       "M (T, C): means. A(t, s) = 1 / (t + 1) for s <= t, otherwise 0\n"
       "(The sections below explain these words.)",
       "next-token prediction: Bengio et al., A Neural Probabilistic\n"
       "Language Model, section 1, 2003\n"
       "the causal mean in place of attention: Zhang, Xiong and Su,\n"
       "Accelerating Neural Transformer via an Average Attention\nNetwork, 2018",
       "torch.nn.Embedding, torch.tril, torch.matmul (A @ X)\n"
       "(PyTorch is a Python library for neural networks. This line names\n"
       "its functions for what the lesson computes.)"});

  section("Tokens and embeddings");
  say("The word 'bank' means one thing after 'river' and another after 'money'. To",
      "predict the word after it, a program must combine the information of several",
      "words. This lesson does so in the simplest way, by a mean.", "",
      "A MODEL is a program that computes predictions with many numbers, its",
      "PARAMETERS. Training changes the parameters until the predictions are good",
      "(lesson 07). A TOKEN is a unit of text that a model reads: a word, a part of a",
      "word, or a character. A LANGUAGE MODEL assigns a probability to each possible",
      "next token of a text: NEXT-TOKEN PREDICTION. That is enough to give a whole text",
      "a probability among all texts of its length, the product over its tokens:", "",
      "  p(the cat sat) = p(the) p(cat | the) p(sat | the cat)", "",
      "where p(a | b) is the probability of a after b. (Lesson 17 has another kind of",
      "language model.)", "",
      "A model represents each token by a vector, its EMBEDDING. The numbers of the",
      "embeddings are parameters. This lesson trains nothing: the numbers are random.",
      "(The generator computes them from its seed 42, so each run has the same.) The",
      "embeddings are the rows of a matrix X (T, C), with T = 3 tokens and the width", "C = 5.");
  Array X = Generator(42).randn({3, 5});
  show("X", X, words);

  section("The mean of two embeddings");
  say("An embedding depends on its own token only. A model that predicts the next token",
      "needs the whole CONTEXT: all tokens that the prediction may depend on. The",
      "simplest summary of several vectors is their mean. It is again a vector of five", "numbers.",
      "", "Each result is computed twice: by hand, with loops, and in one line, with matrix",
      "operations of the library xtensor or of heed, the library of these lessons. The",
      "output has some marks:", "",
      "  `same: by hand = in one line`  the two results differ by at most 0.00001",
      "  `holds: ...`                   the program has tested this statement",
      "  `~0.98`, and lines after `|`   may differ a little on another machine");
  Array mean2_by_hand = zeros({5});
  for (std::size_t d = 0; d < 5; ++d) mean2_by_hand(d) = (X(0, d) + X(1, d)) / 2;
  Array mean2 = (xt::row(X, 0) + xt::row(X, 1)) / 2;
  show("mean of 'the' and 'cat'", mean2);
  check("by hand = in one line", mean2_by_hand, mean2);

  section("The mean of three embeddings");
  say("A WEIGHTED SUM multiplies each vector by a number, its weight, and adds the",
      "products. The mean of three vectors is a weighted sum: each weight is 1/3.");
  Array mean3_by_hand = zeros({5});
  for (std::size_t t = 0; t < 3; ++t)
    for (std::size_t d = 0; d < 5; ++d) mean3_by_hand(d) += X(t, d) / 3;
  Array mean3 = (xt::row(X, 0) + xt::row(X, 1) + xt::row(X, 2)) / 3;
  show("mean of 'the', 'cat' and 'sat'", mean3);
  check("by hand = in one line", mean3_by_hand, mean3);

  section("Both means as one matrix product");
  say("Write the weights of each mean into one row of a matrix. The product of this",
      "matrix and X then contains both means, one in each row.");
  const Real half = Real(1) / 2, third = Real(1) / 3;
  Array weights = {{half, half, 0}, {third, third, third}};
  Array means = xt::linalg::dot(weights, X);  // (2, 3) times (3, 5) is (2, 5)
  show("weights", weights, {"mean of two", "mean of three"}, words);
  check("by hand = in one line", weighted_sums(weights, X), means);
  check("row 0 = the mean of two", xt::row(means, 0), mean2);
  check("row 1 = the mean of three", xt::row(means, 1), mean3);

  section("The causal mean");
  say("When a language model writes a text, later tokens do not exist yet. So it must",
      "not use them in training either (lesson 08). Therefore the mean at position t",
      "includes positions 0 to t only. This is a CAUSAL MEAN. Its weights form a lower",
      "triangular matrix: every weight right of the diagonal is zero.", "",
      "Row t has the weights for the mean at position t. Attention (lesson 03) calls",
      "the position of a row the query position, that of a column the key position.");
  Array causal_weights = {{1, 0, 0}, {half, half, 0}, {third, third, third}};
  Array causal_means = xt::linalg::dot(causal_weights, X);  // (3, 5), all three means at once
  show("causal weights A (rows: query position, columns: key position)", causal_weights, words,
       words);
  show("causal means M = A X", causal_means, words);
  check("a running mean, by hand = in one line", running_mean(X), causal_means);
  check("its last row = the mean of three", xt::row(causal_means, 2), mean3);

  task_of_the_bank();
  ask_questions();
}
