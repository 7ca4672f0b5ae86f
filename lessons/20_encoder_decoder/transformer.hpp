// transformer.hpp: the encoder-decoder of lesson 20, and its training.
#pragma once

#include <memory>

#include "heed/nn/encoder_decoder.hpp"
#include "sequences.hpp"

namespace heed {

constexpr std::size_t C = 32, H = 4;  // width and heads

// An attention that can be removed. A removed self-attention passes no information between
// positions, a removed cross-attention none from the memory.
enum class Part { none, encoder_self, causal_self, cross };

inline Mask only_own_position(std::size_t T) {  // (T, T), true (may attend) on the diagonal
  Mask own = mask({T, T});
  for (std::size_t t = 0; t < T; ++t) own(t, t) = true;
  return own;
}

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

// The cross-entropy of the targets that are not padding.
inline Tensor loss_of(const Transformer& model, const Batch& batch) {
  CrossEntropyOptions options;
  options.ignore_index = padding;
  return cross_entropy(model(batch.source, batch.input), batch.target, options);
}

// A model that owns its parameters, and its losses in training.
struct Trained {
  Trained(std::uint64_t seed, Part removed, std::size_t layers = 1)
      : parameters(std::make_unique<Parameters>()),
        generator(std::make_unique<Generator>(seed)),
        model(Scope(*parameters, *generator), removed, layers) {}

  std::unique_ptr<Parameters> parameters;
  std::unique_ptr<Generator> generator;  // draws the initial weights, then the batches
  Transformer model;
  Series losses = {"training loss", {}, {}};
};

inline Trained train(const Data& data, std::uint64_t seed, Part removed, std::int64_t steps,
                     std::size_t layers = 1) {
  const double lr = 0.01;
  Trained trained(seed, removed, layers);
  optim::AdamW optimizer(*trained.parameters, {lr, 0.9, 0.98, 1e-8, 0});  // no weight decay
  const optim::WarmupCosine rate{lr, lr / 100, steps / 10, steps};
  for (std::int64_t step = 0; step < steps; ++step) {
    const Tensor loss = loss_of(trained.model, data.training_batch(*trained.generator, 32));
    trained.losses.append(double(step), loss.item());
    optimizer.zero_grad();
    loss.backward();
    optim::clip_grad_norm(*trained.parameters, 1);
    optimizer.set_lr(rate.at(step));
    optimizer.step();
  }
  return trained;
}

// Greedy decoding of one source (1, S): the decoder reads its own predictions, up to <stop>.
inline Tokens greedy_output(const Transformer& model, const Indices& source) {
  const NoGrad no_grad;
  const Tensor memory = model.encode(source);  // (1, S, C), computed once
  Tokens output = {start};
  while (output.back() != stop && output.size() < source.size()) {
    Indices input = indices({1, output.size()});
    std::copy(output.begin(), output.end(), input.begin());
    const Tensor logits = model.decode(memory, source, input);  // (1, T, V)
    output.push_back(argmax(select(logits, 1, -1), -1)(0));
  }
  return {output.begin() + 1, output.end()};
}

// The same for the sources of all pairs, in one padded batch.
inline std::vector<Tokens> greedy_outputs(const Transformer& model,
                                          const std::vector<Pair>& pairs) {
  const NoGrad no_grad;
  const Indices source = batch_of(pairs).source;  // (B, S)
  const std::size_t B = pairs.size(), S = source.shape(1);
  const Tensor memory = model.encode(source);
  Indices input = indices({B, S}, start);  // (B, S): <start>, then the predictions
  std::vector<Tokens> outputs(B);
  for (std::size_t t = 0; t + 1 < S; ++t) {  // a right output is shorter than the source
    const Indices prefix = xt::view(input, xt::all(), xt::range(0, t + 1));
    const Tensor logits = select(model.decode(memory, source, prefix), 1, std::int64_t(t));
    const Indices next = argmax(logits, -1);  // (B)
    for (std::size_t b = 0; b < B; ++b) {
      input(b, t + 1) = next(b);
      const bool ended = !outputs[b].empty() && outputs[b].back() == stop;
      if (!ended && t + 1 < pairs[b].source.size()) outputs[b].push_back(next(b));
    }
  }
  return outputs;
}

// The fraction of the pairs whose whole output is right.
inline double exact_match(const Transformer& model, const std::vector<Pair>& pairs) {
  const std::vector<Tokens> outputs = greedy_outputs(model, pairs);
  double right = 0;
  for (std::size_t b = 0; b < pairs.size(); ++b) right += is_right(pairs[b], outputs[b]);
  return right / double(pairs.size());
}

}  // namespace heed
