// training.hpp: the encoder-decoder of lesson 20, and its training.
#pragma once

#include "heed/nn/encoder_decoder.hpp"
#include "measures.hpp"
#include "models_in_threads.hpp"

namespace heed {

constexpr std::size_t C = 32, H = 4;  // width and heads
inline const std::int64_t steps = in_brief(1800, 1000);
inline const std::size_t seeds = std::size_t(in_brief(5, 2));

// An attention that a model lacks: a query then attends to its own position only, and in
// cross-attention to no key at all.
enum class Part { none, encoder_self, causal_self, cross };

struct Transformer {
  explicit Transformer(const Scope& scope, Part removed = Part::none, std::size_t layers = 1)
      : token(scope / "token", V, C),
        encoder(scope / "encoder", layers, C, H),
        decoder(scope / "decoder", layers, C, H),
        head(scope / "head", C, V),
        without(removed) {}

  Tensor embed(const Indices& tokens) const {  // (B, T) -> (B, T, C)
    return token(tokens) + nn::sinusoidal_positions(tokens.shape(1), C);
  }
  nn::AttentionMask mask_of(const Indices& source) const {
    nn::AttentionMask m;
    m.key_padding = xt::equal(source, padding);  // (B, S), true (hidden) at padding
    return m;
  }
  Tensor encode(const Indices& source) const {  // (B, S) -> the memory (B, S, C)
    nn::AttentionMask m = mask_of(source);
    if (without == Part::encoder_self) m.mask = only_own_position(source.shape(1));
    return encoder(embed(source), m);
  }
  // The memory (B, S, C) of the source (B, S), and the decoder's input (B, T) -> logits (B, T, V)
  Tensor decode(const Tensor& memory, const Indices& source, const Indices& input) const {
    nn::AttentionMask causal, m = mask_of(source);
    causal.causal = without != Part::causal_self;
    if (without == Part::causal_self) causal.mask = only_own_position(input.shape(1));
    if (without == Part::cross) m.key_padding->fill(true);
    return head(decoder(embed(input), memory, causal, m));
  }
  Tensor operator()(const Indices& source, const Indices& input) const {
    return decode(encode(source), source, input);
  }

  nn::Embedding token;
  nn::Encoder encoder;
  nn::Decoder decoder;
  nn::Linear head;
  Part without;
};

// In lesson.cpp: the outputs of greedy decoding.
std::vector<Tokens> greedy_outputs(const Transformer& model, const std::vector<Pair>& pairs);

// In lesson.cpp: the logits (B, T, V) without a head, and the weights (B, H, T, S).
struct Decoded {
  Tensor logits, weights;
};
Decoded decoded_without(std::size_t head, const Transformer& model, const Batch& batch);

inline Tensor loss_of(const Transformer& model, const Batch& batch) {
  CrossEntropyOptions options;
  options.ignore_index = padding;  // no loss where the target is padding
  return cross_entropy(model(batch.source, batch.input), batch.target, options);
}

inline Transformer train(const Data& data, Part removed, std::uint64_t seed, double rate) {
  Parameters parameters;
  Generator g(seed);  // draws the initial weights, then the batches
  const Transformer model({parameters, g}, removed);
  optim::AdamW optimizer(parameters, {rate, 0.9, 0.98, 1e-8, 0});  // no weight decay
  const optim::WarmupCosine schedule{rate, rate / 100, steps / 10, steps};
  for (std::int64_t step = 0; step < steps; ++step) {
    const Tensor loss = loss_of(model, data.training_batch(g, 32));
    optimizer.zero_grad();
    loss.backward();
    optim::clip_grad_norm(parameters, 1);
    optimizer.set_lr(schedule.at(step));
    optimizer.step();
  }
  return model;
}

struct Setting {
  std::string name;  // what the model lacks
  Part without;
  double rate;  // the learning rate
  std::size_t seeds;
};
inline const std::vector<Setting> settings = {
    {"none", Part::none, 0.02, seeds},
    {"encoder self-attention", Part::encoder_self, 0.01, seeds},
    {"causal self-attention", Part::causal_self, 0.005, seeds},
    {"cross-attention", Part::cross, 0.02, 1}};
using Models = std::vector<Transformer>;  // one for each seed

inline std::vector<Models> train_all(const Data& data, const std::vector<Setting>& all,
                                     std::uint64_t first_seed) {
  std::vector<std::size_t> number;
  for (const Setting& setting : all) number.push_back(setting.seeds);
  return models_in_threads<Transformer>(number, [&](std::size_t i, std::size_t seed) {
    return train(data, all[i].without, first_seed + seed, all[i].rate);
  });
}

inline std::vector<TuningRow> sweep(const Data& data) {
  std::vector<Setting> all = {settings.begin(), settings.begin() + 3};  // the last learns nothing
  for (Setting& setting : all) setting.seeds = 2;
  const Batch batch = batch_of(data.tuning_pairs());
  return losses_of_rates(
      all, {0.0025, 0.005, 0.01, 0.02, 0.04},
      [&](const std::vector<Setting>& changed) { return train_all(data, changed, 11); },
      [&](const Transformer& model) { return loss_of(model, batch).item(); });
}

}  // namespace heed
