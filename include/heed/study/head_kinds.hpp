// head_kinds.hpp: scores that identify previous-token, first-token and same-token attention heads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "heed/array/array.hpp"

namespace HEED_NAMESPACE {

// A kind of head is defined by the key positions that it attends to.
struct HeadKind {
  std::string name;
  // Whether a head of this kind attends from query position t to key position s of a window of
  // tokens. Called only for positions s that are not masked.
  bool (*attends)(const std::int64_t* tokens, std::size_t t, std::size_t s);
};

// previous token: s = t - 1. Every row but the first has such a position.
// first token:    s = 0. Every row but the first has such a position.
// same token:     every s != t with tokens[s] = tokens[t]. A row may have none. In a causal model s
//                 is below t; otherwise it may also be above t.
const std::vector<HeadKind>& head_kinds();

// The attention weight that a head gives to the positions of a kind: summed over such positions of
// a row, then averaged over all rows of all windows that have such a position. Between 0 and 1.
// weights are (B, H, T, T) with rows that sum to 1, tokens are (B, T); returns (H). NaN when no row
// has such a position. Throws Error when the shapes do not fit.
Array head_scores(const HeadKind& kind, const Array& weights, const Indices& tokens, bool causal);

// The score of a head with uniform attention weights over all positions that are not masked: t + 1
// positions in a causal model, else T. A head is of a kind only if its score is well above this.
double uniform_score(const HeadKind& kind, const Indices& tokens, bool causal);

}  // namespace HEED_NAMESPACE
