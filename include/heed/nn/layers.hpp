// layers.hpp: the Linear, LayerNorm and Embedding layers, sinusoidal position encodings, and the
// initialisation of linear layers.
#pragma once

#include "heed/nn/parameters.hpp"

namespace HEED_NAMESPACE::nn {

// y = x W^T + b
struct Linear {
  // Initialises the weight, then the bias, at random as torch.nn.Linear does (see namespace init),
  // unless scope.init sets a standard deviation.
  Linear(Scope scope, std::size_t in_features, std::size_t out_features, bool with_bias = true);

  Tensor operator()(const Tensor& x, SourceLocation location = SourceLocation::current())
      const;  // (..., in) -> (..., out)

  Tensor weight;  // (out, in)
  Tensor bias;    // shape (out); undefined without bias
};

// Layer normalization (Ba et al. 2016) over the last axis.
struct LayerNorm {
  explicit LayerNorm(Scope scope, std::size_t width, bool with_bias = true, double epsilon = 1e-5);

  Tensor operator()(const Tensor& x, SourceLocation location =
                                         SourceLocation::current()) const;  // (..., C) -> (..., C)

  Tensor weight;  // (C), initially ones
  Tensor bias;    // shape (C), initially zeros; undefined without bias
  double eps;
};

// A learned vector for each token.
struct Embedding {
  // Draws the weight from a normal distribution with mean 0 and standard deviation scope.init.std,
  // or 1 if scope.init.std is 0.
  Embedding(Scope scope, std::size_t num_embeddings, std::size_t embed_dim);

  Tensor operator()(
      const Indices& indices,
      SourceLocation location = SourceLocation::current()) const;  // (...) -> (..., C)

  Tensor weight;  // (V, C)
};

// The sinusoidal encodings (length, width) of the positions 0 to length - 1. Row t is added to the
// embedding of the token at position t. Columns 2i and 2i + 1 are
//   sin(t / 10000^(2i / width)) and cos(t / 10000^(2i / width)),
// in radians: wavelengths from 2 pi to almost 10000 * 2 pi positions.
// Vaswani et al. 2017, "Attention Is All You Need", section 3.5.
// Throws Error for a width that is 0 or odd.
Array sinusoidal_positions(std::size_t length, std::size_t width);

namespace init {

// The weight (out, in) and the bias (out) of torch.nn.Linear(in, out): uniform in +-1 / sqrt(in),
// and equal to PyTorch's for the same seed if the weight is drawn before the bias. He et al. 2015,
// "Delving Deep into Rectifiers", equation 10, with a = sqrt(5).
Array linear_weight(Generator& generator, std::size_t in_features, std::size_t out_features);
Array linear_bias(Generator& generator, std::size_t in_features, std::size_t out_features);

}  // namespace init
}  // namespace HEED_NAMESPACE::nn
