// bits.hpp: the section of lesson 24 on bits per character and on FLOPs; its model, and the loss
// of the model on a held-out text.
#pragma once

#include <cmath>

#include "heed/text/corpus.hpp"
#include "tokenizers.hpp"

namespace heed {

constexpr std::size_t T = 64, C = 64, layers = 2, batch_size = 8;

inline nn::GptConfig config_of(std::size_t V) {
  nn::GptConfig config;
  config.vocab_size = V, config.block_size = T, config.layers = layers, config.embed_dim = C;
  return config;
}

// FLOPs of training, per token: 6 for each weight of a matrix product (12 C C in each block, V C in
// the output layer), and 6 T C for the scores and weighted sums of each block.
inline double flops_per_token(std::size_t V) {
  const double blocks = 12.0 * double(layers * C * C), output = double(V * C);
  return 6 * (blocks + output) + 6.0 * double(layers * T * C);
}

struct Model {
  Model(const Vocabulary& tokens, std::uint64_t seed)
      : vocabulary(tokens),
        initial(seed),
        gpt(Scope(parameters, initial), config_of(tokens.size())) {}
  Vocabulary vocabulary;
  Generator initial;
  Parameters parameters;
  nn::Gpt gpt;
};

// The tokens of the held-out text, after the last T / 2 tokens of the training text as context.
inline Ids with_context(const Vocabulary& vocabulary, const Texts& texts) {
  const Ids before = vocabulary.encode(texts.training.substr(texts.training.size() - 1000)),
            tested = vocabulary.encode(texts.held_out);
  Ids ids(before.end() - T / 2, before.end());
  ids.insert(ids.end(), tested.begin(), tested.end());
  return ids;
}

// Windows (rows, T) of zeros whose targets are all ignored.
inline Batch ignored_targets(std::size_t rows) {
  Batch batch{Indices(xt::zeros<std::int64_t>({rows, T})),
              Indices(xt::zeros<std::int64_t>({rows, T}))};
  batch.targets.fill(CrossEntropyOptions().ignore_index);
  return batch;
}

// The mean of -ln p over the tokens of the held-out text, in nats per token. Each token has a
// context of T / 2 tokens or more; the first ones have the end of the training text.
inline double held_out_loss(const Model& model, const Texts& texts) {
  const NoGrad no_grad;
  const Ids ids = with_context(model.vocabulary, texts);
  const std::size_t half = T / 2;
  const std::size_t W = (ids.size() - 1) / half;  // windows, T / 2 tokens apart
  Batch windows = ignored_targets(W);
  for (std::size_t w = 0; w < W; ++w)
    for (std::size_t t = 0; t < T && w * half + t + 1 < ids.size(); ++t) {
      windows.inputs(w, t) = ids[w * half + t];
      if (t + 1 >= half && t + 1 < T) windows.targets(w, t) = ids[w * half + t + 1];
    }
  return model.gpt.loss(windows.inputs, windows.targets).item();
}

// The bits per character by hand: -ln p token by token, with loops over the logits.
inline double bits_by_hand(const Model& model, const Texts& texts) {
  const NoGrad no_grad;
  const Ids ids = with_context(model.vocabulary, texts);
  double nats = 0;
  for (std::size_t first = 0; first + T / 2 < ids.size(); first += T / 2) {
    const std::size_t size = std::min(T, ids.size() - first);
    Indices window = Indices::from_shape({1, size});
    std::copy_n(ids.begin() + std::ptrdiff_t(first), size, window.begin());
    const Array logits = model.gpt(window).value();  // (1, size, V)
    for (std::size_t t = T / 2 - 1; t + 1 < size; ++t) {
      double sum = 0;
      for (std::size_t v = 0; v < logits.shape(2); ++v) sum += std::exp(double(logits(0, t, v)));
      nats -= double(logits(0, t, window(0, t + 1))) - std::log(sum);
    }
  }
  return nats / std::log(2.0) / double(texts.held_out.size());
}

inline double bits_per_character(const Model& model, const Texts& texts) {
  return held_out_loss(model, texts) / std::log(2.0) *
         tokens_per_character(model.vocabulary, texts.held_out);
}

inline void a_fair_measure(const Texts& texts, const Vocabulary& vocabulary) {
  section("Bits per character");
  say("Which tokens are best for a model of the play? The loss per token cannot tell: a",
      "token of two characters is harder to predict than one character, because it is",
      "two predictions at once. The same holds for perplexity, exp(loss). But bits per",
      "character can be compared. The sum of the losses of all tokens of a text is",
      "-ln p of these tokens. Divided by ln 2 it is in bits. We divide it by the number",
      "of characters:", "", "  bits per character = loss per token / ln 2 * tokens per character",
      "");
  const Model model(vocabulary, 1);
  const Texts part{texts.training, texts.held_out.substr(0, 400)};
  check("400 characters, token by token = from the mean loss",
        scalar(Real(bits_by_hand(model, part))), scalar(Real(bits_per_character(model, part))),
        1e-4);
  say("", "(Other token sequences spell the same text, and have a probability too. So this",
      "is an upper bound on -log2 p(text) / characters. Cao and Rimell 2021, \"You",
      "should evaluate your language model on marginal likelihood over tokenisations\".)", "",
      "Tokens also cost different amounts of computing. We count FLOPs (floating-point",
      "operations; Kaplan et al. 2020, section 2.1 and table 1). In the forward pass a",
      "token needs an addition and a multiplication for each weight of a matrix; in the",
      "backward pass twice as many; 6 in all. The matrices have 12 C C weights in each",
      "of L blocks, and V C in the output layer. The scores and the weighted sum of a",
      "block need 6 T C (half of the scores are masked):", "",
      "  FLOPs per token of training = 6 (12 L C C + V C) + 6 L T C", "");
  const double others = double(T * C + (2 * layers + 1) * C);  // positions and norms
  const double weights = double(nn::parameter_count(config_of(512))) - others;
  check("L = 2, T = C = 64, V = 512: by hand = from parameter_count",
        scalar(Real(flops_per_token(512))),
        scalar(Real(6 * weights + 6.0 * double(layers * T * C))), 0);
}

}  // namespace heed
