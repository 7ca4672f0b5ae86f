// Returns the last token when u is above the rounded sum, even if its probability is 0.
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
  double sum = 0, end = 0;
  for (const Real z : logits) sum += unnormalised(z);
  for (std::size_t v = 0; v < logits.size(); ++v) {
    const double probability = unnormalised(logits(v)) / sum;
    end += probability;  // the upper end of the part of v
    if (u < end) return v;
  }
  return logits.size() - 1;
}
