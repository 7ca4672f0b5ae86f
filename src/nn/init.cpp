// init.cpp: initial weights and biases of linear layers.

#include "heed/nn/init.hpp"

#include <cmath>

namespace HEED_NAMESPACE::nn::init {

// Computed in PyTorch's order, so that the rounding is the same. volatile prevents a compiler that
// may reassociate from cancelling sqrt(3) and the gain.
Array linear_weight(Generator& generator, std::size_t in_features, std::size_t out_features) {
  if (in_features == 0) return uninitialized({out_features, in_features});
  const double gain = std::sqrt(2.0 / (1 + std::pow(std::sqrt(5.0), 2)));
  const volatile double std = gain / std::sqrt(static_cast<double>(in_features));
  const double bound = std::sqrt(3.0) * std;
  return generator.uniform({out_features, in_features}, -bound, bound);
}

Array linear_bias(Generator& generator, std::size_t in_features, std::size_t out_features) {
  const double bound = in_features == 0 ? 0 : 1 / std::sqrt(static_cast<double>(in_features));
  return generator.uniform({out_features}, -bound, bound);
}

}  // namespace HEED_NAMESPACE::nn::init
