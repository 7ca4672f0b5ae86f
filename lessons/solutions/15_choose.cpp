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
// Hint: Which way does the temperature work? At 100, all symbols should be about equally likely.
// Hint: e^1000 is infinite. Lower all scores alike first, and no share changes: by which score?
// Hint: Shares are rounded, so their sum may stay below a u close to 1. Who is last on the line?

#include <algorithm>
#include <cmath>

#include "exercise.hpp"

using namespace heed;

// Your part begins here.
std::size_t choose(const Array& scores, double temperature, double u) {
  const auto likeliest = std::max_element(scores.begin(), scores.end());
  std::size_t last = std::size_t(likeliest - scores.begin());
  if (temperature == 0) return last;
  const double top = *likeliest;
  const auto unscaled = [&](Real score) { return std::exp((double(score) - top) / temperature); };
  double sum = 0, end = 0;
  for (const Real score : scores) sum += unscaled(score);
  for (std::size_t v = 0; v < scores.size(); ++v) {
    const double share = unscaled(scores(v)) / sum;
    end += share;  // where the stretch of v ends
    if (u < end) return v;
    if (share > 0) last = v;
  }
  return last;  // what rounding left over is the last one's
}
// Your part ends here.
