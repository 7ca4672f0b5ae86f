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

// A kind of head is defined by the key positions that such a head attends to.
struct HeadKind {
  std::string name;  // a name such as "previous token"
  // Whether a head of this kind attends from query position t to key position s of a window of
  // tokens. `attends` is called only for positions s that are not masked.
  bool (*attends)(const std::int64_t* tokens, std::size_t t, std::size_t s);
};

// The kinds of heads, with the key positions s to which each attends from query position t:
//   previous token  s = t - 1, for t > 0
//   first token     s = 0, for t > 0
//   same token      every s != t with tokens[s] = tokens[t] (in a causal model, only s < t)
const std::vector<HeadKind>& head_kinds();
// The kind "induction" (Olsson et al. 2022, "In-context Learning and Induction Heads"): attends to
// the token after every other occurrence of the query's token, that is, to each s with
// tokens[s - 1] = tokens[t] and s - 1 != t.
const HeadKind& induction_kind();

// Returns the scores (H), one per head. For each query, sums the attention weights of the keys to
// which a head of this kind attends, such as the previous token, then averages the sums over all
// queries with such a key. A score is between 0 and 1, or NaN when no query has such a key. weights
// are (B, H, T, T) with rows that sum to 1, tokens are (B, T). Throws Error for other shapes.
Array head_scores(const HeadKind& kind, const Array& weights, const Indices& tokens, bool causal);

// The baseline: the score of uniform attention weights over all unmasked keys (t + 1 keys for query
// t if causal, otherwise T). A previous-token head, for example, scores well above the baseline.
double uniform_score(const HeadKind& kind, const Indices& tokens, bool causal);

}  // namespace HEED_NAMESPACE
