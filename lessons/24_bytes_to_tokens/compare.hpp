// compare.hpp: trains GPTs that differ in the tokenizer only, for the same number of
// floating-point operations, and measures their bits per character on a held-out text.
#pragma once

#include <memory>

#include "bits.hpp"
#include "estimate.hpp"
#include "heed/array/parallel.hpp"

namespace heed {

// A kind of tokens, and the learning rate for them.
struct Tokens {
  std::string name;
  Vocabulary vocabulary;
  double lr;
};

// Trains with AdamW as lesson 15. Returns the bits per character against the FLOPs (in units of
// 1e9), at 15 points (3 if brief); with `measured` false, at none.
inline Series train(const Model& model, const Texts& texts, const Tokens& tokens, double flops,
                    std::uint64_t seed, bool measured) {
  const Corpus corpus(texts.training, tokens.vocabulary);
  const Split all{&corpus, 0, corpus.size(), "training"};
  const double step_flops = flops_per_token(tokens.vocabulary.size()) * double(batch_size * T);
  const auto steps = std::int64_t(flops / step_flops);
  optim::AdamWOptions options;
  options.beta2 = 0.99, options.weight_decay = 0.1, options.decay_vectors = false;
  optim::AdamW optimizer(model.parameters.tensors(), options);
  const optim::WarmupCosine schedule{tokens.lr, tokens.lr / 10, steps / 15, steps};
  Generator g(1000 + seed);
  const std::int64_t points = in_brief(15, 3);
  Series curve{tokens.name, {}, {}, /*points=*/true};
  for (std::int64_t step = 1; step <= steps; ++step) {
    const Batch batch = random_batch(all, batch_size, T, g);  // (B, T)
    optim::zero_grad(model.parameters.tensors());
    backward(model.gpt.loss(batch.inputs, batch.targets));
    optim::clip_grad_norm(model.parameters.tensors(), 1);
    optimizer.set_lr(schedule.at(step - 1));
    optimizer.step();
    if (measured && step * points / steps > (step - 1) * points / steps)
      curve.append(double(step) * step_flops / 1e9, bits_per_character(model, texts));
  }
  return curve;
}

// The models of one kind of tokens, one for each seed, and their results on the held-out text.
struct Result {
  const Tokens* tokens;
  std::vector<std::shared_ptr<const Model>> models;
  std::vector<double> loss, bits;  // nats per token, bits per character
  Series curve;                    // of the first seed
};

constexpr std::uint64_t first_seed = 1;

// Trains as many models at once as heed has threads.
inline std::vector<Result> train_all(const std::vector<Tokens>& kinds, const Texts& texts,
                                     double flops, std::size_t seeds) {
  std::vector<Result> results;
  const std::vector<double> empty(seeds, 0);
  for (const Tokens& tokens : kinds)
    results.push_back({&tokens, {seeds, nullptr}, empty, empty, {}});
  parallel_for(kinds.size() * seeds, 1, [&](std::size_t i, std::size_t) {
    Result& result = results[i / seeds];
    const std::size_t n = i % seeds;
    const std::uint64_t seed = first_seed + n;
    const auto model = std::make_shared<const Model>(result.tokens->vocabulary, seed);
    const Series curve = train(*model, texts, *result.tokens, flops, seed, n == 0);
    if (n == 0) result.curve = curve;
    result.models[n] = model;
    result.loss[n] = held_out_loss(*model, texts);
    result.bits[n] = bits_per_character(*model, texts);
  });
  return results;
}

inline double least(const std::vector<double>& x) { return *std::min_element(x.begin(), x.end()); }
inline double largest(const std::vector<double>& x) {
  return *std::max_element(x.begin(), x.end());
}

// "1.80 +- 0.01", or "1.80" of one seed.
inline std::string with_error(const std::vector<double>& x, int decimals) {
  if (x.size() == 1) return decimal(x[0], decimals);
  const Estimate e = estimate(x);
  return decimal(e.mean, decimals) + " +- " + decimal(e.standard_error, decimals);
}

// One row for each kind of tokens.
inline std::string table_of(const std::vector<Result>& results, const Texts& texts) {
  std::string table =
      "               parameters   characters   nats per        bits per\n"
      "tokens                      per token    token           character";
  for (const Result& result : results) {
    const Vocabulary& vocabulary = result.tokens->vocabulary;
    const double characters = 1 / tokens_per_character(vocabulary, texts.held_out);
    table += "\n" + pad_right(result.tokens->name, 15) +
             pad_left(grouped(double(nn::parameter_count(config_of(vocabulary.size())))), 10) +
             pad_left(decimal(characters, 2), 12) + "     " +
             pad_right(with_error(result.loss, 3), 18) + with_error(result.bits, 3);
  }
  return table;
}

inline void picture_of_compute(const std::string& lesson, const std::vector<Result>& results) {
  std::string script =
      "set title 'Same blocks, same FLOPs, other tokens'\nset key top right\n"
      "set yrange [1.5:4]\nset xrange [0:*]\nset xlabel 'FLOPs of training (billions)'\n"
      "set ylabel 'bits per character, held out'\n";
  std::string plots;
  for (std::size_t c = 0; c < results.size(); ++c) {
    script += block_of(c, results[c].curve);
    plots += plotted(c, results[c].tokens->name);
  }
  picture_by_gnuplot(lesson, "compute", script + plots);
}

}  // namespace heed
