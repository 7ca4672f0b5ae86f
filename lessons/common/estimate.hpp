// estimate.hpp: the mean of several measurements and its standard error.
#pragma once

#include <cmath>
#include <vector>

namespace heed {

struct Estimate {
  double mean = 0, standard_error = 0;
};

// The mean of x and its standard error: the standard deviation of x / sqrt(number of elements).
inline Estimate estimate(const std::vector<double>& x) {
  Estimate e;
  for (const double number : x) e.mean += number / double(x.size());
  double squares = 0;
  for (const double number : x) squares += (number - e.mean) * (number - e.mean);
  e.standard_error = std::sqrt(squares / double(x.size() - 1) / double(x.size()));
  return e;
}

}  // namespace heed
