// train_without.hpp: training a small GPT without one of its parts, for lesson 12.
#pragma once

#include <cmath>
#include <map>

#include "gnuplot_picture.hpp"
#include "heed/text/corpus.hpp"

namespace heed {

// A block without one of its parts. With part "nothing" it is nn::Block.
inline Tensor block_without(const std::string& part, const nn::Block& block, Tensor x) {
  nn::AttentionMask mask;
  mask.causal = true;
  const auto norm = [&](const nn::Norm& n) { return part == "norms" ? x : n(x); };
  const auto add = [&](const Tensor& branch) { x = part == "residuals" ? branch : x + branch; };
  if (part != "attention") add(block.attention(norm(block.norm1), mask));
  if (part != "MLPs") add(block.mlp(norm(block.norm2)));
  return x;  // (B, T, C)
}

inline Tensor logits_without(const std::string& part, const nn::Gpt& model, const Indices& tokens) {
  Tensor x = model.token(tokens);  // (B, T, C)
  if (part != "positions") x = x + slice(model.position->weight, 0, 0, int(tokens.shape(1)));
  for (const nn::Block& block : model.blocks) x = block_without(part, block, x);
  return linear(part == "norms" ? x : model.norm(x), model.head);  // (B, T, V)
}

// The mean of -ln p(next character | k characters before it) over all characters but the first,
// from their counts in the text: for k = 0 the unigram entropy, for k = 1 the bigram entropy.
inline double entropy_of_counts(const std::string& text, std::size_t k) {
  std::map<std::string, double> contexts, longer;
  const double all = double(text.size() - 1);
  double nats = 0;
  for (std::size_t i = 0; i + 1 < text.size(); ++i)
    ++contexts[text.substr(i + 1 - k, k)], ++longer[text.substr(i + 1 - k, k + 1)];
  for (const auto& [string, count] : longer)
    nats -= count / all * std::log(count / contexts[string.substr(0, k)]);
  return nats;
}

struct Entropies {
  double unigram, bigram;
};

// Of the characters that windows_of predicts. (The text is ASCII.)
inline Entropies entropies_of(const Split& part, std::size_t T) {
  const std::string text(part.corpus->text().substr(part.begin, (part.size - 1) / T * T + 1));
  return {entropy_of_counts(text, 0), entropy_of_counts(text, 1)};
}

// A part of the text in consecutive windows of T characters: inputs and targets, (W, T).
inline Batch windows_of(const Split& part, std::size_t T) {
  const std::size_t W = (part.size - 1) / T;
  Batch windows{Indices::from_shape({W, T}), Indices::from_shape({W, T})};
  part.corpus->copy_ids(part.begin, W * T, windows.inputs.data());
  part.corpus->copy_ids(part.begin + 1, W * T, windows.targets.data());
  return windows;
}

// The mean loss over these windows.
inline double mean_loss(const std::string& part, const nn::Gpt& model, const Split& text) {
  const NoGrad no_grad;
  const Batch windows = windows_of(text, model.config.block_size);
  return cross_entropy(logits_without(part, model, windows.inputs), windows.targets).item();
}

// The mean logit of the current character.
inline double mean_own_logit(const nn::Gpt& model, const Indices& tokens) {
  const NoGrad no_grad;
  const Array logits = model(tokens).value();  // (B, T, V)
  double sum = 0;
  for (std::size_t b = 0; b < tokens.shape(0); ++b)
    for (std::size_t t = 0; t < tokens.shape(1); ++t)
      sum += logits(b, t, std::size_t(tokens(b, t)));
  return sum / double(tokens.size());
}

// The mean cosine of two rows of x (B, T, C) of one window, after normalization (mean 0, variance
// 1), so that their lengths are sqrt(C).
inline Real mean_cosine(const Tensor& x) {
  const Tensor rows = layer_norm(x, {x.shape().back()});               // (B, T, C)
  const Array products = matmul(rows, transpose(rows, 1, 2)).value();  // (B, T, T)
  const double B = double(products.shape(0)), T = double(products.shape(1)),
               sum = xt::sum<double>(products)() / double(rows.shape()[2]);
  return Real((sum - B * T) / (B * T * (T - 1)));  // without the diagonal
}

// The mean cosines of two rows of x after 0, 1, ... blocks.
inline Array mean_cosines(const std::string& part, const nn::Gpt& model, const Indices& tokens) {
  Array cosines = zeros({model.blocks.size() + 1});
  Tensor x = model.embed(tokens, 0);  // (B, T, C)
  for (std::size_t l = 0; l < cosines.size(); ++l) {
    cosines(l) = mean_cosine(x);
    if (l < model.blocks.size()) x = block_without(part, model.blocks[l], x);
  }
  return cosines;
}

// The initial matrices get the standard deviation 1 / sqrt(C) instead of 0.02, and the last layers
// of attention and of MLPs another `factor` (their deviation is already divided by sqrt(12)).
inline void initialise(const Parameters& parameters, const nn::GptConfig& config, double factor) {
  const double scale = 1 / (0.02 * std::sqrt(double(config.embed_dim)));
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
  Array cosines = {};          // mean cosines after 0, 1, ... blocks
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
  const Batch windows = windows_of(corpus.validation(), config.block_size);
  result.cosines = mean_cosines(part, model, windows.inputs);
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

inline const Names parts = {"nothing", "norms", "positions", "MLPs", "attention", "residuals"};

// Row i of x (N, C).
inline Array row_of(const Array& x, int i) { return xt::row(x, i); }

// Draws the training losses, each with its name at its right end, and the entropies of the text.
inline void picture_of_training(const std::vector<Series>& curves, const Entropies& text) {
  const Names colors = {"#000000", "#56B4E9", "#009E73", "#E69F00", "#D55E00", "#0072B2"};
  std::map<double, std::string> labels;  // by their height
  std::string data, plots;
  for (std::size_t c = 0; c < curves.size(); ++c) {
    const std::string name = "curve" + std::to_string(c);
    Array points = zeros({curves[c].x.size(), 2});
    for (std::size_t i = 0; i < curves[c].x.size(); ++i)
      xt::row(points, int(i)) = Array{Real(curves[c].x[i]), Real(curves[c].y[i])};
    data += gnuplot_block(name, points);
    plots += (c == 0 ? "plot $" : ", $") + name + " with lines lw 2 lc rgb '" + colors[c] + "'";
    labels[curves[c].y.back() + 1e-6 * double(c)] =
        "set label '" + curves[c].name + "' tc rgb '" + colors[c] + "' at graph 1.01, first ";
  }
  for (const auto& [name, value] : {std::pair("unigram", text.unigram), {"bigram", text.bigram}}) {
    plots += ", " + decimal(value, 4) + " dashtype 2 lw 2 lc rgb '#666666'";
    labels[value] =
        std::string("set label '") + name + " entropy' tc rgb '#666666' at graph 1.01, first ";
  }
  double height = 0;  // of the label below
  for (const auto& [end, label] : labels) {
    height = std::max(end, height + 0.09);
    data += label + decimal(height, 3) + "\n";
  }

  picture_by_gnuplot(
      "12_transformer_block", "without",
      data + "unset key\nset rmargin 22\nset yrange [1.6:3.8]\nset xrange [0:600]\n" +
          "set title 'Training loss of a small GPT without one of its parts'\n" +
          "set xlabel 'step'\nset ylabel 'loss (nats per character), mean of 20 steps'\n" + plots);
}

}  // namespace heed
