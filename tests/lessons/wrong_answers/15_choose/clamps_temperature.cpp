// Replaces temperatures below 0.1 by 0.1, to avoid a division by a tiny number.
#include <algorithm>
#include <cmath>

#include "exercise.hpp"

using namespace heed;

std::size_t choose(const Array& logits, double temperature, double u) {
  const auto largest = std::max_element(logits.begin(), logits.end());
  std::size_t last = std::size_t(largest - logits.begin());
  if (temperature == 0) return last;
  temperature = std::max(temperature, 0.1);
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
