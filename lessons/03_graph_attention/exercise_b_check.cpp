// Tests exercise 03b wrong_axis: compares each node's output, on several graphs, with loops in
// double.

#include <algorithm>
#include <cmath>

#include "exercise.hpp"
#include "heed/array/shape.hpp"

using namespace heed;

Array attend(const Array& mask, const Array& queries, const Array& keys, const Array& values);

// The nodes that node i attends to.
std::vector<std::size_t> senders(std::size_t i, const Array& mask) {
  std::vector<std::size_t> nodes;
  for (std::size_t j = 0; j < mask.shape(1); ++j)
    if (mask(i, j) > 0) nodes.push_back(j);
  return nodes;
}

double score(const Array& queries, std::size_t i, const Array& keys, std::size_t j) {
  double sum = 0;
  for (std::size_t d = 0; d < keys.shape(1); ++d) sum += double(queries(i, d)) * double(keys(j, d));
  return sum;
}

// The attention weight of node i for node j: 1 / (sum over the nodes k to which i attends of
// exp(s_ik - s_ij)).
double weight(std::size_t i, std::size_t j, const Array& mask, const Array& q, const Array& k) {
  double sum = 0;
  for (const std::size_t other : senders(i, mask))
    sum += std::exp(score(q, i, k, other) - score(q, i, k, j));
  return 1 / sum;
}

Array correct_output(const Array& mask, const Array& q, const Array& k, const Array& v) {
  Array output = zeros({mask.shape(0), v.shape(1)});
  for (std::size_t i = 0; i < mask.shape(0); ++i)
    for (std::size_t d = 0; d < v.shape(1); ++d) {
      double sum = 0;
      for (const std::size_t j : senders(i, mask))
        sum += weight(i, j, mask, q, k) * double(v(j, d));
      output(i, d) = Real(sum);
    }
  return output;
}

// The first node and column where the outputs differ, or "".
std::string difference(const Array& output, const Array& expected) {
  if (shape_of(output) != shape_of(expected))
    return "expected an output of shape " + str(shape_of(expected)) + ", got " +
           str(shape_of(output));
  for (std::size_t i = 0; i < expected.shape(0); ++i)
    for (std::size_t d = 0; d < expected.shape(1); ++d)
      if (!(std::abs(output(i, d) - expected(i, d)) <= 1e-4F))
        return "output of node " + std::to_string(i) + ", column " + std::to_string(d) +
               ": expected " + decimal(expected(i, d), 4) + ", got " + decimal(output(i, d), 4);
  return "";
}

void judge(const std::string& graph, const Array& mask, const Array& q, const Array& k,
           const Array& v) {
  static bool shown = false;  // the tables of the first wrong output only
  const Array output = attend(mask, q, k, v), expected = correct_output(mask, q, k, v);
  const std::string otherwise = difference(output, expected);
  expect(graph, otherwise.empty(), otherwise);
  if (otherwise.empty() || shown) return;
  show("mask", mask);
  show("expected output", expected);
  show("your output", output);
  say("");
  shown = true;
}

void judge_random(const std::string& graph, const Array& mask, double scale = 1) {
  Generator g(mask.size());
  const std::size_t nodes = mask.shape(0);
  const Array q = g.randn({nodes, 3}) * Real(scale), k = g.randn({nodes, 3});
  judge("random vectors: " + graph, mask, q, k, g.randn({nodes, 2}));
}

// One number for each node: 1, 2, 3 ...
Array counted(std::size_t nodes) {
  Array values = zeros({nodes, 1});
  for (std::size_t i = 0; i < nodes; ++i) values(i, 0) = Real(i + 1);
  return values;
}

Array causal(std::size_t nodes) {
  Array mask = zeros({nodes, nodes});
  for (std::size_t i = 0; i < nodes; ++i)
    for (std::size_t j = 0; j <= i; ++j) mask(i, j) = 1;
  return mask;
}

// If every value is one, the output of a node is the sum of its attention weights.
void judge_sums(const Array& mask) {
  Generator g(5);
  const std::size_t nodes = mask.shape(0);
  const Array q = g.randn({nodes, 3}), k = g.randn({nodes, 3});
  const Array sums = attend(mask, q, k, ones({nodes, 1}));
  for (std::size_t i = 0; i < nodes; ++i)
    if (!(std::abs(sums(i, 0) - 1) < 1e-5F))
      return expect(
          "the attention weights of each node sum to one", false,
          "the weights of node " + std::to_string(i) + " sum to " + decimal(sums(i, 0), 4));
  expect("the attention weights of each node sum to one", true, "");
}

const Array feast = {
    {0, 0, 0, 0, 0}, {1, 0, 1, 0, 0}, {1, 0, 0, 1, 0}, {0, 0, 1, 0, 0}, {0, 1, 1, 1, 0}};

// Graphs whose outputs are easy to compute by hand. Lesson 03 prints those of the feast.
void judge_easy_graphs() {
  const Array same = ones({4, 2}), chain = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  judge("scores 0 and 1 in each row, values 1 0 and 0 1: the output is the attention weights",
        ones({2, 2}), ones({2, 2}), {{0, 0}, {Real(0.5), Real(0.5)}}, {{1, 0}, {0, 1}});
  judge("a causal graph, equal scores, values 1 to 4: the causal mean", causal(4), same, same,
        counted(4));
  judge("a chain, values 1 to 3: each node attends to the previous one, node 0 to none", chain,
        Generator(1).randn({3, 2}), Generator(2).randn({3, 2}), counted(3));
  const Array q = {{0, 1}, {1, 0}, {0, 1}, {1, 1}, {0, 1}};
  const Array k = {{2, 0}, {1, 0}, {0, 2}, {0, 1}, {1, 1}};
  const Array v = {{4, 0}, {2, 0}, {0, 3}, {0, 1}, {0, 0}};
  judge("the feast of lesson 03, where the baker (node 0) attends to nobody", feast, q, k, v);
}

int main() {
  const Array T = Generator(42).randn({3, 5}), all = ones({3, 3});
  judge("the three words on which the author tested it", all, T, T, T);
  judge_easy_graphs();
  judge_sums(causal(4));
  judge_random("a complete graph", ones({4, 4}));
  judge_random("a causal graph", causal(5));
  judge_random("the feast with every arrow reversed", xt::transpose(feast));
  judge_random("a single node that attends to itself", ones({1, 1}));
  judge_random("nodes that attend to no node", zeros({3, 3}));
  judge_random("a causal graph with scores in the hundreds", causal(6), 300);
  return verdict();
}
