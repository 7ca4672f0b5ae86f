// rope_cache.hpp: the KV cache of exercise 25 and the two functions that the exercise calls.
#pragma once

#include <vector>

#include "heed/array/array.hpp"

namespace heed {

// The keys and values of the last tokens, the oldest first. Each sequence has its own cache.
struct Cache {
  std::size_t capacity;            // the cache keeps at most this many tokens
  std::vector<Array> keys = {};    // rotated keys, each (D)
  std::vector<Array> values = {};  // values, each (D)
  std::size_t position = 0;        // the position of the next token: 0, 1, 2, ...
};

// x (D) rotated by the angles of a position, as in exercise 11. The judge counts the calls.
Array rotated(const Array& x, std::size_t position);

// softmax(q K^T / sqrt(D)) V: q (D), one key (D) and one value (D) for each token; returns (D).
Array attend(const Array& q, const std::vector<Array>& keys, const std::vector<Array>& values);

}  // namespace heed
