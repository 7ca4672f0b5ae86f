// 13 gpt: a GPT learns a play, with all its parts and without each of them.
//
// Worth a breakpoint: block_without. Continue with `next`.

#include <cmath>

#include "harbour.hpp"
#include "measures.hpp"
#include "pictures.hpp"

using namespace heed;

constexpr std::size_t C = 32, T = 32, layers = 4;
const double our_deviation = 1 / std::sqrt(double(C));  // of the first weights
const Harbour play;

// A GPT without one of its parts.
struct Variant {
  std::string name, without;
  std::size_t number_of_layers = layers;
  double rate = 0.01;  // the best learning rate for windows of the training part
  double deviation = our_deviation;
  std::size_t width = C;
};
const std::vector<Variant> variants = {{"all parts", "nothing"},
                                       {"without norms", "norms"},
                                       {"without positions", "positions"},
                                       {"without MLPs", "MLPs"},
                                       {"without MLPs, 12 layers", "MLPs", 12},
                                       {"without MLPs, wider", "MLPs", layers, 0.003, 0.13, 56},
                                       {"without attention", "attention"},
                                       {"without residuals", "residuals", layers, 0.001}};

// A block without one of its parts: (B, T, C) -> (B, T, C). Without "nothing" it is nn::Block.
Tensor block_without(const std::string& part, const nn::Block& block, Tensor x) {
  nn::AttentionMask mask;
  mask.causal = true;
  const auto norm = [&](const nn::Norm& n) { return part == "norms" ? x : n(x); };
  const auto add = [&](const Tensor& branch) { x = part == "residuals" ? branch : x + branch; };
  if (part != "attention") add(block.attention(norm(block.norm1), mask));
  if (part != "MLPs") add(block.mlp(norm(block.norm2)));
  return x;
}

// x after the embeddings and after each block, (B, T, C) each, for tokens (B, T). Without attention
// there are no positions either, so that the model sees the current character only.
std::vector<Tensor> states_without(const std::string& part, const nn::Gpt& model,
                                   const Indices& tokens) {
  Tensor x = model.token(tokens);
  if (part != "positions" && part != "attention")
    x = x + slice(model.position->weight, 0, 0, int(tokens.shape(1)));
  std::vector<Tensor> states = {x};
  for (const nn::Block& block : model.blocks)
    states.push_back(block_without(part, block, states.back()));
  return states;
}

Tensor logits_without(const std::string& part, const nn::Gpt& model, const Indices& tokens) {
  const Tensor x = states_without(part, model, tokens).back();
  return linear(part == "norms" ? x : model.norm(x),
                model.token.weight);  // (B, T, V), weight tying
}

// A GPT whose weights have the standard deviation `deviation`. Those of the last layer of each
// attention and MLP have a smaller one, divided by sqrt(2 L).
nn::Gpt new_gpt(Parameters& parameters, Generator& g, std::size_t L, double deviation,
                std::size_t width = C) {
  nn::GptConfig config;
  config.vocab_size = 64, config.block_size = T, config.embed_dim = width;
  config.layers = L, config.heads = 4;
  const nn::Gpt model(Scope(parameters, g), config);  // with 0.02
  for (Tensor p : parameters)
    if (p.shape().size() == 2) p.mutable_value() *= Real(deviation / 0.02);
  return model;
}

double held_out_loss(const std::string& without, const nn::Gpt& model) {
  const NoGrad no_grad;
  const Batch text = play.held_out_windows(T);
  return cross_entropy(logits_without(without, model, text.inputs), text.targets).item();
}

void from_blocks_to_gpt() {
  section("From blocks to a GPT");
  picture("13_gpt", "gpt", gpt_graph);
  Generator g(1);
  Parameters parameters;
  const nn::Gpt model = new_gpt(parameters, g, layers, 0.02);
  const Indices tokens = play.batch(8, T, g).inputs;
  check("our logits = those of nn::Gpt", logits_without("nothing", model, tokens), model(tokens));
  say();
}

void the_first_loss() {
  section("The first loss");
  Generator g(1);
  Parameters parameters;
  const double first = held_out_loss("nothing", new_gpt(parameters, g, layers, 0.02));
  claim("the first loss is ln V within 1 %", std::abs(first / std::log(64.0) - 1) < 0.01,
        decimal(first, 4));
  say({{"first", decimal(first, 2)}});
}

