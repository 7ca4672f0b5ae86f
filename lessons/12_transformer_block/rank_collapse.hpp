// rank_collapse.hpp: what a GPT without residual connections computes, for lesson 12.
#pragma once

#include "heed/draw/table.hpp"
#include "train_without.hpp"

namespace heed {

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

// The model before training: means over five seeds.
struct Start {
  Array cosines;    // the mean cosine of two rows of x after 0, 1, ... blocks
  Array gradients;  // the norms of the gradients of W_Q and W_K, W_V and W_O, the MLPs
};

inline Start at_start(const std::string& part, const nn::GptConfig& config, const Corpus& corpus) {
  Start start{zeros({config.layers + 1}), zeros({3})};
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Generator g(seed);
    Parameters parameters;
    const nn::Gpt model(Scope(parameters, g), config);
    initialise(parameters, config, 1);
    const Batch batch = random_batch(corpus.training(), 8, config.block_size, g);
    start.cosines += mean_cosines(part, model, batch.inputs) / Real(5);
    backward(cross_entropy(logits_without(part, model, batch.inputs), batch.targets));
    Array squares = zeros({3});
    for (const nn::Block& block : model.blocks) {
      const std::vector<Tensor> weights = {block.attention.query.weight, block.attention.key.weight,
                                           block.attention.value.weight, block.attention.out.weight,
                                           block.mlp.up.weight,          block.mlp.down.weight};
      for (std::size_t w = 0; w < 6; ++w)
        squares(w / 2) += Real(xt::sum<double>(xt::square(weights[w].grad()))());
    }
    start.gradients += xt::sqrt(squares) / Real(5);
  }
  return start;
}

inline void why_residual_connections(std::map<std::string, Trained>& best,
                                     const nn::GptConfig& config, const Corpus& corpus) {
  section("Why residual connections?");
  say("Without residual connections the model learns only how frequent each character",
      "is. The outputs of attention are weighted means: with nearly uniform weights, as",
      "before training, they are more similar than the rows themselves. The residual",
      "connection adds the different rows again. Without it all rows become nearly",
      "equal: RANK COLLAPSE (Dong, Cordonnier and Loukas 2021, \"Attention is not all",
      "you need: pure attention loses rank doubly exponentially with depth\"). With",
      "equal rows all positions have the same prediction, nearly the unigram",
      "probabilities. We measure the cosine similarity (lesson 03) of two rows after",
      "layer normalization: it is 1 if they are equal.",
      "Before training, the means over five seeds:");
  const Start kept = at_start("nothing", config, corpus),
              lost = at_start("residuals", config, corpus);
  const Names rows = {"all parts", "without residuals"},
              blocks = {"0", "1", "2", "3", "4", "5", "6"};
  show("mean cosine of two rows of x after 0 to 6 blocks",
       Array(xt::stack(xt::xtuple(kept.cosines, lost.cosines))), rows, blocks);
  TableOptions trained_cosines{"after training, seed 1", rows, blocks};
  trained_cosines.decimals = 2;
  say("");
  quote(table(Array(xt::stack(xt::xtuple(best["nothing"].cosines, best["residuals"].cosines))),
              trained_cosines));
  TableOptions options{"norm of the gradient of all blocks, before training",
                       rows,
                       {"W_Q, W_K", "W_V, W_O", "MLPs"}};
  options.decimals = 2;
  show(Array(xt::stack(xt::xtuple(kept.gradients, lost.gradients))), options);
  say("");
  claim("without residuals the last cosine is above 0.8, with them below 0.6",
        lost.cosines.back() > 0.8 && kept.cosines.back() < 0.6, decimal(lost.cosines.back(), 4));
  say("", "The gradients do not vanish. Only that of W_Q and W_K is smaller: if the rows",
      "are equal, all attention weights give the same output (Noci et al. 2022).",
      "Training does not end the rank collapse: after it the rows are equal, too. So",
      "all positions of a window get the same prediction, and the loss can only fall to",
      "about the unigram entropy. A lower rate or the factor 1 instead of 1 / sqrt(12)",
      "does not help (150 steps):", "");
  say(losses_without_residuals(config, corpus));
}

}  // namespace heed
