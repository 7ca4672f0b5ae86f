// 04 graph_attention: attention weights by softmax, on directed graphs.
//
// Before this lesson: 03_matmul_views, four readings of a matrix product.
// After it: 05_query_key_value, which computes queries, keys and values from the tokens.
// Worth a breakpoint: softmax_by_hand. Each stop is the softmax of one row of scores.

#include <algorithm>
#include <cmath>

#include "04_variants.hpp"

using namespace heed;

const Names words = {"the", "cat", "sat"};
const Names people = {"baker", "cook", "singer", "drummer", "guest"};
const Names senders = {"cook", "singer", "drummer"};  // the nodes with an arrow to the guest

// The feast: five nodes, with keys, queries and values of two numbers each.
const Array K = {{2, 0}, {1, 0}, {0, 2}, {0, 1}, {1, 1}};
const Array Q = {{0, 1}, {1, 0}, {0, 1}, {1, 1}, {0, 1}};
const Array V = {{4, 0}, {2, 0}, {0, 3}, {0, 1}, {0, 0}};
const Array arrows = {{0, 0, 0, 0, 0},   // the baker attends to nobody,
                      {1, 0, 1, 0, 0},   // the cook to the baker and the singer,
                      {1, 0, 0, 1, 0},   // the singer to the baker and the drummer,
                      {0, 0, 1, 0, 0},   // the drummer to the singer,
                      {0, 1, 1, 1, 0}};  // the guest to the cook, the singer and the drummer
const Array guest_scores = {0, 2, 1};    // of the guest's query with the keys of these three

// Softmax of one row: exp(score - row maximum), divided by the sum of these numbers. A fully masked
// row gives zeros, a row with a NaN gives NaN.
Array softmax_by_hand(const Array& scores) {
  Array weights = zeros({scores.size()});
  if (std::all_of(scores.begin(), scores.end(), [](Real score) { return score == -INFINITY; }))
    return weights;
  const Real maximum = *std::max_element(scores.begin(), scores.end());
  Real sum = 0;
  for (std::size_t j = 0; j < scores.size(); ++j) {
    weights(j) = std::exp(scores(j) - maximum);
    sum += weights(j);
  }
  for (std::size_t j = 0; j < scores.size(); ++j) weights(j) /= sum;
  return weights;
}

Array softmax_of_rows(const Array& scores) {
  Array weights = zeros({scores.shape(0), scores.shape(1)});
  for (std::size_t i = 0; i < scores.shape(0); ++i)
    xt::view(weights, i) = softmax_by_hand(xt::view(scores, i));
  return weights;
}

void nodes_and_arrows() {
  section("Nodes and arrows");
  say("What a token looks for can differ from what it is, so it needs more than one",
      "vector. And not every token may attend to every other token. A directed graph",
      "shows the allowed pairs. Every token is a node. An arrow from node j to node i",
      "means that i attends to j: the value of j goes along the arrow to i. The nodes",
      "need not be tokens. Here are five people at a feast, each with three vectors:", "",
      "  KEY    what the node is", "  QUERY  what the node looks for",
      "  VALUE  the message that it sends along its arrows");
  show("key, query, value", xt::concatenate(xt::xtuple(K, Q, V), 1), people,
       {"k: food", "k: music", "q: food", "q: music", "v: food", "v: music"});
  say("", "The arrows:");
  draw_arrows("feast", arrows, people);
}

Array scores_and_mask() {
  section("Scores and the mask");
  say("The score of a query and a key is their dot product (lesson 02). The MASK is a",
      "matrix that says where the arrows are: 1 allows and 0 forbids a pair of a query",
      "and a key. The score of a forbidden pair is set to minus infinity.");
  show_mask("mask (rows: query, columns: key)", arrows, people);
  Array scores = masked(xt::linalg::dot(Q, xt::transpose(K)), arrows);  // (5, 5)
  show("scores (rows: query, columns: key)", scores, people, people);
  return scores;
}

void softmax_of_one_row() {
  section("Softmax");
  say("The guest looks for music. Its scores are 0 for the cook, 2 for the singer and 1",
      "for the drummer. SOFTMAX takes exp of each score and divides it by the sum of",
      "all three. The results are the ATTENTION WEIGHTS of the guest. They sum to one.",
      "(exp of minus infinity is 0: a forbidden pair gets the weight 0.)");
  Array e = xt::exp(guest_scores);
  Array weights = e / xt::sum(e)();
  show("exp(score)", e, {}, senders);
  show("attention weights of the guest", weights, {}, senders);
  check("a loop by hand = in one line", softmax_by_hand(guest_scores), weights);
  check("heed's softmax = in one line", softmax(Tensor(guest_scores), 0), weights);
}

