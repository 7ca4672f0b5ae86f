// Keys and values are static variables, which all caches share.
#include <algorithm>
#include <cmath>

#include "15b_kv_cache.hpp"
#include "exercise.hpp"

using namespace heed;

namespace {
Cache shared;
}

Array next_output(const Head& head, const Array& x, Cache&) {
  const Array q = head.query(x);
  shared.keys.push_back(head.key(x));
  shared.values.push_back(head.value(x));
  std::vector<Real> weights;
  for (const Array& k : shared.keys) {
    Real score = 0;
    for (std::size_t i = 0; i < k.size(); ++i) score += q(i) * k(i);
    weights.push_back(score / std::sqrt(Real(k.size())));
  }
  const Real maximum = *std::max_element(weights.begin(), weights.end());
  Real sum = 0;
  for (Real& weight : weights) sum += weight = std::exp(weight - maximum);
  Array output = zeros({shared.values[0].size()});
  for (std::size_t s = 0; s < weights.size(); ++s) output += weights[s] / sum * shared.values[s];
  return output;
}

void clear(Cache&) {
  shared.keys.clear();
  shared.values.clear();
}
