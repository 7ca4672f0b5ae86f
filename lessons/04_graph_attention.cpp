// 04 graph_attention: nodes send messages along arrows, and softmax says how much each counts.
//
// Before this lesson: 03_matmul_views, in which tokens gave and took.
// After it: 05_query_key_value, in which a token's vector makes its query, key and value.
// Worth a breakpoint: shares_of. Each stop is one node that weighs what it hears.

#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/ops/softmax.hpp"
#include "lesson.hpp"

using namespace heed;

const Names words = {"the", "cat", "sat"};
const Names people = {"baker", "cook", "singer", "drummer", "guest"};
const Real infinity = std::numeric_limits<Real>::infinity();

// One node's softmax: exp(score - top), divided by the sum of all of them.
Array shares_of(const Array& scores) {
  const Real top = *std::max_element(scores.begin(), scores.end());
  Array shares = zeros({scores.size()});
  if (top == -infinity) return shares;  // this node hears nobody
  Real sum = 0;
  for (std::size_t j = 0; j < scores.size(); ++j) {
    shares(j) = std::exp(scores(j) - top);
    sum += shares(j);
  }
  for (std::size_t j = 0; j < scores.size(); ++j) shares(j) /= sum;
  return shares;
}

Array all_shares(const Array& scores) {
  Array shares = zeros({scores.shape(0), scores.shape(1)});
  for (std::size_t i = 0; i < scores.shape(0); ++i)
    xt::view(shares, i) = shares_of(xt::view(scores, i));
  return shares;
}

// The score where node i hears node j, elsewhere minus infinity.
Array along_arrows(const Array& hears, const Array& scores) {
  return xt::where(hears > 0, scores, -infinity);
}

// The weights as shades and as arrows.
void draw(const std::string& name, const Array& weights, const Names& nodes) {
  picture("04_graph_attention", name, weights, {name, nodes, nodes, "takes", "from", 0, 1});
  picture("04_graph_attention", name + "_graph", weighted_graph(weights, nodes));
}

