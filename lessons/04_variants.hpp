// 04_variants.hpp: the graphs of lesson 04, and variants of its attention: cosine scores, reordered
// tokens, softmax over the wrong axis, and free parameters of nodes.
#pragma once

#include <cmath>

#include "bank.hpp"
#include "heed/report/table.hpp"
#include "lesson.hpp"

namespace heed {

// Draws the attention weights as arrows between the nodes.
inline void draw_graph(const std::string& name, const Array& weights, const Names& nodes) {
  picture("04_graph_attention", name + "_graph", weighted_graph(weights, nodes));
}

// Draws the arrows of a mask, without weights.
inline void draw_arrows(const std::string& name, const Array& mask, const Names& nodes) {
  std::string dot = "digraph {\n  node [shape=box, style=rounded, fontname=\"sans-serif\"]\n";
  for (const std::string& node : nodes) dot += "  " + node + "\n";
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (std::size_t j = 0; j < nodes.size(); ++j)
      if (mask(i, j) > 0) dot += "  " + nodes[j] + " -> " + nodes[i] + "\n";
  picture("04_graph_attention", name, dot + "}\n");
}

// Draws the weights (3, 3) of two graphs with the same nodes side by side.
inline void draw_two_graphs(const Array& left, const Array& right, const Names& nodes) {
  Array both = zeros({6, 6});
  xt::view(both, xt::range(0, 3), xt::range(0, 3)) = left;
  xt::view(both, xt::range(3, 6), xt::range(3, 6)) = right;
  Names twice = nodes;
  twice.insert(twice.end(), nodes.begin(), nodes.end());
  std::string dot = weighted_graph(both, twice);
  dot.erase(dot.rfind('}'));
  dot +=
      "  fontname=\"sans-serif\"\n"
      "  subgraph cluster_0 { label=\"complete graph\"; color=\"#CCCCCC\"; n0 n1 n2 }\n"
      "  subgraph cluster_1 { label=\"causal graph\"; color=\"#CCCCCC\"; n3 n4 n5 }\n}\n";
  picture("04_graph_attention", "complete_and_causal_graph", dot);
}

// Prints a matrix of zeros and ones without decimals.
inline void show_mask(const std::string& name, const Array& mask, const Names& rows) {
  TableOptions options{name, rows, rows};
  options.decimals = 0;
  std::cout << '\n' << table(mask, options);
}

inline void cosine_scores(const Array& guest_scores, const Names& senders) {
  section("Other scores: cosine and additive");
  say("You may skip this section. The dot product grows with the length of the key. The",
      "singer's key is twice as long as the drummer's. COSINE SIMILARITY is the dot",
      "product divided by both lengths: only the directions count. It lies between -1",
      "and 1, so softmax of it gives similar weights. Softmax of beta times the cosine",
      "has more unequal weights, if beta is above 1 (Graves et al., \"Neural Turing",
      "Machines\", 2014, section 3.3.1).");
  Array lengths = {1, 2, 1};               // of the keys of cook, singer and drummer
  Array cosines = guest_scores / lengths;  // the guest's query has length 1
  for (const auto& [name, scores] : {std::pair<std::string, Array>{"dot product", guest_scores},
                                     {"cosine, beta 1", cosines},
                                     {"cosine, beta 5", 5 * cosines}})
    show("weights by " + name, softmax(Tensor(scores), 0), {}, senders);
  say("", "Attention and the name context vector come from Bahdanau, Cho and Bengio, Neural",
      "Machine Translation by Jointly Learning to Align and Translate, 2015. Their",
      "ADDITIVE SCORE of a query q and a key k is v . tanh(W q + U k), with parameters",
      "W, U (matrices) and v (a vector). Dot products take less time, because they are",
      "one matrix product (Attention Is All You Need, 2017, section 3.2.1).");
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
      "this order. Their scores are P S P^T, and", "",
      "  softmax(P S P^T) P X = P softmax(S) P^T P X = P softmax(S) X", "",
      "because P^T P is the identity. So attention without a mask cannot use the word",
      "order. Lesson 12 adds positions.");
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
// are close to `target`. Returns the mean squared error before and after `steps` steps.
inline std::pair<double, double> train_free_parameters(const Array& mask, const Array& target,
                                                       int steps) {
  Generator g(4);
  Tensor Q(g.randn({5, 2}), true), K(g.randn({5, 2}), true), V(g.randn({5, 2}), true);
  optim::AdamW optimizer({Q, K, V}, {0.05, 0.9, 0.999, 1e-8, 0});
  double first = 0, last = 0;
  for (int step = 0; step <= steps; ++step) {
    Tensor scores = masked_fill(matmul(Q, transpose(K, 0, 1)), xt::equal(mask, 0), -INFINITY);
    Tensor error = matmul(softmax(scores, -1), V) - Tensor(target);  // (5, 2)
    Tensor loss = mean(error * error);
    last = loss.item();
    if (step == 0) first = last;
    optim::zero_grad({Q, K, V});
    backward(loss);
    optimizer.step();
  }
  return {first, last};
}

inline void free_parameters(const Array& mask, const Array& output) {
  section("Keys, queries and values that are learned");
  say("Nobody has to invent the three vectors. Begin with random ones for each node:",
      "thirty numbers. Then training (lesson 10) changes them until the outputs are",
      "close to those of the feast. (Eight of the thirty cannot change an output,",
      "such as the baker's query and the guest's value. They keep their random values.)",
      "The mean squared error is the mean of the squared differences between both", "outputs:", "");
  const auto [before, after] = train_free_parameters(mask, output, 300);
  say("mean squared error, random vectors  " + trained(before),
      "after 300 steps                     " + trained(after));
  claim("the error is below 0.01", after < 0.01, decimal(after, 4));
  say("", "This shows only that training can change all three kinds of vectors. Each vector",
      "belongs to one node: a new guest would have none, and in a text every sentence",
      "has other nodes. So a model learns matrices instead, which compute the three",
      "vectors of any token from its embedding (lesson 05).");
}

inline void show_losses_with_another_factor() {
  for (const std::string name :
       {"causal mean", "dot products / row sum", "softmax of dot products"})
    say("  " + pad_right(name, 25) + decimal(bank_loss_of_row(name, 100), 4));
}

}  // namespace heed
