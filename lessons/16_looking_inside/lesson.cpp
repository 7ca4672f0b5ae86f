// 16 looking_inside: attention patterns and ablation, in five trained models.
//
// Before this lesson: 15_your_text, which trains a character-level GPT.
// After it: 17_induction_heads, two heads of different layers that work together.
// A useful breakpoint: written_by. Continue with `next`.

#include <algorithm>

#include "guess.hpp"
#include "heed/study/ablation.hpp"
#include "heed/study/heads.hpp"
#include "in_threads.hpp"
#include "pictures.hpp"
#include "training.hpp"

using namespace heed;

// ---- what they attend to

void one_head(const nn::Gpt& model, std::size_t head, const Harbour& play) {
  const Indices ids = ids_of(play.vocabulary, "The lamp is out.");
  section("The weights of one head", {{"head", name_of(head)}});
  const std::vector<LayerAttention> layers = capture_attention(model, ids);
  picture_of_head(layers[head / H].weights, head, letters_of(play.vocabulary, ids));
  say();
  picture_of_layer_1(layers[1].weights, letters_of(play.vocabulary, ids));
}

// The pattern scores of all heads: head h of layer l has the index l H + h.
std::vector<double> scores(const HeadKind& kind, const nn::Gpt& model, const Indices& tokens) {
  std::vector<double> all;
  for (const LayerAttention& layer : capture_attention(model, tokens))
    for (const Real score : head_scores(kind, layer.weights, tokens, true)) all.push_back(score);
  return all;
}

std::size_t best_head(const HeadKind& kind, const nn::Gpt& model, const Indices& tokens) {
  const std::vector<double> all = scores(kind, model, tokens);
  return std::size_t(std::max_element(all.begin(), all.end()) - all.begin());
}

const HeadKind previous = head_kinds()[0];  // the key before the query
const HeadKind same = head_kinds()[2];      // earlier keys with the query's token

// The heads with the highest scores on the first half, one for each model.
struct Chosen {
  std::vector<std::size_t> previous, same;
};

Chosen patterns(const std::vector<nn::Gpt>& models, const Indices& choosing,
                const Indices& judging) {
  section("Patterns, and what equal weights would do");
  Chosen chosen;
  std::vector<double> of_previous, of_same;
  for (const nn::Gpt& model : models) {
    chosen.previous.push_back(best_head(previous, model, choosing));
    chosen.same.push_back(best_head(same, model, choosing));
    of_previous.push_back(scores(previous, model, judging)[chosen.previous.back()]);
    of_same.push_back(scores(same, model, judging)[chosen.same.back()]);
  }
  const double uniform = uniform_score(previous, judging, true);
  quote(table_of_patterns(chosen.previous, of_previous, chosen.same, of_same,
                          {uniform, uniform_score(same, judging, true)}));
  claim("previous: above equal weights by 2.8 standard errors",
        estimate(of_previous).mean - 2.8 * estimate(of_previous).standard_error > uniform,
        decimal(estimate(of_previous).mean, 4));
  say({{"half", count_above(0.5, of_previous)}});
  return chosen;
}

// Queries that are spaces (id 1) or not, and their keys of the same token, or those with a space.
using Ids = const std::int64_t*;
const std::vector<HeadKind> space_kinds = {
    {"space", [](Ids x, std::size_t t, std::size_t s) { return s < t && x[t] == 1 && x[s] == 1; }},
    {"other",
     [](Ids x, std::size_t t, std::size_t s) { return s < t && x[t] != 1 && x[s] == x[t]; }},
    {"any", [](Ids x, std::size_t t, std::size_t s) { return s < t && x[t] != 1 && x[s] == 1; }}};

void only_spaces(const std::vector<nn::Gpt>& models, const Chosen& chosen, const Indices& judging) {
  section("Is it what its name says?");
  std::vector<std::vector<double>> rows(models.size() + 1);
  for (const HeadKind& kind : space_kinds) {
    for (std::size_t m = 0; m < models.size(); ++m)
      rows[m].push_back(scores(kind, models[m], judging)[chosen.same[m]]);
    rows.back().push_back(uniform_score(kind, judging, true));
  }
  quote(table_of_spaces(chosen.same, rows));
  say();
}

