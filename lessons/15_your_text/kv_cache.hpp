// kv_cache.hpp: the attention head and the KV cache of exercise 15b.
#pragma once

#include <functional>
#include <vector>

#include "heed/array/array.hpp"

namespace heed {

// The projections of one head. Each maps the vector of one token to another vector.
struct Head {
  std::function<Array(const Array&x)> query, key;  // (d) -> (d_k)
  std::function<Array(const Array& x)> value;      // (d) -> (d_v)
};

// The keys and values of the tokens so far, in order.
struct Cache {
  std::vector<Array> keys;    // one key (d_k) for each token
  std::vector<Array> values;  // one value (d_v) for each token
};

}  // namespace heed
