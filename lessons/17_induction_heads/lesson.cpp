// 17 induction_heads: two attention heads that together continue a repeated text.
//
// Before this lesson: 16_looking_inside, attention patterns and ablation.
// After it: 18_fill_in_the_blank, a bidirectional model that predicts a masked word.
// A useful breakpoint: layer_1_reads. Continue with `next`.

#include <functional>

#include "guess.hpp"
#include "training.hpp"

using namespace heed;

Repeats heed::new_repeats(Generator& g, std::size_t B) {
  Repeats r{Indices::from_shape({B, T}), Indices::from_shape({B, T}),
            g.randint(shortest, longest + 1, {B})};
  for (std::size_t b = 0; b < B; ++b) {
    const Indices tokens = g.randperm(V);
    const auto P = std::size_t(r.periods(b));
    for (std::size_t t = 0; t < T; ++t) {
      r.inputs(b, t) = tokens(t % P);
      r.targets(b, t) = tokens((t + 1) % P);
    }
  }
  return r;
}

void text_that_repeats(const Repeats& test) {
  section("Text that repeats", {{"bound", decimal(first_bound(V, test.periods), 2)}});
}

// Tokens (B, T) -> logits (B, T, V), with a mask for each layer.
Tensor Model::logits(const Indices& tokens, const std::vector<nn::AttentionMask>& masks) const {
  Tensor x = token(tokens);  // the residual stream (B, T, C)
  for (std::size_t l = 0; l < attention.size(); ++l) x = x + attention[l](norms[l](x), masks[l]);
  return output(norm(x));
}

std::vector<Model> when(const Repeats& test) {
  section("The loss falls at once");
  const auto two =
      in_threads<Trained>(5, [](std::uint64_t seed) { return train(seed, 2, best_rate); });
  const auto one =
      in_threads<Trained>(5, [](std::uint64_t seed) { return train(seed, 1, best_rate); });
  const NoGrad no_grad;
  std::vector<Curve> curves;
  std::vector<double> gaps, leads;
  std::vector<Model> models;
  for (std::size_t m = 0; m < 5; ++m) {
    curves.push_back({two[m].loss, two[m].previous, two[m].prefix, one[m].loss,
                      repeated_loss(two[m].model.logits(test.inputs), test),
                      repeated_loss(one[m].model.logits(test.inputs), test)});
    gaps.push_back(curves[m].one_loss - curves[m].two_loss);
    leads.push_back(step_of_half(two[m].prefix) - step_of_half(two[m].previous));
    models.push_back(two[m].model);
  }
  quote(table_of_curves(curves));
  claim_difference("two layers have a lower loss than one layer", gaps);
  claim_difference("the previous token score makes half of its rise earlier", leads);
  say();
  picture_of_curves(curves);
  say();
  return models;
}

// ---- where, and what the circuit needs

void where(const std::vector<Model>& models, const Repeats& test) {
  section("Two heads");
  std::vector<std::vector<double>> rows;
  for (const Model& m : models)
    rows.push_back({previous_score(weights_of(m, 0, test.inputs), test.inputs),
                    prefix_score(weights_of(m, 1, test.inputs), test.inputs)});
  quote(table_of_scores(rows, test.inputs));
  say();
  Generator g(6);
  Repeats one = new_repeats(g, 1);
  for (std::size_t t = 0; t < T; ++t) one.inputs(0, t) = std::int64_t(t % 8);
  picture_of_weights(weights_of(models[0], 0, one.inputs), weights_of(models[0], 1, one.inputs));
  say();
  picture("17_induction_heads", "path", path_graph);
}

// Which inputs of layer 1 lack what the head of layer 0 has written.
struct Lacking {
  bool queries = false, keys = false, values = false;
};
const std::vector<Lacking> cuts = {{}, {true}, {false, true}, {false, false, true}};

// The prefix-matching score and the loss.
std::pair<double, double> layer_1_reads(const Model& m, const Repeats& test, Lacking lacking) {
  const NoGrad no_grad;
  const nn::MultiHeadAttention& attention = m.attention[1];
  const Tensor x = m.token(test.inputs), written = m.attention[0](m.norms[0](x), {true});
  const Tensor with = m.norms[1](x + written), without = m.norms[1](x + mean(written, {0, 1}));
  const nn::Projections p = attention.project(with, with), q = attention.project(without, without);
  const AttentionResult head =
      attention_with_weights((lacking.queries ? q : p).query, (lacking.keys ? q : p).key,
                             (lacking.values ? q : p).value, {true});
  const Tensor logits = m.output(m.norm(x + written + attention.out(head.output)));
  return {prefix_score(unsqueeze(head.weights, 1).value(), test.inputs),
          repeated_loss(logits, test)};
}

