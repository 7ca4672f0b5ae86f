// 03 graph_attention: attention weights by softmax, on directed graphs.
//
// Before this lesson: 02b_matmul_views, four readings of a matrix product.
// After it: 04_query_key_value, which computes queries, keys and values from the tokens.
// Worth a breakpoint: softmax_by_hand. Each stop is the softmax of one row of scores.

#include <algorithm>
#include <cmath>

#include "variants.hpp"

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
  say("So far, 'river' and 'money' have the same score with 'bank'. And X X^T is",
      "symmetric: 'bank' and 'river' give each other the same score. But 'bank' looks",
      "for a topic word, and 'river' does not look for 'bank'. So each token needs one",
      "vector for what it looks for and another for what it is. What it contributes to",
      "a weighted sum can be a third:", "", "  QUERY  what the token looks for",
      "  KEY    what the token is", "  VALUE  what the token contributes", "",
      "The score of tokens i and j is the dot product of query i and key j. To ATTEND",
      "to a token is to give its value a weight. Not every token may attend to every",
      "other. A directed graph shows the allowed pairs: an arrow from node j to node i",
      "means that i may attend to j. The value of j then goes along the arrow to i.",
      "(The literature on graphs calls this message passing.) The nodes need not be",
      "tokens. Here are five people at a feast:");
  show("key, query, value", xt::concatenate(xt::xtuple(K, Q, V), 1), people,
       {"k: food", "k: music", "q: food", "q: music", "v: food", "v: music"});
  draw_feast(people, arrows, K, Q);
}

Array scores_and_mask() {
  section("Scores and the mask");
  say("The MASK is a matrix that says where the arrows are: 1 allows and 0 forbids a",
      "pair of a query and a key. The score of a forbidden pair is set to minus", "infinity.");
  show(arrows, {"mask (rows: query, columns: key)", people, people, 0});
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
      "weight lies between 0 and 1. The weights of a node sum to one (unless no arrow",
      "points to it), so its output is a convex combination of the values (lesson 02).",
      "max(score, 0) of lesson 02 does this, too, if one score of the row is positive.",
      "But then a small change of a negative score has no effect. And with exp, the",
      "ratio of two weights depends only on the difference of their scores:", "",
      "  a_ij / a_im = exp(s_ij) / exp(s_im) = exp(s_ij - s_im)", "",
      "So adding a number to all scores of a row changes no weight. Only the functions",
      "f(s) = c exp(b s) have this property among the continuous positive functions: if",
      "f(s + t) / f(t) does not depend on t, it is f(s) / f(0), its value for t = 0. So",
      "g(s) = f(s) / f(0) satisfies g(s + t) = g(s) g(t): ln g is additive and, being",
      "continuous, linear, so g(s) = exp(b s). In the ratio c = f(0) cancels.");
  Array small_sum = {Real(2), Real(-1.9), Real(0)};
  show("2, -1.9, 0: divided by the sum", small_sum / xt::sum(small_sum)());
  show("2, -1.9, 0: softmax", softmax_by_hand(small_sum));
  say("", "exp(100) is too large for a float, and inf / inf is NaN (not a number). So",
      "softmax first subtracts the row maximum from each score, which changes no", "weight.");
  Array large = {100, 102, 101};
  show("100, 102, 101: without subtracting", xt::exp(large) / xt::sum(xt::exp(large))());
  check("weights of 100, 102, 101 = weights of 0, 2, 1", softmax_by_hand(large),
        softmax_by_hand(guest_scores));
}

Array all_nodes(const Array& scores) {
  section("All nodes at once");
  say("The attention weights of all nodes are a matrix. The output of a node is the",
      "weighted sum of the values, by its row of weights. This is GRAPH ATTENTION: each",
      "node attends only to nodes with an arrow to it (Veličković et al. add an arrow",
      "from each node to itself).",
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
  say("", "The guest looked for music and got music, mostly from the singer.");
  draw_feast_weights(people, weights, V, output);
  return output;
}

void complete_and_causal(const Array& S, const Array& causal) {
  section("Complete and causal graphs");
  say("Now the nodes are the three tokens of lesson 01. Each token's vector is its",
      "query, its key and its value. In a complete graph every token attends to every",
      "token and to itself. In a causal graph it attends to itself and to earlier",
      "tokens, as in a language model.");
  Array complete_weights = softmax_of_rows(S), causal_weights = softmax_of_rows(masked(S, causal));
  show("attention weights, complete graph", complete_weights, words, words);
  show("attention weights, causal graph", causal_weights, words, words);
  check("'sat', the last token, has the same weights in both", xt::row(causal_weights, 2),
        xt::row(complete_weights, 2));
  draw_two_graphs(complete_weights, causal_weights, words);
}

// Softmax of the dot products of X, with minus infinity for later positions.
Array causal_softmax_weights(const BankText& text) {
  const Array scores = xt::linalg::dot(text.X, xt::transpose(text.X));  // (T, T)
  return softmax_of_rows(masked(scores, xt::tril(xt::ones_like(scores))));
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
  task_of_the_bank(causal_softmax_weights);
  questions(
      "Multiply the guest's query by three: {0, 3} in the last row of Q. How much\n"
      "music is then in its output, and why?",
      "Let the baker attend to the singer: a 1 in row 0, column 2 of the mask. What\n"
      "are the baker's attention weights and output?",
      "In causal_softmax_weights, multiply the scores by 8. What is the loss now?\n"
      "Why does no factor bring it below 0.35?");
}
