// variants.hpp: variants of the attention of lesson 03: cosine scores, reordered tokens, softmax
// over the wrong axis, free parameters of nodes, and the task of the bank.
#pragma once

#include <cmath>

#include "bank.hpp"
#include "graphs.hpp"
#include "lesson.hpp"

namespace heed {

inline void cosine_scores(const Array& guest_scores, const Names& senders) {
  section("Other scores: cosine and additive");
  say("You may skip this section. A longer key has a larger dot product in size. The",
      "singer's key is twice as long as the drummer's. COSINE SIMILARITY is the dot",
      "product divided by both lengths: only the directions count. It lies between -1",
      "and 1, so no weight is more than e^2 = 7.4 times another. Softmax of beta times",
      "the cosine has more unequal weights if beta is above 1 (Graves et al., \"Neural",
      "Turing Machines\", 2014, section 3.3.1). For large beta it approaches argmax,",
      "which gives all weight to the largest scores. So softmax is a smooth argmax; 1 /",
      "beta is called its temperature (lesson 15).");
  Array lengths = {1, 2, 1};               // of the keys of cook, singer and drummer
  Array cosines = guest_scores / lengths;  // the guest's query has length 1
  for (const auto& [name, scores] : {std::pair<std::string, Array>{"dot product", guest_scores},
                                     {"cosine, beta 1", cosines},
                                     {"cosine, beta 5", 5 * cosines}})
    show("weights by " + name, softmax(Tensor(scores), 0), {}, senders);
  say("", "Attention came to translation with Bahdanau, Cho and Bengio, Neural Machine",
      "Translation by Jointly Learning to Align and Translate, 2014. Their score of a",
      "query q and a key k is v . tanh(W q + U k), with parameters W, U (matrices) and",
      "v (a vector). Vaswani et al. (Attention Is All You Need, 2017, section 3.2.1)",
      "call it additive: an ADDITIVE SCORE. Dot products take less time in practice,",
      "because they are one matrix product.");
}

// The scores where allowed is 1, minus infinity where it is 0.
inline Array masked(const Array& scores, const Array& allowed) {
  return xt::where(allowed > 0, scores, -INFINITY);
}

// Softmax of the dot products of the rows of X, times X.
inline Array self_attention(const Array& X) {
  const Tensor x(X);
  return matmul(softmax(matmul(x, transpose(x, 0, 1)), -1), x).value();
}

inline void reordered_tokens(const Array& X, const Names& words) {
  section("A complete graph has no order");
  say("Change the order of the tokens to 'sat the cat'. On the complete graph, each",
      "token keeps its output. Only the order of the rows changes, as that of the",
      "tokens did. This property is called PERMUTATION EQUIVARIANCE. The proof: the",
      "tokens in another order are P X, where P is the identity matrix with its rows in",
      "this order. Their scores are (P X) (P X)^T = P S P^T: S with its rows and its",
      "columns in this order. Softmax treats each row alone, so other rows give the",
      "same weights in other rows. Other columns reorder the scores of a row, whose sum",
      "of exp stays the same. So softmax(P S P^T) = P softmax(S) P^T, and", "",
      "  softmax(P S P^T) P X = P softmax(S) P^T P X = P softmax(S) X", "",
      "because P^T P is the identity. So attention without a mask cannot use the word",
      "order. Lesson 11 adds positions.");
  Array U = xt::view(X, xt::keep(2, 0, 1), xt::all());  // sat, the, cat
  const Array before = self_attention(X), after = self_attention(U);
  show("output of 'the cat sat'", before, words);
  show("output of 'sat the cat'", after, {"sat", "the", "cat"});
  check("the same rows in another order", after, xt::view(before, xt::keep(2, 0, 1), xt::all()));
}

inline void softmax_over_the_wrong_axis(const Array& S, const Array& causal, const Names& words) {
  section("Softmax over the wrong axis");
  say("Here is a mistake that no error message reports. Softmax sums over the keys,",
      "along each row: dim=-1 in PyTorch. With dim=0 it sums over the queries, along",
      "each column, and the weights are wrong. Let every allowed score be 1. Then the",
      "correct attention weights are those of the causal mean (lesson 01).");
  Array equal = masked(ones({3, 3}), causal);
  Array right = softmax(Tensor(equal), 1).value(), wrong = softmax(Tensor(equal), 0).value();
  const Real half = Real(1) / 2, third = Real(1) / 3;
  Array formula = {{third, 0, 0}, {third, half, 0}, {third, half, 1}};
  show("softmax along rows", right, words, words);
  show("softmax along columns", wrong, words, words);
  show("row sums after softmax along columns", xt::sum(wrong, {1}), {}, words);
  check("1 / (3 - j) by hand = softmax along columns", formula, wrong);
  say("", "Column j sums to one over the 3 - j queries that may attend to key j. The rows",
      "do not sum to one. With the scores S of the tokens the error is similar: only",
      "the query 'sat' may attend to the key 'sat', so this weight is 1 for any score.");
  show("softmax along columns, scores S", softmax(Tensor(masked(S, causal)), 0), words, words);
}

// Trains a key, a query and a value for each node, from random numbers, until the outputs (5, 2)
// are close to `target`. Returns the mean squared error after 0, 1, ... `steps` steps.
inline Series train_free_parameters(const Array& mask, const Array& target, int steps) {
  Generator g(4);
  // `true`: backward computes the derivatives of the loss with respect to these (lesson 05). AdamW
  // (lesson 07) changes them, with the learning rate 0.05 and without weight decay (the last 0).
  Tensor Q(g.randn({5, 2}), true), K(g.randn({5, 2}), true), V(g.randn({5, 2}), true);
  optim::AdamW optimizer({Q, K, V}, {0.05, 0.9, 0.999, 1e-8, 0});
  Series errors{"outputs of the feast", {}, {}};
  for (int step = 0; step <= steps; ++step) {
    Tensor scores = masked_fill(matmul(Q, transpose(K, 0, 1)), xt::equal(mask, 0), -INFINITY);
    Tensor error = matmul(softmax(scores, -1), V) - Tensor(target);  // (5, 2)
    Tensor loss = mean(error * error);
    errors.append(step, loss.item());
    optim::zero_grad({Q, K, V});
    backward(loss);
    optimizer.step();
  }
  return errors;
}

inline void free_parameters(const Array& mask, const Array& output) {
  section("Keys, queries and values that are learned");
  say("Nobody has to invent the three vectors. Begin with random ones for each node:",
      "thirty numbers. Then training (lesson 07) changes them until the outputs are",
      "close to those of the feast. (Eight of the thirty cannot change an output, such",
      "as the baker's query and the guest's value. They keep their random values.) The",
      "mean squared error is the mean of the squared differences between the outputs",
      "and those of the feast:", "");
  const Series errors = train_free_parameters(mask, output, 300);
  const double after = errors.y.back();
  say("mean squared error, random vectors  " + trained(errors.y.front()),
      "after 300 steps                     " + trained(after));
  claim("the error is below 0.01", after < 0.01, decimal(after, 4));
  loss_curves("mean squared error", {errors});
  say("", "This shows only that training can change all three kinds of vectors. Each vector",
      "belongs to one node: a new guest would have none, and in a text every sentence",
      "has other nodes. So a model learns matrices instead, which compute the three",
      "vectors of any token from its embedding (lesson 04).");
}

inline void show_losses_with_another_factor() {
  for (const std::string name :
       {"causal mean", "dot products / row sum", "softmax of dot products"})
    say("  " + pad_right(name, 25) + decimal(bank_loss_of_row(name, 100), 4));
}

// Takes the weights of this lesson.
inline void task_of_the_bank(const BankWeights& weights_of) {
  section("The task of the bank");
  say("Now the weights are the softmax of the scores of lesson 02.");
  show_bank_losses(3, weights_of);
  say("", "exp(0) is 1, so words with the score 0 have weights too, and the loss at the",
      "first 'bank' is higher than in lesson 02. At the second 'bank', 'river' and",
      "'money' have the same score, so no softmax of these scores separates the topics.",
      "With the factor 100 in place of 8, the weights of lessons 01, 02 and 03 all have",
      "a loss near 0 at the first 'bank' and ln 2 at the second. So on texts of this",
      "length these methods do not differ. The mean losses with this factor:", "");
  show_losses_with_another_factor();
  say("", "Lesson 04 computes a query, a key and a value for each token.", "",
      "To watch softmax (next until you are in a loop, then next and print sum):", "",
      "  gdb build/release/lessons/03_graph_attention", "  break softmax_by_hand", "  run",
      "  next", "  print sum");
}

}  // namespace heed