void composition(const std::vector<Model>& models, const Repeats& test, const Guess& guess) {
  section("What the keys read");
  std::vector<std::vector<double>> scores, losses;
  std::vector<double> falls;
  for (const Model& m : models) {
    std::vector<double> of_score, of_loss;
    for (const Lacking& lacking : cuts) {
      const auto [score, loss] = layer_1_reads(m, test, lacking);
      of_score.push_back(score), of_loss.push_back(loss);
    }
    scores.push_back(of_score), losses.push_back(of_loss);
    falls.push_back(std::min(of_score[1], of_score[3]) - of_score[2]);
  }
  quote(table_of_reads(scores, losses));
  check("nothing ablated: the loss = the model's", scalar(Real(losses[0][0])),
        scalar(Real(repeated_loss(models[0].logits(test.inputs), test))));
  claim_difference("prefix-matching falls most without it in the keys", falls);
  guess.compare(trained(mean_column(losses, 2)));
  say({{"keys", trained(mean_column(losses, 2))},
       {"values", trained(mean_column(losses, 3) - mean_column(losses, 0))}});
}

// The logits (V, V) that the head of layer l writes if all its weight is on a key with the token of
// the row, and the key's value is that of the token's embedding.
Array written_logits(const Model& m, std::size_t l) {
  const NoGrad no_grad;
  const nn::MultiHeadAttention& attention = m.attention[l];
  const Tensor written = attention.out(attention.value(m.norms[l](m.token.weight)));  // (V, C)
  return linear(written * m.norm.weight, m.output.weight).value();
}

void copying(const std::vector<Model>& models) {
  section("What the heads write");
  std::vector<std::vector<double>> rows;
  for (const Model& m : models) {
    rows.push_back(copying_scores(written_logits(m, 0)));
    for (const double score : copying_scores(written_logits(m, 1))) rows.back().push_back(score);
  }
  quote(table_of_copying(rows));
  say();
  picture_of_logits(written_logits(models[0], 0), written_logits(models[0], 1));
}

// Whether query t may not attend to key s if the period is P.
using Rule = std::function<bool(std::size_t t, std::size_t s, std::size_t P)>;

double loss_without_keys(const Model& m, const Repeats& test, std::size_t layer,
                         const Rule& hidden) {
  const NoGrad no_grad;
  const std::size_t B = test.inputs.shape(0);
  nn::AttentionMask mask{true, Mask::from_shape({B, 1, T, T})};  // for all heads
  for (std::size_t b = 0; b < B; ++b)
    for (std::size_t t = 0; t < T; ++t)
      for (std::size_t s = 0; s < T; ++s)
        (*mask.mask)(b, 0, t, s) = !hidden(t, s, std::size_t(test.periods(b)));
  std::vector<nn::AttentionMask> masks = {{true}, {true}};
  masks[layer] = mask;
  return repeated_loss(m.logits(test.inputs, masks), test);
}

// Key s is at t + shift - P, t + shift - 2P, ...
Rule earlier(std::size_t shift) {
  return [shift](std::size_t t, std::size_t s, std::size_t P) {
    return s + P <= t + shift && (t + shift - s) % P == 0;
  };
}
Rule just_before(std::size_t back) {
  return [back](std::size_t t, std::size_t s, std::size_t) { return s + back == t; };
}

void without_keys(const std::vector<Model>& models, const Repeats& test) {
  std::vector<std::vector<double>> rows;
  std::vector<double> above;
  for (const Model& m : models) {
    const NoGrad no_grad;
    rows.push_back(
        {repeated_loss(m.logits(test.inputs), test), loss_without_keys(m, test, 1, earlier(1)),
         loss_without_keys(m, test, 1, earlier(0)), loss_without_keys(m, test, 0, just_before(1)),
         loss_without_keys(m, test, 0, just_before(2))});
    above.push_back(rows.back()[3] - std::log(double(V)));
  }
  quote(table_of_keys(rows));
  claim_difference("without key t - 1 in layer 0 the loss is above ln 32", above);
  say();
}

int main() {
  set_num_threads(1);  // each model has a thread of its own
  if (tuning()) return write_tuning("loss on repeated tokens, seeds 11 to 13", sweep());
  opening();
  const Guess guess("the loss without layer 0 in the keys of layer 1");
  Generator g(7);
  const Repeats test = new_repeats(g, 64);  // the models were trained on others
  text_that_repeats(test);
  const std::vector<Model> models = when(test);
  where(models, test);
  composition(models, test, guess);
  copying(models);
  if (appendix("Without one key")) without_keys(models, test);
  if (appendix("How the learning rates were chosen"))
    show_tuning({{"two layers", best_rate}, {"one layer", best_rate}});
  ending();
}