void why_exp() {
  section("Why exp");
  say("Lesson 02 divided the scores by their sum. Some of its weights were negative,",
      "and a sum of scores can be close to zero. exp is positive, so each attention",
      "weight lies between 0 and 1. They sum to one, so the output is a convex",
      "combination of the values (lesson 03). max(score, 0) of lesson 02 does this,",
      "too, but then a small change of a negative score has no effect. And the ratio of",
      "two weights depends only on the difference of their scores:", "",
      "  p_i / p_j = exp(s_i) / exp(s_j) = exp(s_i - s_j)");
  Array small_sum = {Real(2), Real(-1.9), Real(0)};
  show("2, -1.9, 0: divided by the sum", small_sum / xt::sum(small_sum)());
  show("2, -1.9, 0: softmax", softmax_by_hand(small_sum));
  say("", "exp(100) is too large for a float, and inf / inf is NaN (not a number). So",
      "softmax first subtracts the row maximum from each score, as in exercise 02. That",
      "divides every exp by the same number: no weight changes.");
  Array large = {100, 102, 101};
  show("100, 102, 101: without subtracting", xt::exp(large) / xt::sum(xt::exp(large))());
  check("weights of 100, 102, 101 = weights of 0, 2, 1", softmax_by_hand(large),
        softmax_by_hand(guest_scores));
}

Array all_nodes(const Array& scores) {
  section("All nodes at once");
  say("The attention weights of all nodes are a matrix. The output of a node is the",
      "weighted sum of the values, by its row of weights. This is GRAPH ATTENTION: each",
      "node attends only to nodes with an arrow to it (in the paper also to itself).",
      "heed's softmax gives zeros for the baker's fully masked row, not 0 / 0 = NaN.");
  Array weights = softmax_of_rows(scores);
  Array output = zeros({5, 2});
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t j = 0; j < 5; ++j)
      for (std::size_t d = 0; d < 2; ++d) output(i, d) += weights(i, j) * V(j, d);
  show("attention weights", weights, people, people);
  show("output", output, people, {"food", "music"});
  check("attention weights by hand = in one line", weights, softmax(Tensor(scores), -1));
  check("output by hand = in one line", output, xt::linalg::dot(weights, V));
  say("", "The guest looked for music and got music, mostly from the singer. In the",
      "picture, wider arrows have larger weights.", "");
  draw_graph("feast", weights, people);
  return output;
}

void complete_and_causal(const Array& S, const Array& causal) {
  section("Complete and causal graphs");
  say("Now the nodes are the three tokens of lesson 01. Each token's vector is its",
      "query, its key and its value. In a complete graph every token attends to every",
      "token and to itself. In a causal graph it attends to itself and to earlier",
      "tokens, as in a language model. An arrow is dashed if its weight is below 0.005.");
  Array complete_weights = softmax_of_rows(S), causal_weights = softmax_of_rows(masked(S, causal));
  show("attention weights, complete graph", complete_weights, words, words);
  show("attention weights, causal graph", causal_weights, words, words);
  check("'sat', the last token, has the same weights in both", xt::row(causal_weights, 2),
        xt::row(complete_weights, 2));
  say("");
  draw_two_graphs(complete_weights, causal_weights, words);
}

// Softmax of the dot products of X, with minus infinity for later positions.
Array causal_softmax_weights(const BankText& text) {
  const Array scores = xt::linalg::dot(text.X, xt::transpose(text.X));  // (T, T)
  return softmax_of_rows(masked(scores, xt::tril(xt::ones_like(scores))));
}

void task_of_the_bank() {
  section("The task of the bank");
  say("Now the weights are the softmax of the scores of lesson 02.");
  show_bank_losses(4, causal_softmax_weights);
  say("", "exp(0) is 1, so words with the score 0 have weights too, and the loss at the",
      "first 'bank' is higher than in lesson 02. At the second 'bank', 'river' and",
      "'money' have the same score: no softmax of these scores separates the topics.",
      "The other differences come from the factor 8. With 100 in its place:", "");
  show_losses_with_another_factor();
  say("", "Lesson 05 computes a query, a key and a value for each token.", "",
      "To watch softmax (next until you are in a loop, then next and print sum):", "",
      "  gdb build/release/lessons/04_graph_attention", "  break softmax_by_hand", "  run",
      "  next", "  print sum");
}

int main() {
  opening({"to compute attention weights and outputs by hand, on any graph",
           "a_ij = exp(s_ij) / sum_m exp(s_im)     s_ij = q_i . k_j\n"
           "o_i  = sum_j a_ij v_j     j, m: the nodes with an arrow to node i\n"
           "T nodes: queries and keys (T, d_k), scores S and weights A (T, T),\n"
           "values and outputs O (T, d_v)",
           "masked attention: Veličković et al., \"Graph Attention Networks\"\n"
           "(2018), section 2.1, whose score is not a dot product",
           "torch.softmax(scores, dim=-1)"});
  nodes_and_arrows();
  const Array scores = scores_and_mask();
  softmax_of_one_row();
  why_exp();
  const Array output = all_nodes(scores);
  const Array X = Generator(42).randn({3, 5});           // the tokens of lesson 01
  const Array S = xt::linalg::dot(X, xt::transpose(X));  // their scores in lesson 02
  const Array causal = {{1, 0, 0}, {1, 1, 0}, {1, 1, 1}};
  complete_and_causal(S, causal);
  reordered_tokens(X, words);
  cosine_scores(guest_scores, senders);
  free_parameters(arrows, output);
  softmax_over_the_wrong_axis(S, causal, words);
  task_of_the_bank();
  questions(
      "Multiply the guest's query by three: {0, 3} in the last row of Q. How much\n"
      "music is then in its output, and why?",
      "Let the baker attend to the singer: a 1 in row 0, column 2 of the mask. What\n"
      "are the baker's attention weights and output?",
      "In causal_softmax_weights, multiply the scores by 8. What is the loss now?\n"
      "Why does no factor bring it below 0.35?");
}
