// variants.hpp: GPT-2 and the steps from it to Llama, trained on the same text (lesson 25).
#pragma once

#include "heed/base/file.hpp"
#include "heed/study/ablation.hpp"
#include "heed/text/corpus.hpp"
#include "lesson.hpp"

namespace heed {

constexpr std::size_t C = 48, H = 4, num_layers = 2, window = 32;

struct Variant {
  std::string name;
  nn::GptConfig config;
  double lr;  // chosen from 0.004 to 0.0226, each 1.4 times the one before, with other seeds
};

// GPT-2, and after each change. The last one is Llama.
inline std::vector<Variant> variants_of(std::size_t vocab_size) {
  nn::GptConfig c;
  c.vocab_size = vocab_size, c.block_size = window;
  c.layers = num_layers, c.heads = H, c.embed_dim = C, c.bias = true;
  std::vector<Variant> all = {{"GPT-2", c, 0.016}};
  c.norm = nn::NormKind::rms;
  all.push_back({"+ RMSNorm", c, 0.016});
  c.positions = nn::PositionKind::rotary;
  all.push_back({"+ rotary", c, 0.016});
  c.mlp = nn::MlpKind::swiglu;
  all.push_back({"+ SwiGLU", c, 0.016});
  c.kv_heads = H / 2;
  all.push_back({"+ grouped queries", c, 0.0057});
  c.bias = false;
  all.push_back({"- biases = Llama", c, 0.0057});
  return all;
}

// GPT-2 draws weights with standard deviation 0.02 for a width of 768. Three times as much suits
// our width of 48: all variants then learn faster.
inline void triple_weights(const Parameters& parameters) {
  for (Tensor p : parameters)
    if (p.dim() == 2) p.mutable_value() *= Real(3);
}

// A text, and windows of its validation part.
struct Text {
  Text()
      : text(read_text(HEED_DATA_DIR "/harbour.txt")),
        vocabulary(Vocabulary::of_text(text)),
        corpus(text, vocabulary) {
    const Split part = corpus.validation();
    windows = corpus.ids(part.begin, part.size / (window + 1) * (window + 1));
    windows.reshape({part.size / (window + 1), window + 1});
  }
  std::string text;
  Vocabulary vocabulary;
  Corpus corpus;
  Indices windows;  // (233, 33)
};

// A model in training, with an optimizer of its own.
struct Run {
  Run(const Text& text, const Variant& variant, std::uint64_t seed, std::int64_t num_steps)
      : generator(seed),
        model(Scope(parameters, generator), variant.config),
        optimizer(parameters.tensors(), options()),
        rate{variant.lr, variant.lr / 10, 30, num_steps},
        batches(text.corpus.training(), 12, window, 1000 + seed) {
    triple_weights(parameters);
  }
  static optim::AdamWOptions options() {
    optim::AdamWOptions o;
    o.beta2 = 0.99, o.weight_decay = 0.1, o.decay_vectors = false;
    return o;
  }
  // One step. Returns the loss.
  double step() {
    const Batch batch = batches.next();
    const Tensor loss = model.loss(batch.inputs, batch.targets);
    optim::zero_grad(parameters.tensors());
    backward(loss);
    optim::clip_grad_norm(parameters.tensors(), 1);
    optimizer.set_lr(rate.at(steps++));
    optimizer.step();
    return loss.item();
  }

  Parameters parameters;
  Generator generator;
  nn::Gpt model;
  optim::AdamW optimizer;
  optim::WarmupCosine rate;
  Batches batches;
  std::int64_t steps = 0;
};

}  // namespace heed
