// training.hpp: trains the models of lesson 16, and the text that judges them.
#pragma once

#include <filesystem>
#include <functional>

#include "harbour.hpp"
#include "heed/files/model_file.hpp"

namespace heed {

constexpr std::size_t T = 32, C = 48, L = 2, H = 4;

// Tokens (B, T) -> logits (B, T, V).
using Logits = std::function<Tensor(const nn::Gpt&, const Indices&)>;
inline Tensor whole_model(const nn::Gpt& model, const Indices& tokens) { return model(tokens); }

// Trains a GPT whose logits are those of logits_of. Saves it for `./heed look` if asked to.
inline nn::Gpt train(std::uint64_t seed, const Harbour& play, const Logits& logits_of,
                     bool saves = false) {
  nn::GptConfig config;
  config.vocab_size = play.vocab_size(), config.block_size = T, config.embed_dim = C;
  config.layers = L, config.heads = H;
  Generator g(seed);
  Parameters parameters;
  const nn::Gpt model(Scope(parameters, g), config);
  for (Tensor p : parameters)  // as in lesson 13: 1 / sqrt(C) in place of 0.02
    if (p.dim() == 2) p.mutable_value() *= Real(1 / std::sqrt(double(C)) / 0.02);
  const std::int64_t steps = in_brief(700, 250);
  optim::AdamW optimizer(parameters.tensors(), {0.01, 0.9, 0.99, 1e-8, /*weight_decay=*/0});
  const optim::WarmupCosine schedule{0.01, 0.001, 30, steps};
  for (std::int64_t step = 0; step < steps; ++step) {
    const Batch batch = play.batch(8, T, g);
    optim::zero_grad(parameters.tensors());
    backward(cross_entropy(logits_of(model, batch.inputs), batch.targets));
    optim::clip_grad_norm(parameters.tensors(), 1);
    optimizer.set_lr(schedule.at(step));
    optimizer.step();
  }
  if (saves) {
    const std::string folder = "runs/lessons/16_looking_inside";
    std::filesystem::create_directories(folder);
    save_model(folder + "/checkpoint.safetensors", parameters, config, play.vocabulary);
  }
  return model;
}

// Half of the held-out part: heads are chosen on the first half and judged on the second.
inline Batch half(const Harbour& play, std::size_t which) {
  const Batch all = play.held_out_windows(T);
  const std::size_t W = all.inputs.shape(0) / 2;  // 120 windows
  const auto half = [&](const Indices& x) {
    return Indices(xt::view(x, xt::range(which * W, which * W + W)));
  };
  return {half(all.inputs), half(all.targets)};
}

}  // namespace heed
