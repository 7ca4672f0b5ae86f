// cuts.hpp: the loss without some heads, or without attention to some keys (lesson 25).
#pragma once

#include <functional>
#include <memory>

#include "phase_change.hpp"

namespace heed {

// The loss on repeated tokens without these heads of layer 1 (zero ablation, lesson 16).
inline double without_heads(const nn::Gpt& model, const Repeats& test,
                            const std::vector<std::size_t>& heads) {
  const NoGrad no_grad;
  std::vector<std::unique_ptr<AblatedHead>> ablated;
  for (const std::size_t h : heads) ablated.push_back(std::make_unique<AblatedHead>(model, 1, h));
  return two_losses(model(test.inputs), test).repeated;
}

// Whether query t may not attend to key s if the period is P.
using Rule = std::function<bool(std::size_t t, std::size_t s, std::size_t P)>;

// The loss on repeated tokens if the heads of one layer may not attend to some keys.
inline double without_keys(const nn::Gpt& model, const Repeats& test, std::size_t layer,
                           const Rule& forbidden) {
  const NoGrad no_grad;
  const std::size_t B = test.inputs.shape(0);
  nn::AttentionMask mask{true, Mask::from_shape({B, 1, T, T})};  // (B, 1, T, T): for all heads
  for (std::size_t b = 0; b < B; ++b)
    for (std::size_t t = 0; t < T; ++t)
      for (std::size_t s = 0; s < T; ++s)
        (*mask.mask)(b, 0, t, s) = !forbidden(t, s, std::size_t(test.periods(b)));
  Tensor x = model.embed(test.inputs);  // (B, T, C)
  for (std::size_t l = 0; l < model.blocks.size(); ++l)
    x = model.blocks[l](x, l == layer ? mask : nn::AttentionMask{true});
  return two_losses(linear(model.norm(x), model.head), test).repeated;
}

// Key s is at one of the positions t + shift - P, t + shift - 2P, ...
inline Rule earlier(std::size_t shift) {
  return [shift](std::size_t t, std::size_t s, std::size_t P) {
    return s <= t && s + P <= t + shift && (t + shift - s) % P == 0;
  };
}
// Key s is `back` positions before the query.
inline Rule just_before(std::size_t back) {
  return [back](std::size_t t, std::size_t s, std::size_t) { return s + back == t; };
}

const Names cut_names = {"nothing",
                         "head 0 of layer 1",
                         "head 1 of layer 1",
                         "both heads of layer 1",
                         "keys t - P + 1, t - 2P + 1, ... of layer 1",
                         "keys t - P, t - 2P, ... of layer 1",
                         "key t - 1 of layer 0",
                         "key t - 2 of layer 0"};

// The loss on repeated tokens after each of these cuts.
inline std::vector<double> losses_of_cuts(const nn::Gpt& model, const Repeats& test) {
  return {without_heads(model, test, {}),
          without_heads(model, test, {0}),
          without_heads(model, test, {1}),
          without_heads(model, test, {0, 1}),
          without_keys(model, test, 1, earlier(1)),
          without_keys(model, test, 1, earlier(0)),
          without_keys(model, test, 0, just_before(1)),
          without_keys(model, test, 0, just_before(2))};
}

// A row for each cut, a column for each model.
inline std::string table_of_cuts(const std::vector<std::vector<double>>& losses) {
  std::string rows = pad_right("removed", 44);
  for (std::size_t m = 0; m < losses.size(); ++m) rows += "  seed " + std::to_string(m + 1);
  for (std::size_t i = 0; i < cut_names.size(); ++i) {
    rows += "\n" + pad_right(cut_names[i], 44);
    for (const std::vector<double>& of_model : losses) rows += pad_left(decimal(of_model[i], 2), 8);
  }
  return rows;
}

inline void remove_heads_and_keys(const std::vector<InductionModel>& models, const Repeats& test) {
  section("What the prediction needs");
  say("In the repeated part the token after t stood at t - P + 1, t - 2P + 1, and so",
      "on. We remove parts of the trained models: a head (zero ablation, lesson 16), or",
      "the keys at some positions: a mask hides them from all queries of one layer, and",
      "softmax divides the weight among the other keys. The loss on repeated tokens:", "");
  std::vector<std::vector<double>> losses;
  for (const InductionModel& m : models) losses.push_back(losses_of_cuts(m.model, test));
  quote(table_of_cuts(losses));
  const double uniform = std::log(double(V));
  const auto smallest = [&](std::size_t i) {
    double least = INFINITY;
    for (const auto& of_model : losses) least = std::min(least, of_model[i]);
    return least;
  };
  const auto largest_change = [&](std::size_t i) {
    double most = 0;
    for (const auto& of_model : losses) most = std::max(most, std::abs(of_model[i] - of_model[0]));
    return most;
  };
  for (const std::size_t i : {3u, 4u, 6u})
    claim("without " + cut_names[i] + ": loss above ln 32", smallest(i) > uniform,
          decimal(smallest(i), 4));
  for (const std::size_t i : {5u, 7u})
    claim("without " + cut_names[i] + ": change below 0.5", largest_change(i) < 0.5,
          decimal(largest_change(i), 4));
  say("", "Without both heads of layer 1 the loss is above that of equal probabilities: the",
      "rest of the model then gives wrong tokens too high a probability. But",
      "no single head is needed as much: both are induction heads, and each does a part",
      "of the work. The induction score does not tell how large this part is: both",
      "scores are close, but the two increases of the loss can differ much. Keys give a",
      "clear answer. Layer 1 needs the tokens that followed, not the earlier",
      "occurrences themselves. Layer 0 needs the previous token, which the keys of",
      "layer 1 then contain (K-composition, lesson 16).");
}

}  // namespace heed