// ---- what they are needed for

// What one head adds to the residual stream: y, the normed stream (B, T, C) -> (B, T, C).
Tensor written_by(const nn::MultiHeadAttention& attention, const Tensor& y, std::size_t head) {
  const nn::Projections p = attention.project(y, y);
  AttentionOptions options = {true};  // causal
  options.num_heads = H;
  const Tensor O = scaled_dot_product_attention(p.query, p.key, p.value, options);  // (B, T, C)
  const auto first = std::int64_t(head * C / H), last = std::int64_t((head + 1) * C / H);
  return linear(slice(O, 2, first, last), slice(attention.out.weight, 1, first, last));
}

// Heads of one layer that are ablated. Zero ablation: they write nothing. Mean ablation: they write
// the mean of what they write, over all positions.
struct Ablated {
  std::size_t layer = 0;
  std::vector<std::size_t> heads = {};
  bool with_mean = false;
};
const std::vector<std::size_t> all_heads = {0, 1, 2, 3};

Tensor attention_without(const Ablated& ablated, const nn::MultiHeadAttention& attention,
                         const Tensor& y) {
  Tensor sum(zeros(y.shape()));
  for (const std::size_t h : all_heads) {
    const bool keep = std::count(ablated.heads.begin(), ablated.heads.end(), h) == 0;
    if (!keep && !ablated.with_mean) continue;
    const Tensor written = written_by(attention, y, h);
    sum = sum + (keep ? written : mean(written, {0, 1}));
  }
  return sum;
}

double loss_without(const Ablated& ablated, const nn::Gpt& model, const Batch& text);

// The largest weight of a query, as a mean over all queries that have several keys: of each head.
std::vector<double> largest_weights(const nn::Gpt& model, const Indices& tokens) {
  std::vector<double> all;
  for (const LayerAttention& layer : capture_attention(model, tokens))
    for (const std::size_t h : all_heads) {
      const Array weights = xt::view(layer.weights, xt::all(), h, xt::range(1, T));
      all.push_back(xt::mean(xt::amax(weights, {2}))());
    }
  return all;
}

// The increase of the loss without each head.
std::vector<double> costs(const nn::Gpt& model, const Batch& text, bool with_mean) {
  const double loss = loss_without({}, model, text);
  std::vector<double> all;
  for (std::size_t head = 0; head < L * H; ++head)
    all.push_back(loss_without({head / H, {head % H}, with_mean}, model, text) - loss);
  return all;
}

void ablation(const std::vector<nn::Gpt>& models, const Chosen& chosen, const Batch& judging) {
  section("Ablation");
  const nn::Gpt& first = models[0];
  const Tensor y = first.blocks[0].norm1(first.embed(judging.inputs));
  check("the sum of what four heads write = the attention's output",
        attention_without({}, first.blocks[0].attention, y),
        first.blocks[0].attention(y, first.attention_mask()));
  std::vector<HeadCosts> rows;
  std::vector<double> losses;
  for (const nn::Gpt& model : models) losses.push_back(loss_without({}, model, judging));
  for (std::size_t m = 0; m < models.size(); ++m)
    rows.push_back({chosen.previous[m], chosen.same[m], costs(models[m], judging, false),
                    costs(models[m], judging, true), largest_weights(models[m], judging.inputs)});
  const Ablation by_heed = ablate(first, [&] { return loss_without({}, first, judging); });
  check("zero ablation = heed's ablate()", losses[0] + array_of(rows[0].zero),
        by_heed.ablated_loss);
  quote(table_of_heads(rows));
  double candidates = 0, previous_heads = 0;
  for (const HeadCosts& r : rows)
    candidates += r.zero[r.same], previous_heads += r.zero[r.previous];
  guard("the candidates cost less than half of the previous token heads, on average",
        candidates < previous_heads / 2, decimal(candidates / previous_heads, 2));
  say({{"loss", trained(estimate(losses).mean)},
       {"difference", trained(largest_difference(rows), 3)}});
  picture_of_costs(rows);
  say();
  quote(table_of_weights(rows));
  say();
}

