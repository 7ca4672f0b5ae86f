// 03 graph_attention: queries, keys, values and softmax, on directed graphs.
//
// Before this lesson: 02_naive_attention, attention weights from dot products of embeddings.
// After it: 04_query_key_value, which computes queries, keys and values from the tokens.
// Worth a breakpoint: softmax_by_hand. Each stop is the softmax of one row of scores.

#include <algorithm>
#include <cmath>

#include "bank_plane.hpp"
#include "pictures.hpp"

using namespace heed;

const Names people = {"baker", "cook", "singer", "drummer", "guest"};

// The feast: five nodes, with keys, queries and values of two numbers each, food and music.
const Array K = {{2, 0}, {1, 0}, {0, 2}, {0, 1}, {1, 1}};
const Array Q = {{0, 1}, {1, 0}, {0, 1}, {1, 1}, {0, 1}};
const Array V = {{4, 0}, {2, 0}, {0, 3}, {0, 1}, {0, 0}};
const Array arrows = {{0, 0, 0, 0, 0},   // the baker attends to nobody,
                      {1, 0, 1, 0, 0},   // the cook to the baker and the singer,
                      {1, 0, 0, 1, 0},   // the singer to the baker and the drummer,
                      {0, 0, 1, 0, 0},   // the drummer to the singer,
                      {0, 1, 1, 1, 0}};  // the guest to the cook, the singer and the drummer

Array dot(const Array& a, const Array& b) { return xt::linalg::dot(a, b); }

// ---- one query

// Returns the scores of the guest's query with the keys of the three nodes that it attends to.
Array one_query() {
  section("One query");
  draw_feast(people, arrows, K, Q);
  say();
  const Names three = {"cook", "singer", "drummer"};
  const Array keys = xt::view(K, xt::range(1, 4)), values = xt::view(V, xt::range(1, 4));
  const Array query = xt::view(Q, 4), scores = dot(keys, query);  // (3, 2) times (2) is (3)
  show(xt::concatenate(xt::xtuple(keys, values, xt::view(scores, xt::all(), xt::newaxis())), 1),
       {"the three", three, {"k: food", "k: music", "v: food", "v: music", "score"}, 0});
  return scores;
}

void softmax_of_one_row(const Array& scores) {
  section("Softmax");
  const Array e = xt::exp(scores), weights = e / xt::sum(e)();
  show(xt::stack(xt::xtuple(scores, e, weights), 1),
       {"softmax", {"cook", "singer", "drummer"}, {"score", "exp(score)", "weight"}});
  check("in one line = heed's softmax", weights, softmax(Tensor(scores), 0));
  const Array output = dot(weights, xt::view(V, xt::range(1, 4)));
  say({{"food", decimal(output(0), 2)}, {"music", decimal(output(1), 2)}});
}

// Softmax of one row: exp(score - row maximum), divided by the sum of these numbers.
Array softmax_by_hand(const Array& scores) {
  Array weights = zeros({scores.size()});
  const Real maximum = *std::max_element(scores.begin(), scores.end());
  Real sum = 0;
  for (std::size_t j = 0; j < scores.size(); ++j) {
    weights(j) = std::exp(scores(j) - maximum);
    sum += weights(j);
  }
  for (std::size_t j = 0; j < scores.size(); ++j) weights(j) /= sum;
  return weights;
}

// "0, 2, 1"
std::string listed(const Array& scores) {
  std::vector<std::string> parts;
  for (const Real score : scores) parts.push_back(decimal(score, 0));
  return joined(parts, ", ");
}

void why_exp(const Array& scores) {
  section("Why exp");
  const Array larger = scores + 100;
  const std::string these = listed(scores), those = listed(larger);
  show("weights",
       xt::stack(xt::xtuple(scores / xt::sum(scores)(), larger / xt::sum(larger)(),
                            softmax_by_hand(scores), softmax_by_hand(larger))),
       {"score / sum of " + these, "score / sum of " + those, "softmax of " + these,
        "softmax of " + those},
       {"cook", "singer", "drummer"});
  claim("without the maximum, softmax of " + those + " is NaN",
        std::isnan((xt::exp(larger) / xt::sum(xt::exp(larger))())(0)), "a number");
  check("a loop by hand = heed's softmax", softmax_by_hand(larger), softmax(Tensor(scores), 0));
  say();
}

// ---- all queries

// The scores where `allowed` is 1, minus infinity where it is 0.
Array masked(const Array& scores, const Array& allowed) {
  return xt::where(allowed > 0, scores, -INFINITY);
}

// The causal graph of n nodes: arrows from each node to itself and to all later ones.
Array causal_arrows(std::size_t n) { return xt::tril(ones({n, n})); }

