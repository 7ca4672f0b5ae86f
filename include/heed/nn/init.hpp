// init.hpp: initial weights and biases of linear layers.
#pragma once

#include <cstddef>

#include "heed/array/random.hpp"

namespace HEED_NAMESPACE::nn::init {

// The weight (out, in) and the bias (out) of torch.nn.Linear(in, out): uniform in +-1 / sqrt(in),
// and equal to PyTorch's for the same seed if the weight is drawn before the bias. He et al. 2015,
// "Delving Deep into Rectifiers", equation 10, with a = sqrt(5).
Array linear_weight(Generator& generator, std::size_t in_features, std::size_t out_features);
Array linear_bias(Generator& generator, std::size_t in_features, std::size_t out_features);

}  // namespace HEED_NAMESPACE::nn::init
