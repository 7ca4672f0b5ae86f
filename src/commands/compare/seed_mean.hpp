// seed_mean.hpp: the mean of measurements of several seeds, with its confidence interval.
#pragma once

#include <cstddef>
#include <vector>

namespace heed::app {

// The mean of the measurements of several seeds.
struct SeedMean {
  double mean = 0;
  double standard_error = 0;  // of the mean: the standard deviation / sqrt(count); 0 for one seed
  std::size_t count = 0;      // number of measurements

  // Half of the 95 % confidence interval of the mean: the quantile 0.975 of Student's t
  // distribution with count - 1 degrees of freedom, times the standard error. Infinite for one.
  double half_interval() const;
};
SeedMean mean_of(const std::vector<double>& values);  // at least one value

// The quantile 0.975 of Student's t distribution; 12.7062 for 1 degree of freedom.
double t_quantile(std::size_t degrees_of_freedom);

}  // namespace heed::app
