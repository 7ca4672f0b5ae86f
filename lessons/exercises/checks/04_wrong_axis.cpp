// 04 wrong_axis: what each node receives, on graphs of every kind, against loops over its senders.

#include <algorithm>
#include <cmath>

#include "exercise.hpp"

using namespace heed;

Array attend(const Array& hears, const Array& queries, const Array& keys, const Array& values);

std::vector<std::size_t> heard_by(std::size_t i, const Array& hears) {
  std::vector<std::size_t> senders;
  for (std::size_t j = 0; j < hears.shape(1); ++j)
    if (hears(i, j) > 0) senders.push_back(j);
  return senders;
}

double score(const Array& queries, std::size_t i, const Array& keys, std::size_t j) {
  double sum = 0;
  for (std::size_t d = 0; d < keys.shape(1); ++d) sum += double(queries(i, d)) * double(keys(j, d));
  return sum;
}

// What node j counts for node i: one by exp of how far each other sender's score lies above j's.
double share(std::size_t i, std::size_t j, const Array& hears, const Array& q, const Array& k) {
  double times = 0;
  for (const std::size_t other : heard_by(i, hears))
    times += std::exp(score(q, i, k, other) - score(q, i, k, j));
  return 1 / times;
}

Array wanted(const Array& hears, const Array& q, const Array& k, const Array& v) {
  Array received = zeros({hears.shape(0), v.shape(1)});
  for (std::size_t i = 0; i < hears.shape(0); ++i)
    for (std::size_t d = 0; d < v.shape(1); ++d) {
      double sum = 0;
      for (const std::size_t j : heard_by(i, hears))
        sum += share(i, j, hears, q, k) * double(v(j, d));
      received(i, d) = Real(sum);
    }
  return received;
}

void judge(const std::string& graph, const Array& hears, const Array& q, const Array& k,
           const Array& v) {
  expect(graph, attend(hears, q, k, v), wanted(hears, q, k, v), 1e-4);
}

void judge_random(const std::string& graph, const Array& hears, double sharpness = 1) {
  Generator g(hears.size());
  const std::size_t nodes = hears.shape(0);
  const Array q = g.randn({nodes, 3}) * Real(sharpness), k = g.randn({nodes, 3});
  judge("random vectors: " + graph, hears, q, k, g.randn({nodes, 2}));
}

// One number for each node: 1, 2, 3 ...
Array counted(std::size_t nodes) {
  Array values = zeros({nodes, 1});
  for (std::size_t i = 0; i < nodes; ++i) values(i, 0) = Real(i + 1);
  return values;
}

Array causal(std::size_t nodes) {
  Array hears = zeros({nodes, nodes});
  for (std::size_t i = 0; i < nodes; ++i)
    for (std::size_t j = 0; j <= i; ++j) hears(i, j) = 1;
  return hears;
}

// With values of one, what a node receives is the sum of its shares.
void judge_sums(const Array& hears) {
  Generator g(5);
  const std::size_t nodes = hears.shape(0);
  const Array q = g.randn({nodes, 3}), k = g.randn({nodes, 3});
  const Array sums = attend(hears, q, k, ones({nodes, 1}));
  for (std::size_t i = 0; i < nodes; ++i)
    if (!(std::abs(sums(i, 0) - 1) < 1e-5F))
      return expect("the shares of each node sum to one", false,
                    "those of node " + std::to_string(i) + " sum to " + decimal(sums(i, 0), 4));
  expect("the shares of each node sum to one", true, "");
}

const Array feast = {
    {0, 0, 0, 0, 0}, {1, 0, 1, 0, 0}, {1, 0, 0, 1, 0}, {0, 0, 1, 0, 0}, {0, 1, 1, 1, 0}};

// What these receive can be told without a program; the feast's stands in lesson 04.
void judge_by_eye() {
  const Array same = ones({4, 2}), chain = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  judge("scores 0 and 1 in each row, values 1 0 and 0 1: each node gets its shares", ones({2, 2}),
        ones({2, 2}), {{0, 0}, {Real(0.5), Real(0.5)}}, {{1, 0}, {0, 1}});
  judge("a causal graph, equal scores, values 1 to 4: the running mean", causal(4), same, same,
        counted(4));
  judge("a chain of values 1 to 3: each hears the one before, the first nobody", chain,
        Generator(1).randn({3, 2}), Generator(2).randn({3, 2}), counted(3));
  const Array q = {{0, 1}, {1, 0}, {0, 1}, {1, 1}, {0, 1}};
  const Array k = {{2, 0}, {1, 0}, {0, 2}, {0, 1}, {1, 1}};
  const Array v = {{4, 0}, {2, 0}, {0, 3}, {0, 1}, {0, 0}};
  judge("the feast of lesson 04, where the baker hears nobody", feast, q, k, v);
}

int main() {
  const Array T = Generator(42).randn({3, 5}), all = ones({3, 3});
  expect("the words it was tried on", attend(all, T, T, T), wanted(all, T, T, T));
  judge_by_eye();
  judge_sums(causal(4));
  judge_random("a complete graph", ones({4, 4}));
  judge_random("a causal graph", causal(5));
  judge_random("the feast with its arrows turned around", xt::transpose(feast));
  judge_random("a single node that hears itself", ones({1, 1}));
  judge_random("nodes that hear nobody at all", zeros({3, 3}));
  judge_random("a causal graph with scores in the hundreds", causal(6), 300);
  return verdict();
}
