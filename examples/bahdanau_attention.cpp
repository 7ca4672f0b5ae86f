// bahdanau_attention.cpp: additive attention learns to look up a key in a list of key-value pairs.
// Bahdanau, Cho and Bengio 2015, "Neural Machine Translation by Jointly Learning to Align and
// Translate", section A.1.2: score(q, k) = v . tanh(W q + U k).
#include <heed/heed.hpp>
#include <iostream>
using namespace heed;

struct AdditiveAttention {
  AdditiveAttention(const Scope& scope, std::size_t width)
      : W(scope / "W", width, width), U(scope / "U", width, width), v(scope / "v", width, 1, false) {}

  // query (B, 1, C), keys and values (B, S, C) -> context vectors (B, C), attention weights (B, S)
  AttentionResult operator()(const Tensor& query, const Tensor& keys, const Tensor& values) const {
    const Tensor weights = softmax(squeeze(v(tanh(W(query) + U(keys))), -1), -1);  // (B, S)
    return {sum(unsqueeze(weights, -1) * values, 1), weights};
  }
  nn::Linear W, U, v;
};

int main() {
  const std::size_t B = 64, S = 6, C = 32, V = 10;
  Parameters parameters;
  Generator generator(0);
  const Scope scope(parameters, generator);
  const nn::Embedding key(scope / "key", S, C), value(scope / "value", V, C);
  const AdditiveAttention attention(scope / "attention", C);
  const nn::Linear output(scope / "output", C, V);
  optim::AdamW optimizer(parameters, {/*lr=*/0.01});
  for (int step = 1; step <= 500; ++step) {
    Indices keys = indices({B, S}), target = indices({B});
    const Indices values = generator.randint(0, V, {B, S}), query = generator.randint(0, S, {B});
    for (std::size_t b = 0; b < B; ++b) {
      xt::row(keys, std::ptrdiff_t(b)) = generator.randperm(S);  // keys 0 to S - 1 in random order
      for (std::size_t s = 0; s < S; ++s)
        if (keys(b, s) == query(b)) target(b) = values(b, s);
    }
    const AttentionResult found = attention(unsqueeze(key(query), 1), key(keys), value(values));
    const Tensor loss = cross_entropy(output(found.output), target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (step % 100 == 0) std::cout << "step " << step << "  loss " << loss.item() << '\n';
  }
}
