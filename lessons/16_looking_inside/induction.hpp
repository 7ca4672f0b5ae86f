// induction.hpp: a model of two attention layers, trained on repeated random sequences, which
// has induction heads.
#pragma once

#include "looking_inside.hpp"

namespace heed {

// Two layers of attention with residual connections, without MLPs.
struct AttentionOnly {
  static constexpr std::size_t V = 64, T = 20, C = 32, H = 2;

  explicit AttentionOnly(std::uint64_t seed)
      : g(seed),
        token(Scope(parameters, g) / "token", V, C),
        position(Scope(parameters, g) / "position", T, C),
        norm(Scope(parameters, g) / "norm", C),
        output(Scope(parameters, g) / "output", C, V, false) {
    for (std::size_t i = 0; i < 2; ++i) {
      norms.emplace_back(Scope(parameters, g) / "norms" / i, C);
      attention.emplace_back(Scope(parameters, g) / "attention" / i, C, H, false);
    }
  }
  // The logits (B, T, V). Appends the attention weights of each layer, (B, H, T, T), to `weights`.
  Tensor operator()(const Indices& tokens, std::vector<Array>* weights = nullptr) const {
    Tensor x = token(tokens) + position.weight;  // (B, T, C) + (T, C)
    for (std::size_t i = 0; i < 2; ++i) {
      const Tensor y = norms[i](x);
      if (weights != nullptr) weights->push_back(attention[i].weights(y, y, causal).value());
      x = x + attention[i](y, causal);
    }
    return output(norm(x));
  }

  Parameters parameters;
  Generator g;
  nn::AttentionMask causal{true, {}};
  nn::Embedding token, position;
  nn::LayerNorm norm;
  nn::Linear output;
  std::vector<nn::LayerNorm> norms;
  std::vector<nn::MultiHeadAttention> attention;
};

// Sequences of `shortest` to `longest` different random tokens, repeated to fill a window. If
// only_repeated, a token that occurs for the first time gets the target -100, which cross_entropy
// leaves out of the mean.
inline Batch repeated_sequences(std::size_t B, std::size_t shortest, std::size_t longest,
                                Generator& g, bool only_repeated) {
  constexpr std::size_t T = AttentionOnly::T;
  const Indices lengths = g.randint(std::int64_t(shortest), std::int64_t(longest) + 1, {B});
  Batch batch{Indices::from_shape({B, T}), Indices::from_shape({B, T})};
  for (std::size_t b = 0; b < B; ++b) {
    const Indices tokens = g.randperm(AttentionOnly::V);
    const auto length = std::size_t(lengths(b));
    for (std::size_t t = 0; t < T; ++t) {
      batch.inputs(b, t) = tokens(t % length);
      batch.targets(b, t) = only_repeated && t + 1 < length ? -100 : tokens((t + 1) % length);
    }
  }
  return batch;
}

// Returns the losses of the steps.
inline Series train(const AttentionOnly& model) {
  const std::int64_t steps = 1100;
  optim::AdamWOptions options;
  options.beta2 = 0.98, options.weight_decay = 0;
  optim::AdamW optimizer(model.parameters.tensors(), options);
  const optim::WarmupCosine schedule{0.01, 0.001, 50, steps};
  Generator g(101);
  Series losses{"two layers of two heads", {}, {}};
  for (std::int64_t step = 0; step < steps; ++step) {
    const Batch batch = repeated_sequences(16, 10, 14, g, step < 700);
    const Tensor loss = cross_entropy(model(batch.inputs), batch.targets);
    optim::zero_grad(model.parameters.tensors());
    backward(loss);
    optim::clip_grad_norm(model.parameters.tensors(), 1);
    optimizer.set_lr(schedule.at(step));
    optimizer.step();
    losses.append(double(step), loss.item());
  }
  return losses;
}

// The previous score and the prefix-matching score of each head: (4, 2).
inline Array scores_of(const AttentionOnly& model, const Indices& inputs) {
  std::vector<Array> weights;
  model(inputs, &weights);
  Array scores = zeros({4, 2});
  for (std::size_t l = 0; l < 2; ++l) {
    xt::view(scores, xt::range(2 * l, 2 * l + 2), 0) =
        head_scores(head_kinds()[0], weights[l], inputs, true);
    xt::view(scores, xt::range(2 * l, 2 * l + 2), 1) =
        head_scores(induction, weights[l], inputs, true);
  }
  return scores;
}

}  // namespace heed
