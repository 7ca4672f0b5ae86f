// 04_variants.hpp: the graphs of lesson 04, and variants of its attention: cosine scores,
// elementwise scores, reordered tokens, softmax over the wrong axis, and free parameters of nodes.
#pragma once

#include <cmath>

#include "lesson.hpp"

namespace heed {

// Draws the attention weights as arrows between the nodes.
inline void draw_graph(const std::string& name, const Array& weights, const Names& nodes) {
  picture("04_graph_attention", name + "_graph", weighted_graph(weights, nodes));
}

inline void cosine_scores(const Array& guest_scores, const Names& senders) {
  section("Another score: the cosine");
  say("You may skip this section and the next. They compare other scores with the dot",
      "product (Vaswani et al., \"Attention Is All You Need\", 2017, section 3.2.1).", "",
      "The dot product grows with the length of the key. The singer's key is twice as",
      "long as the drummer's. COSINE SIMILARITY is the dot product divided by both",
      "lengths: only the directions count. It lies between -1 and 1, so softmax of it",
      "gives similar weights. Softmax of beta times the cosine has more unequal",
      "weights, if beta is above 1 (Graves et al., \"Neural Turing Machines\", 2014,",
      "section 3.3.1).");
  Array lengths = {1, 2, 1};               // of the keys of cook, singer and drummer
  Array cosines = guest_scores / lengths;  // the guest's query has length 1
  for (const auto& [name, scores] : {std::pair<std::string, Array>{"dot product", guest_scores},
                                     {"cosine, beta 1", cosines},
                                     {"cosine, beta 5", 5 * cosines}})
    show("weights by " + name, softmax(Tensor(scores), 0), {}, senders);
}

// Sums q * k * v over the senders of a node, element by element. q (d); K, V (senders, d).
inline Array elementwise_output(const Array& q, const Array& K, const Array& V) {
  Array output = zeros({V.shape(1)});
  for (std::size_t j = 0; j < K.shape(0); ++j)
    for (std::size_t d = 0; d < V.shape(1); ++d) output(d) += q(d) * K(j, d) * V(j, d);
  return output;
}

inline void elementwise_scores(const Array& K, const Array& V, const Names& senders) {
  section("Why not multiply element by element?");
  say("Could the score be the vector q * k, element by element, and the output of a",
      "node the sum of (q * k) * v over the arrows to it, without softmax? Then",
      "component d of the output uses component d of q, k and v alone. Let the singer",
      "hand out bread: the value (3, 0) instead of (0, 3). The guest looks for music",
      "and finds the singer:");
  const Array q = {0, 1};
  const Array keys = xt::view(K, xt::range(1, 4));  // (3, 2)
  Array values = xt::view(V, xt::range(1, 4));      // (3, 2)
  values(1, 0) = 3, values(1, 1) = 0;
  Array weights = softmax(matmul(Tensor(keys), Tensor(q)), 0).value();  // (3)
  const Array by_elements = elementwise_output(q, keys, values);
  const Array by_dot_product = xt::linalg::dot(weights, values);  // (2)
  show("attention weights of the guest", weights, {}, senders);
  show("output, weights from dot products", by_dot_product, {}, {"food", "music"});
  show("output, element by element", by_elements, {}, {"food", "music"});
  check("in one line = by hand", xt::sum(xt::view(q, xt::newaxis()) * keys * values, {0}),
        by_elements);
  say("", "With dot products, a match in the component 'music' gives the singer's value the",
      "weight 0.6652, food included. Element by element, the guest receives the",
      "drummer's music only: its query has a 0 for food. So a node can receive only the",
      "components that it looked for. Also, a key must be as long as a value, and no",
      "weights sum to one.");
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
      "tokens did. This property is called PERMUTATION EQUIVARIANCE. So attention",
      "without a mask cannot use the word order. Lesson 12 adds positions.");
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
      "do not sum to one. The scores S of the tokens show the same mistake: only 'sat'",
      "may attend to 'sat', so the last column has the weight 1, whatever the score is.");
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
      "thirty numbers. Then training (lessons 06 and 10) changes them until the outputs",
      "are close to those of the feast. (Eight of the thirty cannot change an output,",
      "such as the baker's query and the guest's value. They keep their random values.)",
      "The mean squared error is the mean of the squared differences between both",
      "outputs. On another machine, a number with ~ may be a little different:", "");
  const auto [before, after] = train_free_parameters(mask, output, 300);
  say("mean squared error, random vectors  " + trained(before),
      "after 300 steps                     " + trained(after));
  claim("the error is below 0.01", after < 0.01, decimal(after, 4));
  say("", "But each vector belongs to one node. A new guest would have no vectors, and in a",
      "text every sentence has other nodes. So a model learns matrices instead, which",
      "compute the three vectors of any token from its embedding (lesson 05).");
}

}  // namespace heed
