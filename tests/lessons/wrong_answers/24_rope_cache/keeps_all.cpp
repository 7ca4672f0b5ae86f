// The oldest token is never removed.
#include "24_rope_cache.hpp"
#include "exercise.hpp"

using namespace heed;

Array next_output(const Array& q, const Array& k, const Array& v, Cache& cache) {
  cache.keys.push_back(rotated(k, cache.position));
  cache.values.push_back(v);
  return attend(rotated(q, cache.position++), cache.keys, cache.values);
}
