// init.hpp: initial values of parameters, as in torch.nn.init.
#pragma once

#include "heed/array/random.hpp"
#include "heed/autograd/tensor.hpp"

namespace HEED_NAMESPACE::nn::init {

// Each function fills x with random numbers, and draws the numbers of PyTorch's function of the
// same name for the same seed (see Generator). x (out, in, ...) has fan_in = in * k and fan_out =
// out * k, where k is the product of the further sizes. The functions of fan_in throw Error if x
// has fewer than two axes.

// Uniform in [low, high).
void uniform_(const Tensor& x, Generator& generator, double low = 0, double high = 1,
              SourceLocation location = SourceLocation::current());
// Normal with this mean and standard deviation.
void normal_(const Tensor& x, Generator& generator, double mean = 0, double std = 1,
             SourceLocation location = SourceLocation::current());
// Uniform in +-gain sqrt(6 / (fan_in + fan_out)). Glorot and Bengio 2010, "Understanding the
// difficulty of training deep feedforward neural networks", equation 16.
void xavier_uniform_(const Tensor& x, Generator& generator, double gain = 1,
                     SourceLocation location = SourceLocation::current());
// Uniform in +-sqrt(6 / ((1 + a^2) fan_in)), for a ReLU whose slope below 0 is a. He et al. 2015,
// "Delving Deep into Rectifiers", equation 15.
void kaiming_uniform_(const Tensor& x, Generator& generator, double a = 0,
                      SourceLocation location = SourceLocation::current());

// The weight (out, in) and the bias (out) of torch.nn.Linear(in, out): uniform in +-1 / sqrt(in),
// and equal to PyTorch's for the same seed if the weight is drawn before the bias. He et al. 2015,
// equation 15, with a = sqrt(5).
Array linear_weight(Generator& generator, std::size_t in_features, std::size_t out_features);
Array linear_bias(Generator& generator, std::size_t in_features, std::size_t out_features);

}  // namespace HEED_NAMESPACE::nn::init
