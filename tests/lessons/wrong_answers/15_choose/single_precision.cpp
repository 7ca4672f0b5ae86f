// Sums and compares in float: a u just below 1 becomes 1, beyond every part.
#include <algorithm>
#include <cmath>

#include "exercise.hpp"

using namespace heed;

std::size_t choose(const Array& logits, double temperature, double u) {
  const auto largest = std::max_element(logits.begin(), logits.end());
  const std::size_t last = std::size_t(largest - logits.begin());
  if (temperature == 0) return last;
  const double maximum = *largest;
  const auto unnormalised = [&](Real z) { return std::exp((double(z) - maximum) / temperature); };
  Real sum = 0, end = 0;
  for (const Real z : logits) sum += Real(unnormalised(z));
  for (std::size_t v = 0; v < logits.size(); ++v) {
    const double probability = unnormalised(logits(v)) / sum;
    end += Real(probability);  // the upper end of the part of v
    if (Real(u) < end) return v;
  }
  return logits.size() - 1;
}
