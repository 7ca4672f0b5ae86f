// Tests exercise 15b kv_cache: compares each output with the engine's attention over all tokens so
// far, and counts the calls of the projections.

#include <cmath>
#include <memory>

#include "exercise.hpp"
#include "heed/ops/attention.hpp"
#include "heed/ops/matmul.hpp"
#include "kv_cache.hpp"

using namespace heed;

Array next_output(const Head& head, const Array& x, Cache& cache);
void clear(Cache& cache);

namespace {

struct Weights {
  Array W_Q, W_K, W_V;  // (d, d_k), (d, d_k), (d, d_v)
};

// A head whose projections count their calls.
struct CountingHead {
  explicit CountingHead(const Weights& weights) {
    head.query = [this, W = weights.W_Q](const Array& x) { return projected(x, W, queries); };
    head.key = [this, W = weights.W_K](const Array& x) { return projected(x, W, keys); };
    head.value = [this, W = weights.W_V](const Array& x) { return projected(x, W, values); };
  }
  CountingHead(const CountingHead&) = delete;
  CountingHead& operator=(const CountingHead&) = delete;

  static Array projected(const Array& x, const Array& W, std::size_t& calls) {
    ++calls;
    return xt::linalg::dot(x, W);
  }

  Head head;
  std::size_t queries = 0, keys = 0, values = 0;  // number of calls
};

// The last row of causal attention over the first `count` rows of X.
Array expected_output(const Weights& w, const Array& X, std::size_t count) {
  const Tensor x(Array(xt::view(X, xt::range(0, count))));
  AttentionOptions causal;
  causal.causal = true;
  const Array all = scaled_dot_product_attention(matmul(x, Tensor(w.W_Q)), matmul(x, Tensor(w.W_K)),
                                                 matmul(x, Tensor(w.W_V)), causal)
                        .value();
  return xt::view(all, count - 1);
}

// The reader's outputs for the rows of X, one after the other, and the expected outputs.
struct Outputs {
  std::vector<Array> got, expected;
};

void append(Outputs& outputs, const CountingHead& counting, const Weights& w, const Array& X,
            std::size_t t, Cache& cache) {
  outputs.got.push_back(next_output(counting.head, xt::view(X, t), cache));
  outputs.expected.push_back(expected_output(w, X, t + 1));
}

// All outputs as a matrix with a row for each token, if each has the expected size.
void compare(const std::string& what, const Outputs& outputs) {
  const std::size_t T = outputs.got.size(), width = outputs.expected[0].size();
  Array got = zeros({T, width}), expected = got;
  for (std::size_t t = 0; t < T; ++t) {
    if (outputs.got[t].dimension() != 1 || outputs.got[t].size() != width)
      return expect(what, outputs.got[t], outputs.expected[t]);
    xt::view(got, t) = outputs.got[t];
    xt::view(expected, t) = outputs.expected[t];
  }
  expect(what, got, expected);
}

void judge_calls(const std::string& what, const CountingHead& head, std::size_t tokens) {
  const bool once = head.queries == tokens && head.keys == tokens && head.values == tokens;
  expect(what + ": one query, key and value per token", once,
         "calls for " + std::to_string(tokens) + " tokens: query " + std::to_string(head.queries) +
             ", key " + std::to_string(head.keys) + ", value " + std::to_string(head.values));
}

void judge(const std::string& what, const Weights& w, const Array& X) {
  CountingHead counting(w);
  Cache cache;
  Outputs outputs;
  for (std::size_t t = 0; t < X.shape(0); ++t) append(outputs, counting, w, X, t, cache);
  compare(what, outputs);
  judge_calls(what, counting, X.shape(0));
}

Weights random_weights(std::size_t d, std::size_t d_k, std::size_t d_v, Generator& g) {
  return {g.randn({d, d_k}), g.randn({d, d_k}), g.randn({d, d_v})};
}

// Integers so small that the scores computed from them in float are exact.
Array whole_numbers(std::int64_t limit, std::size_t rows, std::size_t columns, Generator& g) {
  const Indices numbers = g.randint(1 - limit, limit, {rows, columns});
  return xt::cast<Real>(numbers);
}

// Three sequences of different lengths with one cache, which is cleared between them.
void judge_clear(const Weights& w, Generator& g) {
  CountingHead counting(w);
  Cache cache;
  for (const std::size_t T : {4u, 7u, 2u}) {
    const Array X = g.randn({T, w.W_Q.shape(0)});
    Outputs outputs;
    for (std::size_t t = 0; t < T; ++t) append(outputs, counting, w, X, t, cache);
    compare("a cleared cache, " + std::to_string(T) + " tokens", outputs);
    clear(cache);
  }
  judge_calls("a cleared cache", counting, 13);
}

void judge_two_caches(const Weights& w, Generator& g) {
  CountingHead counting(w);
  Cache caches[2];
  Outputs outputs[2];
  const std::size_t d = w.W_Q.shape(0);
  const Array X[] = {g.randn({5, d}), g.randn({5, d})};
  for (std::size_t t = 0; t < 5; ++t)
    for (std::size_t i = 0; i < 2; ++i) append(outputs[i], counting, w, X[i], t, caches[i]);
  compare("two caches in turn: the first", outputs[0]);
  compare("two caches in turn: the second", outputs[1]);
}

}  // namespace

int main() {
  Generator g(15);
  const Weights w = random_weights(6, 4, 3, g), wide = random_weights(2, 5, 7, g);
  judge("one token", w, g.randn({1, 6}));
  judge("8 tokens, d_k = 4, d_v = 3", w, g.randn({8, 6}));
  judge("20 tokens, d_k = 5, d_v = 7", wide, g.randn({20, 2}));
  const Weights large = {whole_numbers(16, 5, 4, g), whole_numbers(16, 5, 4, g), g.randn({5, 2})};
  judge("scores up to 100000", large, whole_numbers(4, 9, 5, g));
  judge("scores below zero", {large.W_Q, -large.W_Q, large.W_V}, whole_numbers(4, 6, 5, g));
  judge_clear(w, g);
  judge_two_caches(w, g);
  return verdict();
}
