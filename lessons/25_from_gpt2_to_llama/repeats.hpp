// repeats.hpp: repeated random tokens, and the training of small Llamas on them (lesson 25).
#pragma once

#include <cmath>

#include "looking_inside.hpp"
#include "variants.hpp"

namespace heed {

// A sequence: P different random tokens of V, repeated to fill T positions; P is random.
constexpr std::size_t V = 32, T = 48, shortest = 8, longest = 24;

struct Repeats {
  Indices inputs, targets;  // (B, T)
  Indices periods;          // (B)
};

inline Repeats new_repeats(Generator& g, std::size_t B) {
  Repeats r{Indices::from_shape({B, T}), Indices::from_shape({B, T}),
            g.randint(shortest, longest + 1, {B})};
  for (std::size_t b = 0; b < B; ++b) {
    const Indices tokens = g.randperm(V);
    const auto P = std::size_t(r.periods(b));
    for (std::size_t t = 0; t < T; ++t) {
      r.inputs(b, t) = tokens(t % P);
      r.targets(b, t) = tokens((t + 1) % P);
    }
  }
  return r;
}

// The mean losses of two groups of targets: `first`, tokens that occur for the first time, and
// `repeated`, tokens after one that occurred before.
struct TwoLosses {
  double first, repeated;
};

inline TwoLosses two_losses(const Tensor& logits, const Repeats& r) {
  CrossEntropyOptions each;
  each.reduction = Reduction::none;
  const Array loss = cross_entropy(logits, r.targets, each).value();  // (B, T)
  double sums[2] = {0, 0}, counts[2] = {0, 0};
  for (std::size_t b = 0; b < loss.shape(0); ++b)
    for (std::size_t t = 0; t < T; ++t) {
      const auto P = std::size_t(r.periods(b));
      if (t + 1 == P) continue;  // the model cannot know that the repetition begins here
      sums[t < P ? 0 : 1] += loss(b, t), counts[t < P ? 0 : 1] += 1;
    }
  return {sums[0] / counts[0], sums[1] / counts[1]};
}

// The lower bound on the first of these losses: after t + 1 different tokens, each of the other
// V - t - 1 is equally likely.
inline double first_bound(const Repeats& r) {
  double sum = 0, count = 0;
  for (const std::int64_t P : r.periods)
    for (std::int64_t t = 0; t + 1 < P; ++t) sum += std::log(double(V) - double(t + 1)), ++count;
  return sum / count;
}

// The attention weight on the tokens that followed earlier occurrences of the query's token, at
// t - P + 1, t - 2P + 1, ..., as the mean over the queries t >= P: (H).
inline Array induction_by_hand(const Array& A, const Repeats& r) {  // (B, H, T, T)
  Array sums = zeros({A.shape(1)});
  double count = 0;
  for (std::size_t b = 0; b < A.shape(0); ++b) {
    const auto P = std::size_t(r.periods(b));
    for (std::size_t t = P; t < T; ++t, ++count)
      for (std::size_t s = t + 1; s >= P && s - P > 0;) {
        s -= P;
        for (std::size_t h = 0; h < sums.size(); ++h) sums(h) += A(b, h, t, s);
      }
  }
  return sums / Real(count);
}

// A Llama of one or two layers of two heads, and its curves on `shown` during the training.
struct InductionModel {
  InductionModel(std::size_t layers, std::uint64_t seed)
      : generator(seed), model(Scope(parameters, generator), llama(layers)) {
    triple_weights(parameters);
    const std::string name = layers == 1 ? "one layer" : "two layers";
    loss.name = name + ", seed " + std::to_string(seed),
    score.name = "induction score, " + loss.name;
  }
  static nn::GptConfig llama(std::size_t layers) {
    nn::GptConfig c;  // without biases
    c.vocab_size = V, c.block_size = T, c.layers = layers, c.heads = 2, c.embed_dim = C;
    c.norm = nn::NormKind::rms, c.mlp = nn::MlpKind::swiglu, c.tied = false;
    c.positions = nn::PositionKind::rotary;
    return c;
  }
  // Appends the loss on repeated tokens, and the largest induction score of the last layer.
  void append_point(std::int64_t step, const Repeats& shown) {
    const NoGrad no_grad;
    loss.append(double(step), two_losses(model(shown.inputs), shown).repeated);
    const Array weights = capture_attention(model, shown.inputs).back().weights;
    score.append(double(step), xt::amax(induction_by_hand(weights, shown))());
  }
  // The first step with a loss below y; a very large number if there is none.
  double first_below(double y) const {
    for (std::size_t i = 0; i < loss.y.size(); ++i)
      if (loss.y[i] < y) return loss.x[i];
    return 1e9;
  }

  Parameters parameters;
  Generator generator;
  nn::Gpt model;
  Series loss = {}, score = {};  // a point every 10 steps
};

// Trains on 16 new sequences in each step.
inline void train(InductionModel& m, std::int64_t steps, std::uint64_t seed) {
  optim::AdamW optimizer(m.parameters.tensors(), {0.005, 0.9, 0.98, 1e-8, 0});
  const optim::WarmupCosine rate{0.005, 0.0005, 50, steps};
  Generator g(1000 + seed), g_shown(8);
  const Repeats shown = new_repeats(g_shown, 16);
  for (std::int64_t step = 0; step < steps; ++step) {
    if (step % 10 == 0) m.append_point(step, shown);
    const Repeats batch = new_repeats(g, 16);
    optim::zero_grad(m.parameters.tensors());
    backward(m.model.loss(batch.inputs, batch.targets));
    optim::clip_grad_norm(m.parameters.tensors(), 1);
    optimizer.set_lr(rate.at(step));
    optimizer.step();
  }
  m.append_point(steps, shown);
}

}  // namespace heed
