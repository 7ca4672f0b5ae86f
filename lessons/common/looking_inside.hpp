// looking_inside.hpp: trains and saves the model of lesson 16, and helpers for its tables.
#pragma once

#include <cmath>
#include <filesystem>
#include <limits>

#include "heed/files/model_file.hpp"
#include "heed/study/ablation.hpp"
#include "heed/study/heads.hpp"
#include "heed/text/corpus.hpp"
#include "lesson.hpp"

namespace heed {

inline void train(const nn::Gpt& model, const Parameters& parameters, const Split& part,
                  std::int64_t steps) {
  optim::AdamWOptions options;
  options.lr = 4e-3;
  optim::AdamW optimizer(parameters.tensors(), options);
  Batches batches(part, 16, model.config.block_size, std::uint64_t{1});
  Series losses{"training loss", {}, {}};
  for (std::int64_t step = 1; step <= steps; ++step) {
    const Batch batch = batches.next();
    Tensor loss = model.loss(batch.inputs, batch.targets);
    optim::zero_grad(parameters.tensors());
    backward(loss);
    optimizer.step();
    losses.append(double(step), loss.item());
    if (step == 1 || step == steps / 10 || step == steps)
      quote("step " + pad_left(std::to_string(step), 4) + "   loss " + decimal(loss.item(), 2));
  }
  loss_curves("loss (nats per character)", {losses});
}

// Trains a GPT with 2 blocks of 4 heads and writes folder/checkpoint.safetensors.
inline void train_and_save(const Corpus& corpus, const Vocabulary& vocabulary, std::uint64_t seed,
                           std::int64_t steps, const std::string& folder) {
  nn::GptConfig config;
  config.vocab_size = vocabulary.size(), config.block_size = 32, config.embed_dim = 64;
  config.layers = 2, config.heads = 4;
  Parameters parameters;
  Generator generator(seed);
  const nn::Gpt model(Scope(parameters, generator), config);
  train(model, parameters, corpus.training(), steps);
  std::filesystem::create_directories(folder);
  const std::string file = folder + "/checkpoint.safetensors";
  save_model(file, parameters, config, vocabulary);
  Indices tokens = corpus.ids(0, 32);
  tokens.reshape({1, 32});
  check("logits of the saved model = logits of the model",
        LoadedModel(ModelFile::open(file)).model(tokens), model(tokens), 0);
}

// The token ids (1, T) of a text.
inline Indices ids_of(const Vocabulary& vocabulary, const std::string& text) {
  const std::vector<std::int64_t> line = vocabulary.encode(text);
  Indices ids = Indices::from_shape({1, line.size()});
  std::copy(line.begin(), line.end(), ids.begin());
  return ids;
}

// One head's weights (T, T) in the first window; masked weights are -infinity, for pictures.
inline Array masked_weights(const Array& weights, std::size_t head) {  // (B, H, T, T)
  const Tensor A{Array(xt::view(weights, 0, head))};
  return masked_fill(A, future_mask(A.shape()[0]), -std::numeric_limits<Real>::infinity()).value();
}

inline Names letters_of(const Vocabulary& vocabulary, const Indices& ids) {
  Names letters;
  for (const std::int64_t id : ids) letters.push_back(printable(vocabulary.decode(id)));
  return letters;
}

// Induction heads: the key positions s that follow an earlier occurrence of the token at t.
inline const HeadKind induction = {"induction",
                                   [](const std::int64_t* tokens, std::size_t t, std::size_t s) {
                                     return s > 0 && tokens[s - 1] == tokens[t];
                                   }};

inline void claim_less(const std::string& what, double a, double b,
                       SourceLocation location = SourceLocation::current()) {
  claim(what, a < b, decimal(a, 4) + " and " + decimal(b, 4), location);
}

// The loss of each window (B).
inline Array losses(const nn::Gpt& model, const Indices& windows) {
  Array result = zeros({windows.shape(0)});
  for (std::size_t b = 0; b < result.size(); ++b)
    result(b) = Real(next_token_loss(model, xt::view(windows, xt::range(b, b + 1))));
  return result;
}

// The standard error of the mean.
inline double standard_error(const Array& x) {
  const double n = double(x.size()), mean = xt::mean(x)();
  double squares = 0;
  for (const Real value : x) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / (n - 1) / n);
}

}  // namespace heed
