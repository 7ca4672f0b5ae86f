// ablation.hpp: zero and mean ablation of several heads, pattern scores, and what the heads of
// lesson 16 attend to.
#pragma once

#include <memory>

#include "heed/draw/table.hpp"
#include "looking_inside.hpp"

namespace heed {

// All consecutive windows of T tokens of a part of a text: (W, T).
inline Indices windows_of(const Corpus& corpus, const Split& part, std::size_t T) {
  const std::size_t W = part.size / T;
  Indices windows = corpus.ids(part.begin, W * T);
  windows.reshape({W, T});
  return windows;
}

// The loss of each window (W) without these heads of one layer. Zero ablation: their outputs are 0.
// Mean ablation: their outputs are the means of their outputs over all positions of all windows.
inline Array losses_without(const nn::Gpt& model, std::size_t layer,
                            const std::vector<std::size_t>& ablated, const Indices& windows,
                            bool with_mean) {
  const NoGrad no_grad;
  const std::size_t T = windows.shape(1) - 1;
  const Indices inputs = xt::view(windows, xt::all(), xt::range(0, T)),
                targets = xt::view(windows, xt::all(), xt::range(1, T + 1));
  const nn::AttentionMask causal{true, {}};
  Tensor x = model.embed(inputs);  // (W, T, C)
  for (std::size_t l = 0; l < model.blocks.size(); ++l) {
    const nn::Block& block = model.blocks[l];
    const Tensor normed = block.norm1(x);
    Array attention = block.attention(normed, causal).value();
    if (l == layer) {
      std::vector<std::unique_ptr<AblatedHead>> zeroed;
      for (const std::size_t h : ablated)
        zeroed.push_back(std::make_unique<AblatedHead>(model, layer, h));
      const Array without = block.attention(normed, causal).value(), removed = attention - without;
      attention = without;
      if (with_mean) attention += mean(Tensor(removed), {0, 1}).value();  // (C)
    }
    x = x + Tensor(attention);
    x = x + block.mlp(block.norm2(x));
  }
  CrossEntropyOptions each;
  each.reduction = Reduction::none;
  const Tensor logits = linear(model.norm(x), model.head);
  const Array all = cross_entropy(logits, targets, each).value();  // (W, T)
  return xt::mean(all, {1});
}

// The loss of each window (B) without head i: its columns of the output projection are zero.
inline Array losses_by_hand(const nn::Gpt& model, std::size_t i, const Indices& windows) {
  Tensor out = model.blocks[i / 4].attention.out.weight;  // (C, C)
  const Array original = out.value();
  const std::size_t D = model.config.embed_dim / 4, first = i % 4 * D;
  xt::view(out.mutable_value(), xt::all(), xt::range(first, first + D)) = Real(0);
  const Array result = losses(model, windows);
  out.mutable_value() = original;
  return result;
}

// The pattern scores of all heads (8, kinds), as means over windows, with standard errors.
struct PatternScores {
  Array mean, error;
};

inline PatternScores pattern_scores(const std::vector<HeadKind>& kinds,
                                    const std::vector<LayerAttention>& layers,
                                    const Indices& windows) {
  const std::size_t W = windows.shape(0);
  PatternScores result{zeros({8, kinds.size()}), zeros({8, kinds.size()})};
  for (std::size_t k = 0; k < kinds.size(); ++k)
    for (std::size_t l = 0; l < 2; ++l) {
      xt::view(result.mean, xt::range(4 * l, 4 * l + 4), k) =
          head_scores(kinds[k], layers[l].weights, windows, true);
      Array each = zeros({W, 4});
      for (std::size_t w = 0; w < W; ++w)
        xt::row(each, int(w)) =
            head_scores(kinds[k], Array(xt::view(layers[l].weights, xt::range(w, w + 1))),
                        Indices(xt::view(windows, xt::range(w, w + 1))), true);
      for (std::size_t h = 0; h < 4; ++h)
        result.error(4 * l + h, k) = Real(standard_error(xt::col(each, int(h))));
    }
  return result;
}

// The weights of a head on the previous token, on the first token, and on earlier positions with
// the query's token: means over the rows that have such positions. A is (B, H, T, T), ids (B, T).
inline Array scores_by_hand(const Array& A, const Indices& ids, std::size_t head) {
  double previous = 0, first = 0, same = 0, rows = 0, rows_with_same = 0;
  for (std::size_t b = 0; b < A.shape(0); ++b)
    for (std::size_t t = 1; t < A.shape(2); ++t) {
      previous += A(b, head, t, t - 1);
      first += A(b, head, t, 0);
      rows += 1;
      bool any = false;
      for (std::size_t s = 0; s < t; ++s)
        if (ids(b, s) == ids(b, t)) same += A(b, head, t, s), any = true;
      if (any) rows_with_same += 1;
    }
  return Array{Real(previous / rows), Real(first / rows), Real(same / rows_with_same)};
}

// The same token score of one head over the queries that are `token` (or, if not `equal`, over the
// others), and that of uniform weights: (2). A is (B, H, T, T), ids (B, T).
inline Array same_score(const Array& A, const Indices& ids, std::size_t head, std::int64_t token,
                        bool equal) {
  double sum = 0, uniform = 0, rows = 0;
  for (std::size_t b = 0; b < A.shape(0); ++b)
    for (std::size_t t = 1; t < A.shape(2); ++t) {
      if ((ids(b, t) == token) != equal) continue;
      double keys = 0;
      for (std::size_t s = 0; s < t; ++s)
        if (ids(b, s) == ids(b, t)) sum += A(b, head, t, s), keys += 1;
      uniform += keys / double(t + 1);
      rows += keys > 0 ? 1 : 0;
    }
  return Array{Real(sum / rows), Real(uniform / rows)};
}

inline void same_token_control(const Array& A, const Indices& ids, std::size_t head,
                               std::int64_t space) {
  const Array spaces = same_score(A, ids, head, space, true),
              others = same_score(A, ids, head, space, false);
  say("", "Is layer 1, head 3 a same token head? Its score is above uniform. But it may",
      "only attend to spaces, whatever the query. We take two groups of queries:", "");
  quote("same, queries that are spaces  " + decimal(spaces(0), 2) +
        " (uniform weights: " + decimal(spaces(1), 2) + ")\nsame, all other queries        " +
        decimal(others(0), 2) + " (uniform weights: " + decimal(others(1), 2) + ")");
  say("", "So this head attends to spaces, and a space is the same token only for a query",
      "that is a space. A score above uniform does not prove that a head has a pattern.");
}

// The mean weight of one head on the query's own position and the two before it, over the queries
// with two earlier positions or more. A is (W, H, T, T).
inline double weight_on_last_three(const Array& A, std::size_t head) {
  double sum = 0;
  for (std::size_t w = 0; w < A.shape(0); ++w)
    for (std::size_t t = 2; t < A.shape(2); ++t)
      for (std::size_t s = t - 2; s <= t; ++s) sum += A(w, head, t, s);
  return sum / double(A.shape(0) * (A.shape(2) - 2));
}

// For a head: the character whose keys get the most weight above uniform weights, as text.
inline std::string most_attended(const Array& A, std::size_t head, const Indices& windows,
                                 const Vocabulary& vocabulary) {
  std::vector<double> weight(vocabulary.size(), 0), uniform = weight;
  const std::size_t W = A.shape(0), T = A.shape(2);
  for (std::size_t w = 0; w < W; ++w)
    for (std::size_t t = 0; t < T; ++t)
      for (std::size_t s = 0; s <= t; ++s) {
        weight[std::size_t(windows(w, s))] += A(w, head, t, s) / double(W * T);
        uniform[std::size_t(windows(w, s))] += 1 / double(t + 1) / double(W * T);
      }
  std::size_t best = 0;
  for (std::size_t c = 0; c < weight.size(); ++c)
    if (weight[c] - uniform[c] > weight[best] - uniform[best]) best = c;
  return "'" + printable(vocabulary.decode(std::int64_t(best))) + "' " + decimal(weight[best], 2) +
         " (uniform weights: " + decimal(uniform[best], 2) + ")";
}

}  // namespace heed
