// head_kinds.hpp: how much a head does what heads are known for, such as looking one place back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "heed/array/array.hpp"

namespace heed {

// A kind of head is known by the places that its rows attend to.
struct HeadKind {
  std::string name;
  // Whether place s is one that row t of such a head attends to, in a window of symbols. Asked only
  // for places that the row sees.
  bool (*attends)(const std::int64_t* symbols, std::size_t t, std::size_t s);
};

// previous token: the place before; so every row but the first has one
// first token:    place 0; every row but the first has it
// same symbol:    other places that hold the row's own symbol; rows may have none. Of a causal
//                 model these are earlier ones, else later ones too
const std::vector<HeadKind>& head_kinds();

// The share of its attention that a head gives to such places: summed over the places of a row,
// and the mean over all rows, in all windows, that have such a place. Between 0 and 1. weights are
// (B, H, T, T), rows summing to one; tokens (B, T); gives (H). NaN when no row has such a place.
// Throws Error when the shapes do not fit.
Array head_scores(const HeadKind& kind, const Array& weights, const Indices& tokens, bool causal);

// What a head scores that attends evenly to all that it sees: t + 1 places of a causal model, else
// T. The score of a head says something where it is well above.
double uniform_score(const HeadKind& kind, const Indices& tokens, bool causal);

}  // namespace heed
