// layers.hpp: the layers Linear, LayerNorm, RMSNorm, Dropout, Embedding and PatchEmbedding, and
// sinusoidal position encodings.
#pragma once

#include "heed/nn/init.hpp"
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
  // C = width.
  explicit LayerNorm(Scope scope, std::size_t width, bool with_bias = true, double epsilon = 1e-5);

  Tensor operator()(const Tensor& x, SourceLocation location =
                                         SourceLocation::current()) const;  // (..., C) -> (..., C)

  Tensor weight;  // (C), initially ones
  Tensor bias;    // shape (C), initially zeros; undefined without bias
  double eps;     // added to the variance
};

// RMS normalization (Zhang and Sennrich 2019) over the last axis.
struct RMSNorm {
  // C = width. The default epsilon is PyTorch's.
  explicit RMSNorm(Scope scope, std::size_t width,
                   double epsilon = std::numeric_limits<Real>::epsilon());

  Tensor operator()(const Tensor& x, SourceLocation location =
                                         SourceLocation::current()) const;  // (..., C) -> (..., C)

  Tensor weight;  // (C), initially ones
  double eps;     // added to the mean square
};

// Zeroes each element with probability p in training, and returns x otherwise. Srivastava et al.
// 2014, "Dropout: A Simple Way to Prevent Neural Networks from Overfitting".
struct Dropout {
  // Draws from `random`, which must live longer. Throws Error for probabilities outside [0, 1].
  explicit Dropout(double probability, Generator& random,
                   SourceLocation location = SourceLocation::current());

  // (...) -> (...). Elements that are not zeroed are multiplied by 1 / (1 - p).
  Tensor operator()(const Tensor& x, SourceLocation location = SourceLocation::current()) const;

  double p;              // the probability that an element is zeroed
  Generator* generator;  // draws the dropout masks
  bool training = true;  // false: evaluation mode
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

// Cuts images into square patches, and maps each patch linearly to a vector. The same as a 2-D
// convolution whose kernel and stride have the size of a patch. Dosovitskiy et al. 2021, "An Image
// is Worth 16x16 Words", section 3.1.
struct PatchEmbedding {
  // Throws Error if a size is 0.
  PatchEmbedding(Scope scope, std::size_t channels, std::size_t patch_size, std::size_t embed_dim);

  // images (B, channels, H, W) -> (B, N, embed_dim) for N = (H / patch_size) (W / patch_size)
  // patches in row-major order. Throws Error unless H and W are divisible by patch_size.
  Tensor operator()(const Tensor& images,
                    SourceLocation location = SourceLocation::current()) const;

  std::size_t channels, patch_size;  // channels per image, and pixels per side of a patch
  Linear projection;                 // weight (embed_dim, channels patch_size^2)
};

// The sinusoidal encodings (length, width) of the positions 0 to length - 1. Row t is added to the
// embedding of the token at position t. Columns 2i and 2i + 1 are
//   sin(t / 10000^(2i / width)) and cos(t / 10000^(2i / width)),
// in radians: wavelengths from 2 pi to almost 10000 * 2 pi positions.
// Vaswani et al. 2017, "Attention Is All You Need", section 3.5.
// Throws Error for a width that is 0 or odd.
Array sinusoidal_positions(std::size_t length, std::size_t width,
                           SourceLocation location = SourceLocation::current());

}  // namespace HEED_NAMESPACE::nn
