// 16_induction.hpp: a small model with induction heads, trained on repeated random sequences, for
// lesson 16.
#pragma once

#include "heed/report/table.hpp"
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
  // The logits (B, T, V). Appends the attention weights of each layer, (B, H, T, T).
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
// only_repeated, the tokens that occur for the first time are no targets (-100).
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

inline void train(const AttentionOnly& model) {
  const std::int64_t steps = 1100;
  optim::AdamWOptions options;
  options.beta2 = 0.98, options.weight_decay = 0;
  optim::AdamW optimizer(model.parameters.tensors(), options);
  const optim::WarmupCosine schedule{0.01, 0.001, 50, steps};
  Generator g(101);
  for (std::int64_t step = 0; step < steps; ++step) {
    const Batch batch = repeated_sequences(16, 10, 14, g, step < 700);
    optim::zero_grad(model.parameters.tensors());
    backward(cross_entropy(model(batch.inputs), batch.targets));
    optim::clip_grad_norm(model.parameters.tensors(), 1);
    optimizer.set_lr(schedule.at(step));
    optimizer.step();
  }
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

inline void induction_heads() {
  section("Induction heads");
  say("An induction head needs two layers: a previous token head in layer 0 writes into",
      "each position which token is before it, and the keys of layer 1 read this:",
      "K-COMPOSITION (Elhage et al. 2021). We train two layers of two heads, without",
      "MLPs, on random sequences of different tokens that repeat. Only the repetition",
      "can be predicted. On such text the induction score is the PREFIX-MATCHING SCORE",
      "(Olsson et al. 2022). It is measured again after zero ablation of the head of",
      "layer 0 with the larger previous score:");
  const AttentionOnly model(1);
  train(model);
  const NoGrad no_grad;
  Generator g(5);
  const Batch test = repeated_sequences(64, 10, 10, g, true);  // ten tokens, twice
  const Names rows = {"layer 0, head 0", "layer 0, head 1", "layer 1, head 0", "layer 1, head 1"};
  const Array with = scores_of(model, test.inputs);
  const double loss = cross_entropy(model(test.inputs), test.targets).item();
  const auto previous = std::size_t(with(1, 0) > with(0, 0) ? 1 : 0);
  Tensor out = model.attention[0].out.weight;  // (C, C)
  xt::view(out.mutable_value(), xt::all(), xt::range(16 * previous, 16 * previous + 16)) = Real(0);
  const Array without = scores_of(model, test.inputs);
  const double loss_without = cross_entropy(model(test.inputs), test.targets).item();
  const Array both =
      xt::hstack(xt::xtuple(with, Array(xt::view(without, xt::all(), xt::range(1, 2)))));
  say("");
  quote(table(both, {"64 new sequences", rows, {"previous", "prefix-matching", "ablated"}, 2}) +
        "\n'ablated': prefix-matching without layer 0, head " + std::to_string(previous) +
        "\nloss in the repetition " + decimal(loss, 2) + ", without this head " +
        decimal(loss_without, 2) + ", uniform ln 64 = " + decimal(std::log(64.0), 2));
  const double best = std::max(with(2, 1), with(3, 1));
  claim_less("a head of layer 1 has a prefix-matching score above 0.6", 0.6, best);
  claim_less("no head of layer 0 has one above 0.4", std::max(with(0, 1), with(1, 1)), 0.4);
  claim_less("without the previous token head of layer 0 it falls below half",
             std::max(without(2, 1), without(3, 1)), best / 2);
}

}  // namespace heed
