// init.cpp: initial values of parameters: uniform, normal, Xavier, Kaiming, and as torch.nn.Linear.

#include "heed/nn/init.hpp"

#include <cmath>

#include "heed/base/error.hpp"

namespace HEED_NAMESPACE::nn::init {

struct Fans {
  double in, out;
};

static Fans fans_of(const char* name, const Tensor& x) {
  if (x.dim() < 2)
    throw_error(name, ": ", describe(x, "x"), " needs at least two axes, (out, in, ...)");
  const double others = static_cast<double>(numel(Shape(x.shape().begin() + 2, x.shape().end())));
  return {static_cast<double>(x.shape()[1]) * others, static_cast<double>(x.shape()[0]) * others};
}

// The bound b of the uniform distribution in [-b, b) with standard deviation gain / sqrt(fan_in).
// The order of the operations is PyTorch's, so that b is rounded as in PyTorch. `volatile` prevents
// a compiler that may reassociate (-ffast-math) from multiplying sqrt(3) by `gain` first.
static double kaiming_bound(double a, double fan_in) {
  const double gain = std::sqrt(2.0 / (1 + std::pow(a, 2)));
  const volatile double std = gain / std::sqrt(fan_in);
  return std::sqrt(3.0) * std;
}

static void check_bound(const char* function, double bound, const char* option, double value) {
  if (!(bound >= 0) || std::isinf(bound))
    throw_error(function, ": ", option, " = ", value, " gives the bound ", bound,
                "; give a finite one of at least 0");
}

void uniform_(In x, Generator& generator, double low, double high) {
  Array values = generator.uniform(x.shape(), low, high);
  x.mutable_value(x.call()) = std::move(values);
}

void normal_(In x, Generator& generator, double mean, double std) {
  Array values = generator.normal(x.shape(), mean, std);
  x.mutable_value(x.call()) = std::move(values);
}

void xavier_uniform_(In x, Generator& generator, double gain) {
  const Fans fans = fans_of("xavier_uniform_", x);
  const volatile double std = gain * std::sqrt(2.0 / (fans.in + fans.out));
  const double bound = std::sqrt(3.0) * std;
  check_bound("xavier_uniform_", bound, "gain", gain);
  uniform_(x, generator, -bound, bound);
}

void kaiming_uniform_(In x, Generator& generator, double a) {
  const double bound = kaiming_bound(a, fans_of("kaiming_uniform_", x).in);
  if (x.value().size() == 0) return;
  check_bound("kaiming_uniform_", bound, "a", a);
  uniform_(x, generator, -bound, bound);
}

Array linear_weight(Generator& generator, std::size_t in_features, std::size_t out_features) {
  if (in_features == 0) return uninitialized({out_features, in_features});
  const double bound = kaiming_bound(std::sqrt(5.0), static_cast<double>(in_features));
  return generator.uniform({out_features, in_features}, -bound, bound);
}

Array linear_bias(Generator& generator, std::size_t in_features, std::size_t out_features) {
  const double bound = in_features == 0 ? 0 : 1 / std::sqrt(static_cast<double>(in_features));
  return generator.uniform({out_features}, -bound, bound);
}

}  // namespace HEED_NAMESPACE::nn::init
