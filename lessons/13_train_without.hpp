// 13_train_without.hpp: training a small GPT without one of its parts, for lesson 13.
#pragma once

#include <cmath>
#include <map>

#include "heed/text/corpus.hpp"
#include "lesson.hpp"

namespace heed {

// A block without one of its parts. With part "nothing" it is nn::Block.
inline Tensor block_without(const std::string& part, const nn::Block& block, Tensor x) {
  nn::AttentionMask mask;
  mask.causal = true;
  const auto norm = [&](const nn::LayerNorm& n) { return part == "norms" ? x : n(x); };
  const auto add = [&](const Tensor& branch) { x = part == "residuals" ? branch : x + branch; };
  if (part != "attention") add(block.attention(norm(block.norm1), mask));
  if (part != "MLPs") add(block.mlp(norm(block.norm2)));
  return x;  // (B, T, C)
}

inline Tensor logits_without(const std::string& part, const nn::Gpt& model, const Indices& tokens) {
  Tensor x = model.token(tokens);  // (B, T, C)
  if (part != "positions") x = x + slice(model.position.weight, 0, 0, int(tokens.shape(1)));
  for (const nn::Block& block : model.blocks) x = block_without(part, block, x);
  return linear(part == "norms" ? x : model.norm(x), model.head);  // (B, T, V)
}

// The mean of -ln p(next character | k characters before it), from the counts in the text: for k =
// 0 the unigram entropy, for k = 1 the bigram entropy.
inline double entropy_of_counts(const std::string& text, std::size_t k) {
  std::map<std::string, double> contexts, longer;
  const double all = double(text.size() - 1);
  double nats = 0;
  for (std::size_t i = 0; i + 1 < text.size(); ++i)
    ++contexts[text.substr(i, k)], ++longer[text.substr(i, k + 1)];
  for (const auto& [string, count] : longer)
    nats -= count / all * std::log(count / contexts[string.substr(0, k)]);
  return nats;
}

struct Entropies {
  double unigram, bigram;
};

inline Entropies entropies_of(const Corpus& corpus, const Split& part) {  // the text is ASCII
  const std::string text(corpus.text().substr(part.begin, part.size));
  return {entropy_of_counts(text, 0), entropy_of_counts(text, 1)};
}

// The mean loss over 128 windows of the text, the same in every call.
inline double mean_loss(const std::string& part, const nn::Gpt& model, const Split& text) {
  const NoGrad no_grad;
  Generator g(5);
  double sum = 0;
  for (int i = 0; i < 4; ++i) {
    const Batch batch = random_batch(text, 32, model.config.block_size, g);
    sum += cross_entropy(logits_without(part, model, batch.inputs), batch.targets).item() / 4;
  }
  return sum;
}

// The initial matrices get the standard deviation 1 / sqrt(C) instead of 0.02, and the last layers
// of attention and of MLPs another `factor` (their deviation is already divided by sqrt(12)).
inline void initialise(const Parameters& parameters, const nn::GptConfig& config, double factor) {
  const double scale = 50 / std::sqrt(double(config.embed_dim));
  for (Tensor p : parameters) {
    const bool last = p.name().find("out.weight") != std::string::npos ||
                      p.name().find("down.weight") != std::string::npos;
    if (p.shape().size() == 2) p.mutable_value() *= Real(last ? scale * factor : scale);
  }
}

struct Trained {
  double loss = 0;             // on the validation part
  std::size_t parameters = 0;  // the number of parameters that get a gradient
  Series curve = {};           // the training loss
  double rate = 0;             // the largest learning rate
  std::string row = {};        // the losses at all rates, as text
};

inline Trained train_without(const std::string& part, double lr, std::uint64_t seed,
                             const nn::GptConfig& config, const Corpus& corpus, double factor = 1,
                             std::int64_t steps = in_brief(600, 120)) {
  Generator g(seed);
  Parameters parameters;
  const nn::Gpt model(Scope(parameters, g), config);
  initialise(parameters, config, factor);
  optim::AdamWOptions options;
  options.beta2 = 0.99, options.weight_decay = 0.1, options.decay_vectors = false;
  optim::AdamW optimizer(parameters.tensors(), options);
  const optim::WarmupCosine schedule{lr, lr / 10, 20, steps};
  Batches batches(corpus.training(), 8, config.block_size, seed);
  Trained result;
  result.curve.name = part == "nothing" ? "all parts" : "without " + part;
  result.rate = lr;
  double sum = 0;
  for (std::int64_t step = 0; step < steps; ++step) {
    const Batch batch = batches.next();  // (8, 32) and (8, 32)
    const Tensor loss = cross_entropy(logits_without(part, model, batch.inputs), batch.targets);
    optim::zero_grad(parameters.tensors());
    backward(loss);
    optim::clip_grad_norm(parameters.tensors(), 1);
    optimizer.set_lr(schedule.at(step));
    optimizer.step();
    sum += loss.item() / 20;
    if (step % 20 == 19) result.curve.append(double(step), sum), sum = 0;
  }
  for (const Tensor& p : parameters) result.parameters += p.has_grad() ? p.value().size() : 0;
  result.loss = mean_loss(part, model, corpus.validation());
  return result;
}

// The training with the lowest loss among these learning rates.
inline Trained train_at_rates(const std::string& part, const std::vector<double>& rates,
                              const nn::GptConfig& config, const Corpus& corpus) {
  Trained best;
  std::string row;
  for (const double rate : rates) {
    const Trained result = train_without(part, rate, 1, config, corpus);
    row += pad_left(trained(result.loss), 12);
    if (best.parameters == 0 || result.loss < best.loss) best = result;
  }
  best.row = row;
  return best;
}

inline std::string table_head(const std::vector<double>& rates) {
  std::string head = "without      parameters";
  for (const double rate : rates) head += "  rate " + decimal(rate, 3);
  return head + "   best  higher by";
}

// A row of the table of losses.
inline std::string row_of(const std::string& part, const Trained& best, double with_all_parts) {
  return pad_right(part, 13) + pad_left(grouped(double(best.parameters)), 10) + best.row +
         pad_left(trained(best.loss), 8) + pad_left(trained(best.loss - with_all_parts), 11);
}

// The losses of a model trained with the seeds 1 (in `best`), 2 and 3, at the rate of seed 1.
inline std::string losses_of_seeds(const std::string& part, std::map<std::string, Trained>& best,
                                   const nn::GptConfig& config, const Corpus& corpus) {
  const Trained& first = best[part];
  std::string losses = trained(first.loss);
  for (const std::uint64_t seed : {2, 3})
    losses += "  " + trained(train_without(part, first.rate, seed, config, corpus).loss);
  return losses;
}

// The losses without residual connections that are not in the table, as lines of text.
inline std::string losses_without_residuals(const nn::GptConfig& config, const Corpus& corpus) {
  const auto line = [&](const std::string& name, double factor, double rate) {
    return "without residuals, factor " + name + "rate " + decimal(rate, 3) + "  " +
           trained(train_without("residuals", rate, 1, config, corpus, factor, 150).loss);
  };
  const double root = std::sqrt(12.0);  // divides the deviations; `factor` multiplies them
  return line("1             ", root, 0.01) + "\n" + line("1             ", root, 0.001) + "\n" +
         line("1 / sqrt(12)  ", 1, 0.001);
}

inline const Names parts = {"nothing", "norms", "positions", "MLPs", "attention", "residuals"};

// Row i of x (N, C).
inline Array row_of(const Array& x, int i) { return xt::row(x, i); }

// The model before training: means over five seeds.
struct Start {
  Array cosines;        // the mean cosine of two rows of x after 0, 1, ... blocks
  double gradient = 0;  // the norm of the gradient of the last layer of block 0's MLP
};

// The mean cosine of two rows of x (B, T, C) of one window, after normalization (mean 0, variance
// 1), so that their lengths are sqrt(C).
inline Real mean_cosine(const nn::Gpt& model, const Tensor& x) {
  const Tensor rows = model.norm(x);                                   // (B, T, C)
  const Array products = matmul(rows, transpose(rows, 1, 2)).value();  // (B, T, T)
  const double B = double(products.shape(0)), T = double(products.shape(1)),
               sum = xt::sum<double>(products)() / double(rows.shape()[2]);
  return Real((sum - B * T) / (B * T * (T - 1)));  // without the diagonal
}

inline Start at_start(const std::string& part, const nn::GptConfig& config, const Corpus& corpus) {
  Start start{zeros({config.layers + 1})};
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Generator g(seed);
    Parameters parameters;
    const nn::Gpt model(Scope(parameters, g), config);
    initialise(parameters, config, 1);
    const Batch batch = random_batch(corpus.training(), 8, config.block_size, g);
    Tensor x = model.embed(batch.inputs, 0);  // (B, T, C)
    for (std::size_t l = 0; l <= config.layers; ++l) {
      start.cosines(l) += mean_cosine(model, x) / 5;
      if (l < config.layers) x = block_without(part, model.blocks[l], x);
    }
    backward(cross_entropy(linear(model.norm(x), model.head), batch.targets));
    const Array& gradient = model.blocks[0].mlp.down.weight.grad();
    start.gradient += std::sqrt(xt::sum<double>(gradient * gradient)()) / 5;
  }
  return start;
}

}  // namespace heed
