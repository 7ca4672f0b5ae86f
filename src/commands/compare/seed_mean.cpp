// seed_mean.cpp: the mean of measurements of several seeds, with its confidence interval.

#include "commands/compare/seed_mean.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heed::app {

double t_quantile(std::size_t degrees_of_freedom) {
  constexpr double table[] = {12.7062, 4.3027, 3.1824, 2.7764, 2.5706,
                              2.4469,  2.3646, 2.3060, 2.2622, 2.2281};
  if (degrees_of_freedom <= 10) return table[std::max<std::size_t>(degrees_of_freedom, 1) - 1];
  // Abramowitz and Stegun 1964, 26.7.5: an expansion around the normal distribution's quantile z.
  const double z = 1.959964, n = static_cast<double>(degrees_of_freedom);
  const double z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
  return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n) +
         (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * n * n * n);
}

double SeedMean::half_interval() const {
  return count < 2 ? std::numeric_limits<double>::infinity()
                   : t_quantile(count - 1) * standard_error;
}

SeedMean mean_of(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  SeedMean result{0, 0, values.size()};
  for (const double value : values) result.mean += value / n;
  double squares = 0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  if (values.size() > 1) result.standard_error = std::sqrt(squares / (n - 1) / n);
  return result;
}

}  // namespace heed::app
