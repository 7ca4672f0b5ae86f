// heads.hpp: the attention weights, queries and keys of a model's heads, and scores that identify
// previous-token, first-token and same-token heads.
#pragma once

#include <string>
#include <vector>

#include "heed/nn/gpt.hpp"

namespace HEED_NAMESPACE {

// The attention weights, queries and keys of one layer for a batch of tokens.
struct LayerAttention {
  Array weights;  // (B, H, T, T): attention weights, rows are query positions
  Array queries;  // (B, H, T, D), D = C / H
  Array keys;     // (B, H, T, D)
};

// Runs the model on tokens (B, T) and returns the attention of each layer. Throws the same errors
// as the model.
std::vector<LayerAttention> capture_attention(const nn::Gpt& model, const Indices& tokens);

// A kind of head is defined by the key positions that it attends to.
struct HeadKind {
  std::string name;
  // Whether a head of this kind attends from query position t to key position s of a window of
  // tokens. It is called only for positions s that are not masked.
  bool (*attends)(const std::int64_t* tokens, std::size_t t, std::size_t s);
};

// previous token: s = t - 1. Every row but the first has such a position.
// first token:    s = 0. Every row but the first has such a position.
// same token:     every s != t with tokens[s] = tokens[t]. A row may have none. In a causal model s
//                 is below t; otherwise it may also be above t.
const std::vector<HeadKind>& head_kinds();

// Returns the score of each head, (H): the attention weights at the key positions of the kind,
// summed over each row, then averaged over all rows that have such a position. A score is between 0
// and 1, or NaN when no row has such a position. weights are (B, H, T, T) with rows that sum to 1,
// tokens are (B, T). Throws Error when the shapes do not fit.
Array head_scores(const HeadKind& kind, const Array& weights, const Indices& tokens, bool causal);

// The baseline: the score of uniform attention weights over all unmasked positions, t + 1 in a
// causal model and T otherwise. A head is of a kind only if its score is well above the baseline.
double uniform_score(const HeadKind& kind, const Indices& tokens, bool causal);

}  // namespace HEED_NAMESPACE