// Tokens (B, T) -> logits (B, T, V).
Tensor logits_without(const Ablated& ablated, const nn::Gpt& model, const Indices& tokens) {
  Tensor x = model.embed(tokens);  // the residual stream (B, T, C)
  for (std::size_t l = 0; l < L; ++l) {
    const nn::Block& block = model.blocks[l];
    const Tensor y = block.norm1(x);
    x = x + (l == ablated.layer && !ablated.heads.empty()
                 ? attention_without(ablated, block.attention, y)
                 : block.attention(y, model.attention_mask()));
    x = x + block.mlp(block.norm2(x));
  }
  return model.logits(x);
}

double loss_without(const Ablated& ablated, const nn::Gpt& model, const Batch& text) {
  const NoGrad no_grad;
  return cross_entropy(logits_without(ablated, model, text.inputs), text.targets).item();
}

// Five models of the seeds 1 to 5, which lack these heads from the first step of training on.
std::vector<nn::Gpt> models_that_never_had(const Ablated& heads, const Harbour& play) {
  return in_threads<nn::Gpt>(5, [&](std::uint64_t seed) {
    return train(seed, play, [&](const nn::Gpt& model, const Indices& tokens) {
      return logits_without(heads, model, tokens);
    });
  });
}

void whole_layers(const std::vector<nn::Gpt>& models, const Harbour& play, const Batch& judging,
                  const Guess& guess) {
  section("A whole layer, ablated and never there");
  std::vector<LayerCosts> layers;
  for (std::size_t l = 0; l < L; ++l) {
    LayerCosts costs;
    const std::vector<nn::Gpt> never = models_that_never_had({l, all_heads}, play);
    for (std::size_t m = 0; m < models.size(); ++m) {
      const double loss = loss_without({}, models[m], judging);
      double sum = 0;
      for (const std::size_t h : all_heads)
        sum += loss_without({l, {h}, true}, models[m], judging) - loss;
      costs.sum.push_back(sum);
      costs.all.push_back(loss_without({l, all_heads, true}, models[m], judging) - loss);
      costs.never.push_back(loss_without({l, all_heads}, never[m], judging) - loss);
    }
    layers.push_back(costs);
  }
  quote(table_of_layers(layers));
  const Estimate saved = estimate(differences(layers[0].all, layers[0].never));
  claim("layer 0: never there costs less than ablated, by 2.8 standard errors",
        saved.mean > 2.8 * saved.standard_error, decimal(saved.mean, 4));
  say({{"ablated", trained(estimate(layers[0].all).mean)},
       {"never", trained(estimate(layers[0].never).mean)}});
  guess.compare(trained(estimate(layers[0].never).mean));
  const Estimate worse = estimate(layers[1].never);
  say({{"worse", trained(worse.mean + 2.8 * worse.standard_error, 3)}});
}

int main() {
  set_num_threads(1);  // each model has a thread of its own
  opening();
  const Guess guess("the increase of the loss, if layer 0 never had attention");
  const Harbour play;
  const Batch choosing = half(play, 0), judging = half(play, 1);
  const std::vector<nn::Gpt> models = in_threads<nn::Gpt>(
      5, [&](std::uint64_t seed) { return train(seed, play, whole_model, seed == 1); });
  one_head(models[0], best_head(previous, models[0], choosing.inputs), play);
  const Chosen chosen = patterns(models, choosing.inputs, judging.inputs);
  only_spaces(models, chosen, judging.inputs);
  ablation(models, chosen, judging);
  whole_layers(models, play, judging, guess);
  ending();
}
