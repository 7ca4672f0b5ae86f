// clip.cpp: clip_grad_norm, which clips gradients by the norm of all gradients.

#include <cmath>
#include <set>

#include "array/reduce.hpp"
#include "heed/array/map.hpp"
#include "heed/autograd/observer.hpp"
#include "optim/state.hpp"

namespace HEED_NAMESPACE::optim {

static double max_abs(const Array& x) {
  double result = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double value = std::abs(static_cast<double>(x.data()[i]));
    if (value > result || std::isnan(value)) result = value;
    if (std::isnan(result)) break;
  }
  return result;
}

static double largest_of(const std::vector<Tensor>& parameters) {
  double result = 0;
  for (const Tensor& parameter : parameters) {
    if (!parameter.has_grad()) continue;
    if (const double largest = max_abs(parameter.grad()); !(largest <= result)) result = largest;
    if (std::isnan(result)) break;
  }
  return result;
}

static double euclidean_norm(const std::vector<Tensor>& parameters) {
  double sum = 0;
  for (const Tensor& parameter : parameters)
    if (parameter.has_grad()) sum += sum_of_squares(parameter.grad());
  return std::sqrt(sum);
}

// (sum |g|^p)^(1/p), as a multiple of the largest |g|: a power of |g| itself could overflow.
static double total_norm(const std::vector<Tensor>& parameters, double p) {
  if (p == 2) return euclidean_norm(parameters);
  const double largest = largest_of(parameters);
  if (std::isinf(p) || largest == 0 || !std::isfinite(largest)) return largest;
  double sum = 0;
  for (const Tensor& parameter : parameters)
    if (parameter.has_grad())
      for (const Real g : parameter.grad())
        sum += std::pow(std::abs(static_cast<double>(g)) / largest, p);
  return largest * std::pow(sum, 1 / p);
}

static void check_distinct(const std::vector<Tensor>& parameters) {
  std::set<const Node*> nodes;
  for (const Tensor& parameter : parameters)
    if (!nodes.insert(parameter.node().get()).second)
      throw_error("clip_grad_norm: ", describe(parameter, "a parameter"),
                  " occurs twice; give each parameter once");
}

double clip_grad_norm(const std::vector<Tensor>& parameters, double max_norm, double norm_type,
                      SourceLocation location) {
  const CallSite site(location);
  if (!(max_norm >= 0)) throw_error("clip_grad_norm: max_norm ", max_norm, " must be 0 or more");
  if (!(norm_type > 0)) throw_error("clip_grad_norm: norm_type ", norm_type, " must be above 0");
  check_distinct(parameters);
  const ObservedOperation operation("clip_grad_norm", Phase::forward);
  const double norm = total_norm(parameters, norm_type);
  const double scale = max_norm / (norm + 1e-6);
  if (scale >= 1) return norm;
  for (Tensor parameter : parameters) {
    if (!parameter.has_grad()) continue;
    Array& g = parameter.mutable_grad();
    parallel_for(g.size(), elementwise_grain, [&](std::size_t begin, std::size_t end) {
      map_values([s = static_cast<Real>(scale)](auto v) { return v * s; }, g.data() + begin,
                 end - begin, g.data() + begin);
    });
  }
  return norm;
}

}  // namespace HEED_NAMESPACE::optim
