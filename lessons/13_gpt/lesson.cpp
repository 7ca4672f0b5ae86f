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

// A GPT without one of its parts.
struct Variant {
  std::string name, without = "nothing";
  std::size_t number_of_layers = layers;
};
const std::vector<Variant> variants = {{"all parts"},
                                       {"without norms", "norms"},
                                       {"without positions", "positions"},
                                       {"without MLPs", "MLPs"},
                                       {"without MLPs, 12 layers", "MLPs", 12},
                                       {"without attention", "attention"},
                                       {"without attention, 6 layers", "attention", 6},
                                       {"without residuals", "residuals"}};

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

// Tokens (B, T) -> logits (B, T, V). Without attention there are no positions either, so that the
// model sees the current character only.
Tensor logits_without(const std::string& part, const nn::Gpt& model, const Indices& tokens) {
  Tensor x = model.token(tokens);  // (B, T, C)
  if (part != "positions" && part != "attention")
    x = x + slice(model.position->weight, 0, 0, int(tokens.shape(1)));
  for (const nn::Block& block : model.blocks) x = block_without(part, block, x);
  return linear(part == "norms" ? x : model.norm(x), model.token.weight);  // weight tying
}

// A GPT whose weights have the standard deviation `deviation`. Those of the last layer of each
// attention and MLP have a smaller one, divided by sqrt(2 L).
nn::Gpt new_gpt(Parameters& parameters, Generator& g, std::size_t L, double deviation) {
  nn::GptConfig config;
  config.vocab_size = 64, config.block_size = T, config.embed_dim = C;
  config.layers = L, config.heads = 4;
  const nn::Gpt model(Scope(parameters, g), config);  // with 0.02
  for (Tensor p : parameters)
    if (p.shape().size() == 2) p.mutable_value() *= Real(deviation / 0.02);
  return model;
}

double held_out_loss(const std::string& without, const nn::Gpt& model, const Harbour& play) {
  const NoGrad no_grad;
  const Batch text = play.held_out_windows(T);
  return cross_entropy(logits_without(without, model, text.inputs), text.targets).item();
}

void from_blocks_to_gpt(const Harbour& play) {
  section("From blocks to a GPT");
  picture("13_gpt", "gpt", gpt_graph);
  Generator g(1);
  Parameters parameters;
  const nn::Gpt model = new_gpt(parameters, g, layers, 0.02);
  const Indices tokens = play.batch(8, T, g).inputs;
  check("our logits = those of nn::Gpt", logits_without("nothing", model, tokens), model(tokens));
  say();
}

void the_first_loss(const Harbour& play) {
  section("The first loss");
  Generator g(1);
  Parameters parameters;
  const nn::Gpt model = new_gpt(parameters, g, layers, 0.02);
  const double first = held_out_loss("nothing", model, play);
  claim("the first loss is ln V within 1 %", std::abs(first / std::log(64.0) - 1) < 0.01,
        decimal(first, 4));
  for (Tensor p : {model.token.weight, model.position->weight}) p.mutable_value() *= Real(50);
  say({{"first", decimal(first, 2)},
       {"large", decimal(held_out_loss("nothing", model, play), 1)},
       {"own", decimal(mean_own_logit(model, play.held_out_windows(T).inputs), 1)}});
}

struct Trained {
  nn::Gpt model;
  std::size_t parameters = 0;  // the number of those that get a gradient
  double loss = 0;             // on the held-out text
};

Trained train(const Variant& variant, double deviation, std::uint64_t seed, const Harbour& play) {
  const std::int64_t steps = in_brief(800, 100);
  Generator g(seed);
  Parameters parameters;
  Trained result{new_gpt(parameters, g, variant.number_of_layers, deviation)};
  optim::AdamWOptions options;
  options.beta2 = 0.99, options.weight_decay = 0.1, options.decay_vectors = false;
  optim::AdamW optimizer(parameters.tensors(), options);
  const optim::WarmupCosine schedule{0.01, 0.001, 20, steps};  // learning rates
  for (std::int64_t step = 0; step < steps; ++step) {
    const Batch batch = play.batch(8, T, g);  // inputs and targets (8, 32)
    const Tensor logits = logits_without(variant.without, result.model, batch.inputs);
    optim::zero_grad(parameters.tensors());
    backward(cross_entropy(logits, batch.targets));
    optim::clip_grad_norm(parameters.tensors(), 1);
    optimizer.set_lr(schedule.at(step));
    optimizer.step();
  }
  for (const Tensor& p : parameters) result.parameters += p.has_grad() ? p.value().size() : 0;
  result.loss = held_out_loss(variant.without, result.model, play);
  return result;
}

Row train_seeds(const Variant& variant, double deviation, const Harbour& play) {
  const std::vector<Trained> seeds = in_threads<Trained>(
      3, [&](std::uint64_t seed) { return train(variant, deviation, seed, play); });
  return {variant.name,
          seeds[0].model,
          seeds[0].parameters,
          {seeds[0].loss, seeds[1].loss, seeds[2].loss}};
}

std::vector<Row> without_each_part(const Harbour& play) {
  const Batch text = play.held_out_windows(T), no_input{0 * text.inputs, text.targets};
  const double unigram = bigram_loss(no_input, 0, no_input), bigram = bigram_loss(text, 0, text);
  section("Without each part",
          {{"counted", decimal(bigram_loss(play.training_pairs(), 0.01, text), 2)},
           {"bigram", decimal(bigram, 2)},
           {"unigram", decimal(unigram, 2)}});
  std::vector<Row> rows;
  for (const Variant& variant : variants) rows.push_back(train_seeds(variant, our_deviation, play));
  show_losses(rows);
  claim("without attention the loss is above the lowest of a bigram model",
        mean_of(rows[5]) > bigram, decimal(mean_of(rows[5]), 4));
  claim("without residual connections it is within 0.1 of the lowest without input",
        std::abs(mean_of(rows[7]) - unigram) < 0.1, decimal(mean_of(rows[7]), 4));
  say();
  picture_of_losses(rows, unigram, bigram);
  say();
  return rows;
}

void what_they_write(const std::vector<Row>& rows, const Harbour& play) {
  section("What they write");
  for (const std::size_t v : {7, 5, 4, 0}) {
    const auto model = [&](const Indices& tokens) {
      return logits_without(variants[v].without, rows[v].model, tokens);
    };
    Generator g(3);
    say({{"loss", trained(rows[v].losses[0])}});
    quote(play.sample(model, 100, T, g));
  }
  say();
}

void what_norms_are_for(const std::vector<Row>& rows, const Harbour& play) {
  section("What the norms are for");
  const double large = 4 * our_deviation;
  show_deviations({rows[0], rows[1]},
                  {train_seeds(variants[0], large, play), train_seeds(variants[1], large, play)});
  say();
}

int main() {
  set_num_threads(1);  // each seed has a thread of its own
  opening();
  const Harbour play;
  from_blocks_to_gpt(play);
  the_first_loss(play);
  const std::vector<Row> rows = without_each_part(play);
  what_they_write(rows, play);
  what_norms_are_for(rows, play);
  ending();
}
