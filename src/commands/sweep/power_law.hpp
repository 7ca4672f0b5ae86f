// power_law.hpp: fits a power law of the loss against the number of parameters.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "commands/compare/seed_mean.hpp"

namespace heed::app {

// The final losses of models of one size.
struct SizeLosses {
  double parameters;           // number of parameters
  std::vector<double> losses;  // in nats, one for each seed
  double mean() const { return mean_of(losses).mean; }
};

// loss = factor * parameters^-exponent: the line of least squares through the logarithms of the
// mean losses (Kaplan et al. 2020, "Scaling Laws for Neural Language Models", section 1.2).
struct PowerLaw {
  double factor, exponent;
  // Of the exponents that the seeds have alone, one fit for each; 0 for one seed.
  double exponent_error;

  double at(double parameters) const;
};

// A predicted loss and its 95 % prediction interval.
struct PredictedLoss {
  double loss, low, high;
  bool contains(double value) const { return value >= low && value <= high; }
};

// Fits at least two sizes, of as many losses each.
PowerLaw fitted(const std::vector<SizeLosses>& sizes);

// Predicts the mean loss at another size. The interval is that of linear regression: t s sqrt(1 +
// 1/k + (x - mean)^2 / sum_i (x_i - mean)^2) for the k sizes x_i = ln parameters, where s^2 is the
// sum of squared residuals / (k - 2), so it covers the noise of the seeds and the curvature that
// the sizes show. Needs at least three sizes.
PredictedLoss predicted(const std::vector<SizeLosses>& sizes, double parameters);

}  // namespace heed::app
