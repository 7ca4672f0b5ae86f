// head_pictures.hpp: plots of one head's attention weights: the tokens of a text, and masked
// weights.
#pragma once

#include <algorithm>
#include <limits>

#include "heed/ops/mask.hpp"
#include "heed/text/vocabulary.hpp"
#include "lesson.hpp"

namespace heed {

// The token ids (1, T) of a text.
inline Indices ids_of(const Vocabulary& vocabulary, const std::string& text) {
  const std::vector<std::int64_t> line = vocabulary.encode(text);
  Indices ids = Indices::from_shape({1, line.size()});
  std::copy(line.begin(), line.end(), ids.begin());
  return ids;
}

inline Names letters_of(const Vocabulary& vocabulary, const Indices& ids) {
  Names letters;
  for (const std::int64_t id : ids) letters.push_back(printable(vocabulary.decode(id)));
  return letters;
}

// One head's weights (T, T) in the first window of (B, H, T, T); masked ones are -infinity, which
// pictures show in grey.
inline Array masked_weights(const Array& weights, std::size_t head) {
  const Tensor A{Array(xt::view(weights, 0, head))};
  return masked_fill(A, future_mask(A.shape()[0]), -std::numeric_limits<Real>::infinity()).value();
}

}  // namespace heed
