// training.hpp: the model of lesson 17, and its training.
#pragma once

#include "heed/ops/attention.hpp"
#include "in_threads.hpp"
#include "pictures.hpp"
#include "tuning.hpp"

namespace heed {

constexpr std::size_t V = 32, T = 48, shortest = 8, longest = 24;

// Each row: P different random tokens of V, repeated to fill T positions; P is random, too.
struct Repeats {
  Indices inputs, targets;  // (B, T)
  Indices periods;          // (B)
};

// B random sequences; in lesson.cpp.
Repeats new_repeats(Generator& g, std::size_t B);

// The mean loss of the targets that follow a token which occurred before.
inline double repeated_loss(const Tensor& logits, const Repeats& r) {
  CrossEntropyOptions each;
  each.reduction = Reduction::none;
  const Array losses = cross_entropy(logits, r.targets, each).value();  // (B, T)
  double sum = 0, n = 0;
  for (std::size_t b = 0; b < losses.shape(0); ++b)
    for (std::size_t t = std::size_t(r.periods(b)); t < T; ++t) sum += losses(b, t), n += 1;
  return sum / n;
}

struct Model {
  nn::Embedding token;
  std::vector<nn::LayerNorm> norms;  // of each layer
  std::vector<nn::MultiHeadAttention> attention;
  nn::LayerNorm norm;
  nn::Linear output;

  // Tokens (B, T) -> logits (B, T, V), with a mask for each layer. In lesson.cpp.
  Tensor logits(const Indices& tokens,
                const std::vector<nn::AttentionMask>& masks = {{true}, {true}}) const;
};

// The attention weights of the head of layer l, (B, 1, T, T).
inline Array weights_of(const Model& m, std::size_t l, const Indices& tokens) {
  Tensor x = m.token(tokens);
  if (l == 1) x = x + m.attention[0](m.norms[0](x), {true});
  const Tensor y = m.norms[l](x);
  return m.attention[l].weights(y, y, {true}).value();
}

// Layers of attention with rotary positions, without MLPs.
inline Model new_model(Parameters& parameters, Generator& g, std::size_t layers, std::size_t heads,
                       std::size_t C) {
  const Scope scope(parameters, g);
  Model m{nn::Embedding(scope / "token", V, C),
          {},
          {},
          nn::LayerNorm(scope / "norm", C),
          nn::Linear(scope / "output", C, V, false)};
  for (std::size_t l = 0; l < layers; ++l) {
    m.norms.emplace_back(scope / "norms" / l, C);
    m.attention.emplace_back(scope / "attention" / l, C, heads, false,
                             nn::AttentionVariant{0, true});
  }
  for (Tensor p : parameters)
    if (p.dim() == 2) p.mutable_value() = g.normal(p.shape(), 0, 0.06);
  return m;
}

struct Trained {
  Model model;
  // Every 10 steps: the loss, the previous token score of layer 0, and the prefix-matching score of
  // the last layer.
  Series loss = {"", {}, {}}, previous = {"", {}, {}}, prefix = {"", {}, {}};
};

inline const double best_rate = 0.005;  // of one layer and of two, see the appendix

inline Trained train(std::uint64_t seed, std::size_t layers, double lr) {
  Generator g(seed), sequences(1000 + seed), fixed(8);
  Parameters parameters;
  // Two layers of one head, or one layer of three heads: 21,792 and 21,912 parameters.
  Trained m{layers == 2 ? new_model(parameters, g, 2, 1, 48) : new_model(parameters, g, 1, 3, 66)};
  const std::int64_t steps = in_brief(450, 350);
  optim::AdamW optimizer(parameters.tensors(), {lr, 0.9, 0.98, 1e-8, /*weight_decay=*/0});
  const optim::WarmupCosine rate{lr, lr / 10, 50, steps};
  const Repeats shown = new_repeats(fixed, 16);
  for (std::int64_t step = 0; step <= steps; ++step) {
    if (step % 10 == 0) {
      const NoGrad no_grad;
      m.loss.append(double(step), repeated_loss(m.model.logits(shown.inputs), shown));
      m.previous.append(double(step),
                        previous_score(weights_of(m.model, 0, shown.inputs), shown.inputs));
      m.prefix.append(double(step),
                      prefix_score(weights_of(m.model, layers - 1, shown.inputs), shown.inputs));
    }
    const Repeats batch = new_repeats(sequences, 16);
    optim::zero_grad(parameters.tensors());
    backward(cross_entropy(m.model.logits(batch.inputs), batch.targets));
    optim::clip_grad_norm(parameters.tensors(), 1);
    optimizer.set_lr(rate.at(step));
    optimizer.step();
  }
  return m;
}

inline std::vector<TuningRow> sweep() {
  Generator g(9);
  const Repeats windows = new_repeats(g, 64);
  std::vector<TuningRow> rows;
  for (const std::size_t layers : {2, 1})
    for (const double rate : {0.0025, 0.005, 0.01, 0.02}) {
      const auto loss = [&](std::uint64_t seed) {
        const Trained m = train(10 + seed, layers, rate);
        return repeated_loss(m.model.logits(windows.inputs), windows);
      };
      const Estimate e = estimate(in_threads<double>(3, loss));
      rows.push_back({layers == 2 ? "two layers" : "one layer", rate, e.mean, e.standard_error});
    }
  return rows;
}

}  // namespace heed