// Softmax of each row. A row in which all keys are masked has the weights zero.
Array softmax_of_rows(const Array& scores) {
  Array weights = zeros({scores.shape(0), scores.shape(1)});
  for (std::size_t i = 0; i < scores.shape(0); ++i) {
    const Array row = xt::view(scores, i);
    if (*std::max_element(row.begin(), row.end()) > -INFINITY)
      xt::view(weights, i) = softmax_by_hand(row);
  }
  return weights;
}

void all_guests() {
  section("All guests at once");
  const Array scores = masked(dot(Q, xt::transpose(K)), arrows);  // (5, 5)
  const Array weights = softmax_of_rows(scores);                  // row: query, column: key
  const Array output = dot(weights, V);                           // (5, 2)
  show(scores, {"scores (rows: query, columns: key)", people, people, 0});
  show("attention weights and output", xt::concatenate(xt::xtuple(weights, output), 1), people,
       {"baker", "cook", "singer", "drummer", "guest", "o: food", "o: music"});
  check("attention weights by hand = in one line", weights, softmax(Tensor(scores), -1));
  say();
  draw_feast_weights(people, weights, V, output);
}

// Softmax of the dot products of the rows of X, times X: a complete graph.
Array self_attention(const Array& X) { return dot(softmax_of_rows(dot(X, xt::transpose(X))), X); }

void no_order() {
  section("A graph has no order");
  const Array X = Generator(42).randn({3, 5});  // the random sentence of lesson 01
  const Array before = self_attention(X);
  const Array after = self_attention(xt::view(X, xt::keep(2, 0, 1), xt::all()));  // sat the cat
  check("the outputs of 'sat the cat' = those of 'the cat sat' in this order", after,
        xt::view(before, xt::keep(2, 0, 1), xt::all()));
  say();
}

// ---- the bank

const Real topic = 24, position = 2;  // the query of 'bank' is (topic, topic, position)

// Attention weights on the causal graph.
Array causal_weights(const Array& queries, const Array& keys) {
  return softmax_of_rows(masked(dot(queries, xt::transpose(keys)), causal_arrows(keys.shape(0))));
}

// The queries of a text: that of 'bank' is given, all others are zero.
Array queries(const BankText& text, const Array& query) {
  Array result = zeros({text.words.size(), query.size()});
  for (const std::size_t bank : text.banks) xt::view(result, bank) = query;
  return result;
}

// The keys (N, 2) of a text: water and money, as in the embedding, but 'bank' offers no topic.
Array topic_keys(const BankText& text) {
  Array keys = text.X;
  for (std::size_t t = 0; t < text.words.size(); ++t)
    if (text.words[t] == "bank") xt::view(keys, t) = Real(0);
  return keys;
}

// The same keys with the position as a third number (N, 3).
Array keys_with_positions(const BankText& text) {
  const Array positions = xt::arange<Real>(Real(text.words.size()));
  return xt::concatenate(
      xt::xtuple(topic_keys(text), xt::view(positions, xt::all(), xt::newaxis())), 1);
}

void a_query_for_bank() {
  section("A query for 'bank'");
  const Array meaning = {topic, topic}, meaning_and_position = {topic, topic, position};
  const std::vector<BankRow> steps = {
      {"embeddings as queries and keys",
       [](const BankText& t) { return causal_weights(t.X, t.X); }},
      {"1. a query for 'bank'",
       [=](const BankText& t) { return causal_weights(queries(t, meaning), t.X); }},
      {"2. and a key for 'bank'",
       [=](const BankText& t) { return causal_weights(queries(t, meaning), topic_keys(t)); }},
      {"3. and positions in the keys", [=](const BankText& t) {
         return causal_weights(queries(t, meaning_and_position), keys_with_positions(t));
       }}};
  show_bank_losses(steps);
  say();
  draw_bank_plane("03_graph_attention",
                  {{"01 causal mean", bank_output("causal mean")},
                   {"02 dot products", bank_output("dot products / row sum")},
                   {"03 query and key by hand", bank_output(steps.back().weights_of)}});
  say();
}

void two_graphs() {
  const Array X = Generator(42).randn({3, 5}), S = dot(X, xt::transpose(X));
  const Array complete = softmax_of_rows(S), causal = softmax_of_rows(masked(S, causal_arrows(3)));
  check("the weights of 'sat' in both graphs", xt::row(causal, 2), xt::row(complete, 2));
  draw_two_graphs(complete, causal, {"the", "cat", "sat"});
}

int main() {
  opening();
  const Array guest_scores = one_query();
  softmax_of_one_row(guest_scores);
  why_exp(guest_scores);
  all_guests();
  no_order();
  a_query_for_bank();
  if (appendix("Two graphs of one sentence")) two_graphs();
  appendix("In the debugger");
  ending();
}
