// clip.cpp: clip_grad_norm, which clips gradients by the norm of all gradients.

#include <cmath>

#include "heed/array/map.hpp"
#include "heed/array/reduce.hpp"
#include "heed/autograd/trace/trace.hpp"
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

static double sum_of_powers(const Array& x, double p) {
  if (p == 2) return sum_of_squares(x);
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    sum += std::pow(std::abs(static_cast<double>(x.data()[i])), p);
  return sum;
}

static double total_norm(const std::vector<Tensor>& parameters, double p) {
  double total = 0;
  for (const Tensor& parameter : parameters) {
    if (!parameter.has_grad()) continue;
    if (!std::isinf(p))
      total += sum_of_powers(parameter.grad(), p);
    else if (const double largest = max_abs(parameter.grad()); !(largest <= total))
      total = largest;
    if (std::isnan(total)) return total;
  }
  return std::isinf(p) ? total : std::pow(total, 1 / p);
}

double clip_grad_norm(const std::vector<Tensor>& parameters, double max_norm, double norm_type,
                      SourceLocation location) {
  const CallSite site(location);
  check_option("clip_grad_norm", "max_norm", max_norm, max_norm >= 0, "0 or more");
  check_option("clip_grad_norm", "norm_type", norm_type, norm_type > 0, "above 0");
  const OperationTimer timer("clip_grad_norm", Phase::forward);
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
