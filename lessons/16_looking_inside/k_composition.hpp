// k_composition.hpp: induction heads, and a test of which input of layer 1 needs layer 0.
#pragma once

#include "heed/draw/table.hpp"
#include "heed/ops/attention.hpp"
#include "induction.hpp"

namespace heed {

// What layer 1 computes from the output of layer 0 with one head ablated.
struct Reads {
  bool queries, keys, values;
};

// Layer 1 reads the ablated stream for the parts in `reads`, and the original stream for the
// others. Returns the prefix-matching score (mean of the heads of layer 1) and the loss.
inline Array after_ablation(const AttentionOnly& model, const Batch& test, std::size_t head,
                            bool with_mean, Reads reads) {
  constexpr std::size_t D = AttentionOnly::C / AttentionOnly::H;
  const nn::MultiHeadAttention &first = model.attention[0], &second = model.attention[1];
  const Tensor x = model.token(test.inputs) + model.position.weight;  // (B, T, C)
  const Tensor y = model.norms[0](x), stream = x + first(y, model.causal);
  // What the head adds to the stream: its columns of the output projection times its output.
  const Array heads =
      join_heads(matmul(first.weights(y, y, model.causal), split_heads(first.value(y), 2))).value();
  Array only = zeros({heads.shape(0), heads.shape(1), heads.shape(2)});
  xt::view(only, xt::all(), xt::all(), xt::range(head * D, head * D + D)) =
      xt::view(heads, xt::all(), xt::all(), xt::range(head * D, head * D + D));
  Tensor added = linear(Tensor(only), first.out.weight);  // (B, T, C)
  if (with_mean) added = added - mean(added, {0, 1});
  const Tensor intact = model.norms[1](stream), ablated = model.norms[1](stream - added);
  AttentionOptions options;
  options.causal = true, options.num_heads = AttentionOnly::H;
  const AttentionResult result = attention_with_weights(
      second.query(reads.queries ? ablated : intact), second.key(reads.keys ? ablated : intact),
      second.value(reads.values ? ablated : intact), options);
  const Tensor logits = model.output(model.norm(stream + second.out(result.output)));
  const Array scores = head_scores(induction, result.weights.value(), test.inputs, true);  // (2)
  return Array{Real(xt::mean(scores)()), cross_entropy(logits, test.targets).item()};
}

// A table of after_ablation with zero and mean ablation, (5, 4), and the loss of the first row.
inline void compare_reads(const AttentionOnly& model, const Batch& test, std::size_t previous) {
  const std::string head = "head " + std::to_string(previous),
                    other = "head " + std::to_string(1 - previous);
  const std::vector<Reads> reads = {{false, false, false},
                                    {true, false, false},
                                    {false, true, false},
                                    {false, false, true},
                                    {false, true, false}};
  Array all = zeros({5, 4});
  for (std::size_t i = 0; i < 5; ++i)
    for (const bool with_mean : {false, true}) {
      const std::size_t ablated = i < 4 ? previous : 1 - previous;
      const Array found = after_ablation(model, test, ablated, with_mean, reads[i]);
      all(i, with_mean ? 2 : 0) = found(0), all(i, with_mean ? 3 : 1) = found(1);
    }
  const Names rows = {"nothing ablated", head + ", for the queries", head + ", for the keys",
                      head + ", for the values", other + ", for the keys"};
  say("", "So far this is a correlation. To prove that the keys read the output of layer 0,",
      head + ", we ablate this output for one input of layer 1 only: its queries, its",
      "keys or its values. All else keeps the original output. A control ablates the",
      "other head. 'prefix' is the mean prefix-matching score of layer 1:", "");
  quote(table(all, {"layer 1 without an output of layer 0",
                    rows,
                    {"zero: prefix", "loss", "mean: prefix", "loss"},
                    2}) +
        "uniform probabilities: loss ln 64 = " + decimal(std::log(64.0), 2));
  check("with nothing ablated: loss by hand = the model's", scalar(all(0, 1)),
        cross_entropy(model(test.inputs), test.targets));
  const auto claims = [&](std::size_t prefix, const std::string& kind) {
    claim_less(kind + ": for the keys, the prefix-matching score falls below a quarter",
               all(2, prefix), all(0, prefix) / 4);
    claim_less(kind + ": in each other row it falls by less than a tenth", 0.9 * all(0, prefix),
               std::min({all(1, prefix), all(3, prefix), all(4, prefix)}));
  };
  claims(0, "zero");
  claims(2, "mean");
  claim_less("for the keys the loss is above ln 64", std::log(64.0),
             std::min(all(2, 1), all(2, 3)));
  say("", "For the pattern, only the keys of layer 1 need this head: K-composition. Without",
      "it the heads of layer 1 attend to other tokens, and the loss is above ln 64: the",
      "correct token gets a probability below 1/64, as a geometric mean.");
}

// The attention weights of two heads, for one sequence of ten tokens, twice.
inline void picture_of_induction(const AttentionOnly& model, std::size_t first, std::size_t second,
                                 const std::string& lesson) {
  Generator g(6);
  std::vector<Array> weights;
  model(repeated_sequences(1, 10, 10, g, true).inputs, &weights);
  Names letters;
  for (std::size_t t = 0; t < AttentionOnly::T; ++t)
    letters.push_back(std::string(1, char('A' + t % 10)));
  HeatmapOptions options{"a previous token head, and an induction head that reads it", letters,
                         letters, "query position", "key position"};
  options.low = 0, options.high = 1;
  picture(lesson, "induction",
          {masked_weights(weights[0], first), masked_weights(weights[1], second)},
          {"layer 0, head " + std::to_string(first) + ": the previous token",
           "layer 1, head " + std::to_string(second) + ": after the earlier occurrence"},
          options, 2);
}

inline void induction_heads(const std::string& lesson) {
  section("Induction heads");
  say("In the text 'A B ... A' an induction head attends from the second 'A' to 'B'.",
      "How does it find 'B'? Elhage et al. (2021): a previous token head in layer 0",
      "writes into each position which token is before it. The keys of layer 1 read",
      "this, and the query 'A' matches the key of 'B': K-COMPOSITION. (One layer needs",
      "to be much larger: Sanford, Hsu and Telgarsky 2024.) We train two layers of two",
      "heads without MLPs on 10 to 14 different random tokens that repeat. The lengths",
      "vary, so that no fixed distance leads to the earlier token. Only the repetition",
      "can be predicted. On such text the induction score is called PREFIX-MATCHING",
      "SCORE (Olsson et al. 2022):", "");
  const AttentionOnly model(1);
  loss_curves("loss (nats per token)", {train(model)});
  const NoGrad no_grad;
  Generator g(5);
  const Batch test = repeated_sequences(64, 10, 14, g, true);
  const Names rows = {"layer 0, head 0", "layer 0, head 1", "layer 1, head 0", "layer 1, head 1",
                      "uniform weights"};
  const Array scores = scores_of(model, test.inputs);
  const auto previous = std::size_t(scores(1, 0) > scores(0, 0) ? 1 : 0),
             best = std::size_t(scores(3, 1) > scores(2, 1) ? 1 : 0);
  const Array uniform = {{Real(uniform_score(head_kinds()[0], test.inputs, true)),
                          Real(uniform_score(induction, test.inputs, true))}};
  quote(table(xt::vstack(xt::xtuple(scores, uniform)),
              {"64 new sequences", rows, {"previous", "prefix-matching"}, 2}));
  claim_less("a head of layer 1 has a prefix-matching score above 0.6", 0.6, scores(2 + best, 1));
  claim_less("no head of layer 0 has one above 0.4", std::max(scores(0, 1), scores(1, 1)), 0.4);
  picture_of_induction(model, previous, best, lesson);
  say("", "The picture shows them for ten tokens, twice. In the first half a token has no",
      "earlier occurrence: then the induction head attends to the first token. (Other",
      "heads do this when they find nothing: an attention sink.)");
  compare_reads(model, test, previous);
}

}  // namespace heed
