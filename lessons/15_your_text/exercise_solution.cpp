// 15 choose: sample the next token from logits at a temperature.
//
// logits (V) has a number for each token. The softmax of logits / temperature gives the
// probabilities. Divide the interval from 0 to 1 into V parts, token 0 first, each as long as the
// token's probability. Return the token in whose part u lies, 0 <= u < 1. (A part includes its
// lower end, but not its upper end.) At temperature 0 return the token with the largest logit, for
// every u; if several tokens have the largest logit, the first of them.
//
// Logits may be in the thousands. A logit of minus infinity means probability 0: such a token must
// never be returned. At least one logit is finite. The temperature may be tiny. The function below
// has four faults.

#include <algorithm>
#include <cmath>

#include "exercise.hpp"

using namespace heed;

// Your part begins here.
std::size_t choose(const Array& logits, double temperature, double u) {
  const auto largest = std::max_element(logits.begin(), logits.end());
  std::size_t last = std::size_t(largest - logits.begin());
  if (temperature == 0) return last;
  const double maximum = *largest;
  const auto unnormalised = [&](Real z) { return std::exp((double(z) - maximum) / temperature); };
  double sum = 0, end = 0;
  for (const Real z : logits) sum += unnormalised(z);
  for (std::size_t v = 0; v < logits.size(); ++v) {
    const double probability = unnormalised(logits(v)) / sum;
    end += probability;  // the upper end of the part of v
    if (u < end) return v;
    if (probability > 0) last = v;
  }
  return last;  // u is above the rounded sum
}
// Your part ends here.
