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
  double sum = 0, end = 0;
  for (const Real z : logits) sum += std::exp(z * temperature);
  for (std::size_t v = 0; v < logits.size(); ++v) {
    end += std::exp(logits(v) * temperature) / sum;  // the upper end of the part of v
    if (u < end) return v;
  }
  return logits.size() - 1;
}
// Your part ends here.
