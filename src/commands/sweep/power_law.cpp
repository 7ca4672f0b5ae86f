// power_law.cpp: fits a power law of the loss against the number of parameters.

#include "commands/sweep/power_law.hpp"

#include <cmath>

namespace heed::app {
namespace {

// The line of least squares through points.
struct Line {
  double mean_x = 0, mean_y = 0, slope = 0, squares_x = 0;

  Line(const std::vector<double>& x, const std::vector<double>& y)
      : mean_x(mean_of(x).mean), mean_y(mean_of(y).mean) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      squares_x += (x[i] - mean_x) * (x[i] - mean_x);
      slope += (x[i] - mean_x) * (y[i] - mean_y);
    }
    slope /= squares_x;
  }
  double at(double x) const { return mean_y + slope * (x - mean_x); }
};

std::vector<double> log_sizes(const std::vector<SizeLosses>& sizes) {
  std::vector<double> x;
  for (const SizeLosses& size : sizes) x.push_back(std::log(size.parameters));
  return x;
}

std::vector<double> log_means(const std::vector<SizeLosses>& sizes) {
  std::vector<double> y;
  for (const SizeLosses& size : sizes) y.push_back(std::log(size.mean()));
  return y;
}

}  // namespace

double PowerLaw::at(double parameters) const { return factor * std::pow(parameters, -exponent); }

PowerLaw fitted(const std::vector<SizeLosses>& sizes) {
  const Line line(log_sizes(sizes), log_means(sizes));
  std::vector<double> exponents;
  for (std::size_t seed = 0; seed < sizes[0].losses.size(); ++seed) {
    std::vector<double> y;
    for (const SizeLosses& size : sizes) y.push_back(std::log(size.losses.at(seed)));
    exponents.push_back(-Line(log_sizes(sizes), y).slope);
  }
  return {std::exp(line.at(0)), -line.slope, mean_of(exponents).standard_error};
}

PredictedLoss predicted(const std::vector<SizeLosses>& sizes, double parameters) {
  const std::vector<double> x = log_sizes(sizes), y = log_means(sizes);
  const Line line(x, y);
  const auto k = static_cast<double>(sizes.size());
  double squares = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    squares += (y[i] - line.at(x[i])) * (y[i] - line.at(x[i]));
  const double at = std::log(parameters), distance = at - line.mean_x;
  const double half =
      t_quantile(sizes.size() - 2) *
      std::sqrt(squares / (k - 2) * (1 + 1 / k + distance * distance / line.squares_x));
  return {std::exp(line.at(at)), std::exp(line.at(at) - half), std::exp(line.at(at) + half)};
}

}  // namespace heed::app
