// The position is a static variable, which all caches share.
#include "24_rope_cache.hpp"
#include "exercise.hpp"

using namespace heed;

Array next_output(const Array& q, const Array& k, const Array& v, Cache& cache) {
  static std::size_t position = 0;
  cache.keys.push_back(rotated(k, position));
  cache.values.push_back(v);
  if (cache.keys.size() > cache.capacity) {
    cache.keys.erase(cache.keys.begin());
    cache.values.erase(cache.values.begin());
  }
  return attend(rotated(q, position++), cache.keys, cache.values);
}
