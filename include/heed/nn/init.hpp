// init.hpp: initial values of parameters, as in torch.nn.init.
#pragma once

#include "heed/array/random.hpp"
#include "heed/autograd/tensor.hpp"

namespace HEED_NAMESPACE::nn::init {

// Each function fills x with random numbers. For the same seed, the numbers equal those of the
// function of the same name in PyTorch (see Generator). A tensor x (out, in, ...) has fan_in =
// in * k and fan_out = out * k, where k is the product of the sizes after out and in.
// xavier_uniform_ and kaiming_uniform_ throw Error if x has fewer than two axes.

// Draws x from the uniform distribution in [low, high).
void uniform_(In x, Generator& generator, double low = 0, double high = 1);
// Draws x from the normal distribution with the given mean and standard deviation.
void normal_(In x, Generator& generator, double mean = 0, double std = 1);
// Draws x uniformly from [-b, b), b = gain sqrt(6 / (fan_in + fan_out)). Glorot and Bengio 2010,
// "Understanding the difficulty of training deep feedforward neural networks", equation 16.
void xavier_uniform_(In x, Generator& generator, double gain = 1);
// Draws x uniformly from [-b, b), b = sqrt(6 / ((1 + a^2) fan_in)), for a leaky ReLU with negative
// slope a (0: a ReLU). He et al. 2015, "Delving Deep into Rectifiers", equation 15.
void kaiming_uniform_(In x, Generator& generator, double a = 0);

// The initial weight (out, in) and bias (out) of torch.nn.Linear(in, out): uniform in [-b, b) with
// b = 1 / sqrt(in), which for the weight is kaiming_uniform_ with a = sqrt(5). For the same seed,
// both equal PyTorch's if the weight is drawn before the bias.
Array linear_weight(Generator& generator, std::size_t in_features, std::size_t out_features);
Array linear_bias(Generator& generator, std::size_t in_features, std::size_t out_features);

}  // namespace HEED_NAMESPACE::nn::init