// For x after the embeddings and after each block: the share of its squares that is left if the
// mean row of each window is subtracted. It is 0 if all rows of a window are equal.
Array variance_between_rows(const std::string& without, const nn::Gpt& model) {
  const NoGrad no_grad;
  Array shares = zeros({model.blocks.size() + 1});
  std::size_t l = 0;
  for (const Tensor& x : states_without(without, model, play.held_out_windows(T).inputs)) {
    const Tensor rest = x - mean(x, {1}, true);
    shares(l++) = (sum(rest * rest) / sum(x * x)).value()();
  }
  return shares;
}

struct Trained {
  nn::Gpt model;
  std::size_t parameters = 0;     // the number of those that get a gradient
  double loss = 0;                // on the held-out text
  Array before = {}, after = {};  // variance_between_rows, around the training
};

Trained train(const Variant& variant, std::uint64_t seed) {
  const std::int64_t steps = in_brief(800, 100);
  Generator g(seed);
  Parameters parameters;
  Trained result{
      new_gpt(parameters, g, variant.number_of_layers, variant.deviation, variant.width)};
  result.before = variance_between_rows(variant.without, result.model);
  optim::AdamW optimizer(parameters.tensors(), {variant.rate, 0.9, 0.99, 1e-8, /*weight_decay=*/0});
  const optim::WarmupCosine schedule{variant.rate, variant.rate / 10, 20, steps};
  for (std::int64_t step = 0; step < steps; ++step) {
    const Batch batch = play.batch(8, T, g);  // inputs and targets (8, 32)
    const Tensor logits = logits_without(variant.without, result.model, batch.inputs);
    optimizer.zero_grad();
    backward(cross_entropy(logits, batch.targets));
    optim::clip_grad_norm(parameters.tensors(), 1);
    optimizer.set_lr(schedule.at(step));
    optimizer.step();
  }
  for (const Tensor& p : parameters) result.parameters += p.has_grad() ? p.value().size() : 0;
  result.loss = held_out_loss(variant.without, result.model);
  result.after = variance_between_rows(variant.without, result.model);
  return result;
}

using Seeds = std::vector<Trained>;
Seeds train_seeds(const Variant& variant) {
  return in_threads<Trained>(3, [&](std::uint64_t seed) { return train(variant, seed); });
}

std::vector<Seeds> without_each_part() {
  const Batch text = play.held_out_windows(T), no_input{0 * text.inputs, text.targets};
  const double unigram = bigram_loss(no_input, 0, no_input), bigram = bigram_loss(text, 0, text);
  section("Without each part",
          {{"counted", decimal(bigram_loss(play.training_pairs(), 0.01, text), 2)},
           {"bigram", decimal(bigram, 2)},
           {"unigram", decimal(unigram, 2)}});
  std::vector<Seeds> rows;
  for (const Variant& variant : variants) rows.push_back(train_seeds(variant));
  show_losses(names_of(variants), rows);
  claim("without attention the loss is above the lowest of a bigram model",
        mean_of(rows[6]) > bigram, decimal(mean_of(rows[6]), 4));
  guard("without residual connections it is more than 0.5 above it",
        mean_of(rows[7]) > bigram + 0.5, decimal(mean_of(rows[7]), 4));
  say();
  picture_of_losses(names_of(variants), rows, unigram, bigram);
  say();
  show_variances({"all parts", "without residuals"}, std::vector<Seeds>{rows[0], rows[7]});
  say();
  return rows;
}

void what_they_write(const std::vector<Seeds>& rows) {
  section("What they write");
  for (const std::size_t v : {7, 6, 4, 0}) {
    const auto model = [&](const Indices& tokens) {
      return logits_without(variants[v].without, rows[v][0].model, tokens);
    };
    Generator g(3);
    say({{"loss", trained(rows[v][0].loss)}});
    quote(play.sample(model, 100, T, g));
  }
  say();
}

void what_norms_are_for(const std::vector<Seeds>& rows) {
  section("What the norms are for");
  const double large = 4 * our_deviation;
  show_deviations({"all parts", "without norms"}, std::vector<Seeds>{rows[0], rows[1]},
                  std::vector<Seeds>{train_seeds({"", "nothing", layers, 0.03, large}),
                                     train_seeds({"", "norms", layers, 0.03, large})});
  say();
}

int main() {
  set_num_threads(1);  // each seed has a thread of its own
  opening();
  from_blocks_to_gpt();
  the_first_loss();
  const std::vector<Seeds> rows = without_each_part();
  what_they_write(rows);
  what_norms_are_for(rows);
  ending();
}
