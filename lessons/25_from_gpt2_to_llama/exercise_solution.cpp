// 25 rope_cache: rotary position embedding with a KV cache of limited size.
//
// A model with rotary positions (Su et al. 2021) rotates the query and the key of the token at
// position t by the angles of t. Values are not rotated. The scores then depend on positions only
// through t - s. In generation, a KV cache keeps the rotated keys: a key is rotated once, when its
// token is appended. Here the cache has a capacity (a sliding window; Mistral 7B works like this:
// Jiang et al. 2023): when there are more tokens, the oldest one is removed.
//
// next_output gets the query, the key and the value (D) of the next token. It appends the token to
// the cache, removes the oldest token if the cache then has more than cache.capacity, and returns
// the attention output (D) for this query, over the tokens in the cache, the new one too. Positions
// count all tokens of the sequence, also the removed ones. cache.position, at first 0, is the
// position of the new token; next_output must increase it. Call `rotated` twice per token: the
// judge counts. Calls for several caches may alternate, so keep nothing in static variables. Cache,
// `rotated` and `attend` are declared in lessons/25_from_gpt2_to_llama/rope_cache.hpp.
//
// As handed out, nothing is rotated, and the cache grows without limit.

#include "exercise.hpp"
#include "rope_cache.hpp"

using namespace heed;

Array next_output(const Array& q, const Array& k, const Array& v, Cache& cache) {
  // Your part begins here.
  cache.keys.push_back(rotated(k, cache.position));
  cache.values.push_back(v);
  if (cache.keys.size() > cache.capacity) {
    cache.keys.erase(cache.keys.begin());
    cache.values.erase(cache.values.begin());
  }
  return attend(rotated(q, cache.position++), cache.keys, cache.values);
  // Your part ends here.
}