int main() {
  section("Nodes that send messages");
  say("In lesson 03 tokens gave to each other. Let us draw that: a node for each, and",
      "an arrow from one to another where a message may pass. Anything can be a node.",
      "Here are five people at a feast. Each has three vectors of two numbers:", "",
      "  key    what it is", "  query  what it looks for",
      "  value  what it sends to those who listen");
  Array K = {{2, 0}, {1, 0}, {0, 2}, {0, 1}, {1, 1}};
  Array Q = {{0, 1}, {1, 0}, {0, 1}, {1, 1}, {0, 1}};
  Array V = {{4, 0}, {2, 0}, {0, 3}, {0, 1}, {0, 0}};
  show("key, query, value", xt::concatenate(xt::xtuple(K, Q, V), 1), people,
       {"k: food", "k: music", "q: food", "q: music", "v: food", "v: music"});

  section("Scores along the arrows");
  say("Are you what I look for? The dot product of my query and your key says how much.",
      "Where no arrow runs there is no score; we write minus infinity. A row is for",
      "one who listens, a column for one who speaks.");
  Array hears = {{0, 0, 0, 0, 0},   // nobody speaks to the baker
                 {1, 0, 1, 0, 0},   // the cook hears baker and singer
                 {1, 0, 0, 1, 0},   // the singer: baker and drummer
                 {0, 0, 1, 0, 0},   // the drummer: the singer
                 {0, 1, 1, 1, 0}};  // the guest: cook, singer and drummer
  Array scores = along_arrows(hears, xt::linalg::dot(Q, xt::transpose(K)));  // (5, 5)
  show("scores", scores, people, people);

  section("Softmax");
  say("The guest looks for music. It scores cook 0, singer 2, drummer 1. What share of",
      "its attention does each get? exp of the score, divided by the sum of all three:",
      "this is softmax. (exp of minus infinity is 0, so without an arrow no share.)");
  const Names heard = {"cook", "singer", "drummer"};
  Array three = {0, 2, 1};
  Array e = xt::exp(three);
  Array shares = e / xt::sum(e)();
  show("exp(score)", e, {}, heard);
  show("share", shares, {}, heard);
  check("a loop by hand = in one line", shares_of(three), shares);
  check("heed's softmax = in one line", softmax(Tensor(three), 0), shares);

  section("What it mends");
  say("Lesson 02 divided scores by their sum. Some shares fell below zero. And a sum",
      "can be almost nothing, as for the scores 2, -1.9 and 0. But exp is above zero,",
      "so no share is below. And the sum is more than any part: no share is above one.");
  Array cancel = {Real(2), Real(-1.9), Real(0)};
  show("2, -1.9, 0: divided by the sum", cancel / xt::sum(cancel)());
  show("2, -1.9, 0: softmax", shares_of(cancel));
  say("", "exp has a flaw of its own, which exercise 02 mended: exp(100) is too large for a",
      "float, and infinity over infinity is not a number. So first subtract the largest",
      "score from each: every exp is divided by the same number, and no share changes.");
  Array large = {100, 102, 101};
  Array too_large = xt::exp(large);
  show("100, 102, 101: plainly", too_large / xt::sum(too_large)());
  show("100, 102, 101: the largest subtracted", shares_of(large));
  check("shares of 100, 102, 101 = shares of 0, 2, 1", shares_of(large), shares);

  section("Everybody at once");
  say("The shares of all are the weights. Weights times values is what each receives.",
      "The baker hears nobody. Plain softmax is 0 / 0 there; shares_of and heed's own",
      "give zeros, and lesson 07 shows why. In the second picture an arrow is as wide",
      "as its weight.");
  Array weights = all_shares(scores);
  Array received = zeros({5, 2});
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t j = 0; j < 5; ++j)
      for (std::size_t d = 0; d < 2; ++d) received(i, d) += weights(i, j) * V(j, d);
  show("weights", weights, people, people);
  show("received", received, people, {"food", "music"});
  check("weights by hand = in one line", weights, softmax(Tensor(scores), -1));
  check("received by hand = in one line", received, xt::linalg::dot(weights, V));
  draw("feast", weights, people);

  section("Other graphs, same rule");
  say("Now let each token of lesson 01 be its own key, query and value. Where all hear",
      "all, the graph is complete: that is how a model looks at the parts of an image.",
      "Where each hears itself and what came before, it is causal: how a model writes.");
  Array T = Generator(42).randn({3, 5});
  Array S = xt::linalg::dot(T, xt::transpose(T));
  Array causal = {{1, 0, 0}, {1, 1, 0}, {1, 1, 1}};
  Array complete_weights = all_shares(S), causal_weights = all_shares(along_arrows(causal, S));
  draw("complete", complete_weights, words);
  draw("causal", causal_weights, words);
  check("'sat' hears all either way", xt::row(causal_weights, 2), xt::row(complete_weights, 2));

  section("A graph has no order");
  say("Say 'sat the cat'. On the complete graph each word gets the vector it had:",
      "a node hears what is said, not where. Lesson 12 tells it where.");
  Array U = xt::view(T, xt::keep(2, 0, 1), xt::all());  // sat, the, cat
  Array was = xt::linalg::dot(complete_weights, T);
  Array is = xt::linalg::dot(all_shares(xt::linalg::dot(U, xt::transpose(U))), U);
  show("'the cat sat'", was, words);
  show("'sat the cat'", is, {"sat", "the", "cat"});
  check("the same rows in another order", is, xt::view(was, xt::keep(2, 0, 1), xt::all()));

  section("Another score");
  say("A dot product (Vaswani et al. 2017) grows with a key's length, and the singer's",
      "key is the drummer's, twice as long. The cosine, the dot product divided by both",
      "lengths, asks for the direction alone. A factor beta sharpens the choice (Graves",
      "et al. 2014).");
  Array lengths = {1, 2, 1};        // of the keys of cook, singer and drummer
  Array cosines = three / lengths;  // the guest's query has length 1
  show("dot product", shares, {}, heard);
  show("cosine, beta 1", shares_of(cosines), {}, heard);
  show("cosine, beta 5", shares_of(5 * cosines), {}, heard);

  section("The wrong axis");
  say("Softmax along a row shares out one node's attention. A PyTorch notebook on the",
      "web took a causal mask of ones, and softmax along the columns. All scores are",
      "equal there: lesson 01's running mean should have come out.");
  Array equal = along_arrows(causal, ones({3, 3}));
  Array right = softmax(Tensor(equal), 1).value(), wrong = softmax(Tensor(equal), 0).value();
  const Real half = Real(1) / 2, third = Real(1) / 3;
  Array formula = {{third, 0, 0}, {third, half, 0}, {third, half, 1}};
  show("along rows", right, words, words);
  show("along columns", wrong, words, words);
  show("their rows sum to", xt::sum(wrong, {1}), {}, words);
  check("1 / (3 - j) by hand = along columns", formula, wrong);
  say("", "Column j shares 1 among the 3 - j who hear token j, whatever the tokens say. The",
      "scores S change the numbers, not the fault. The last column has one row only, so",
      "'sat' takes all of itself, and more on top:");
  show("along columns, scores S", softmax(Tensor(along_arrows(causal, S)), 0), words, words);

  section("Was it worth it?");
  say("The guest looks for music. How much does it receive?", "",
      "if all it hears count the same  " + decimal((V(1, 1) + V(2, 1) + V(3, 1)) / 3, 4),
      "if its scores decide            " + decimal(received(4, 1), 4), "",
      "The feast's keys, queries and values were made up. A word has one vector for all",
      "three, so 'cat' and 'sat' hear little but themselves. In the next lesson, they",
      "ask: 05_query_key_value.", "",
      "To watch a node weigh: gdb build/release/lessons/04_graph_attention, and in it:",
      "break shares_of, run, next until you are in the loop; there next and print sum.");
}
