// 15 choose: draw the next symbol from its scores, at a temperature.
//
// scores (V) has a number for each symbol that might come next. Divided by the temperature, and
// through softmax, they become shares. Lay these end to end, symbol 0 first, on a line from 0 to 1,
// and choose the symbol in whose stretch u lies, 0 <= u < 1. (A stretch has its lower end, but not
// its upper one.) At temperature 0 choose the symbol with the highest score, whatever u is; of
// several such symbols the first.
//
// Scores may be thousands. A score of minus infinity is a share of 0, and such a symbol must never
// be chosen; not all of them are like that. The temperature may be tiny. The function below has
// four faults.

#include <algorithm>
#include <cmath>

#include "exercise.hpp"

using namespace heed;

// Your part begins here.
std::size_t choose(const Array& scores, double temperature, double u) {
  double sum = 0, end = 0;
  for (const Real score : scores) sum += std::exp(score * temperature);
  for (std::size_t v = 0; v < scores.size(); ++v) {
    end += std::exp(scores(v) * temperature) / sum;  // where the stretch of v ends
    if (u < end) return v;
  }
  return scores.size() - 1;
}
// Your part ends here.
