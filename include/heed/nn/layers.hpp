// layers.hpp: the layers Linear, LayerNorm, RMSNorm, Dropout, Embedding and PatchEmbedding, and
// sinusoidal position encodings.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <utility>

#include "heed/array/exact.hpp"
#include "heed/base/bool.hpp"
#include "heed/nn/init.hpp"
#include "heed/nn/parameters.hpp"

namespace HEED_NAMESPACE::nn {

// The weight matrix of a linear layer or an embedding: a tensor, or for inference a compact
// matrix, which takes less memory and has no gradient.
struct Weight : Tensor {
  Weight() = default;
  // A weight in Real.
  explicit Weight(Tensor x) : Tensor(std::move(x)) {}
  // The parameter "weight" of a scope, (rows, columns), compact if scope.compact is set. Its
  // initial values are draw(), unless scope.init.draw is false.
  Weight(const Scope& scope, std::size_t rows, std::size_t columns,
         const std::function<Array()>& draw);

  // The numbers of rows and of columns.
  std::size_t rows() const { return compact ? compact->rows() : size(0); }
  std::size_t columns() const { return compact ? compact->columns() : size(1); }

  std::shared_ptr<const CompactMatrix> compact;  // if not null, the Tensor is undefined
};

// The operations linear() and embedding() with a weight that may be compact.
Tensor linear(In x, const Weight& weight, In bias = {});
Tensor embedding(const IndicesIn& indices, const Weight& weight);

// A linear layer: y = x W^T + b.
struct Linear {
  // Initialises the weight, then the bias, as torch.nn.Linear does (see namespace init) if
  // scope.init.std is 0, otherwise as WeightInit says. Layers throw Error for a negative size.
  Linear(Scope scope, std::size_t in_features, std::size_t out_features, Bool with_bias = true);

  Tensor operator()(In x) const;                                // (..., in) -> (..., out)
  std::size_t in_features() const { return weight.columns(); }  // the size of the last axis of x
  std::size_t out_features() const { return weight.rows(); }    // size of the result's last axis

  Weight weight;  // (out, in)
  Tensor bias;    // shape (out); undefined if the layer has no bias
};

// The kinds of norm: that of GPT-2 and that of Llama (Touvron et al. 2023, "LLaMA: Open and
// Efficient Foundation Language Models", section 2.2).
enum class NormKind { layer, rms };

// LayerNorm or RMSNorm over the last axis, of width C. The default epsilon is that of GPT-2 and
// Llama.
struct Norm {
  // Without bias, LayerNorm has only a weight. RMSNorm never has a bias.
  Norm(Scope scope, std::size_t width, Bool with_bias = true, NormKind kind = NormKind::layer,
       double epsilon = 1e-5);

  Tensor operator()(In x) const;  // (..., C) -> (..., C)

  NormKind kind;  // layer normalization or RMS normalization
  Tensor weight;  // (C), initially ones
  Tensor bias;    // shape (C), initially zeros; undefined without bias
  double eps;     // epsilon, which is added to the variance or the mean square
};

// Layer normalization (Ba et al. 2016) over the last axis.
struct LayerNorm : Norm {
  // `width` is C, the size of the last axis.
  explicit LayerNorm(Scope scope, std::size_t width, Bool with_bias = true, double epsilon = 1e-5)
      : Norm(scope, scope.checked_size("LayerNorm", "width", width), with_bias, NormKind::layer,
             epsilon) {}
};

// RMS normalization (Zhang and Sennrich 2019) over the last axis.
struct RMSNorm : Norm {
  // `width` is C, the size of the last axis. The default epsilon is PyTorch's.
  explicit RMSNorm(Scope scope, std::size_t width,
                   double epsilon = std::numeric_limits<Real>::epsilon())
      : Norm(scope, scope.checked_size("RMSNorm", "width", width), false, NormKind::rms, epsilon) {}
};

// Dropout: in training mode, zeroes each element of x with probability p; in evaluation mode,
// returns x. Srivastava et al. 2014, "Dropout: A Simple Way to Prevent Neural Networks from
// Overfitting".
struct Dropout {
  // Draws the dropout masks from `random`, which must outlive the layer. Throws Error unless
  // `probability` is in [0, 1].
  explicit Dropout(double probability, Generator& random,
                   SourceLocation location = SourceLocation::current());

  // (...) -> (...). In training mode, elements that are not zeroed are multiplied by 1 / (1 - p).
  Tensor operator()(In x) const;

  double p;              // the probability that an element is zeroed
  Generator* generator;  // the random generator of the dropout masks
  bool training = true;  // true: training mode; false: evaluation mode
};

// Embedding: a learned vector for each token (torch.nn.Embedding).
struct Embedding {
  // Draws the weight from a normal distribution with mean 0 and standard deviation scope.init.std,
  // or 1 if scope.init.std is 0.
  Embedding(Scope scope, std::size_t num_embeddings, std::size_t embed_dim);

  Tensor operator()(const IndicesIn& indices) const;  // (...) -> (..., C)

  Weight weight;  // (V, C)
};

// Cuts images into square patches, and maps each patch linearly to a vector. This equals a 2-D
// convolution whose kernel and stride have the size of a patch. Dosovitskiy et al. 2021, "An Image
// is Worth 16x16 Words", section 3.1.
struct PatchEmbedding {
  // Throws Error if channels, patch_size or embed_dim is 0.
  PatchEmbedding(Scope scope, std::size_t channels, std::size_t patch_size, std::size_t embed_dim);

  // images (B, channels, H, W) -> (B, N, embed_dim) for N = (H / patch_size) (W / patch_size)
  // patches in row-major order. Throws Error unless H and W are divisible by patch_size.
  Tensor operator()(In images) const;

  std::size_t channels, patch_size;  // channels per image, and pixels per side of a patch
  Linear projection;                 // projection weight (embed_dim, channels * patch_size^2)
};

// The sinusoidal encodings (length, width) of the positions 0 to length - 1. Row t is added to the
// embedding of the token at position t. Columns 2i and 2i + 1 are
//   sin(t / 10000^(2i / width)) and cos(t / 10000^(2i / width)).
// Angles are in radians, so the wavelengths range from 2 pi to almost 10000 * 2 pi positions.
// Vaswani et al. 2017, "Attention Is All You Need", section 3.5.
// Throws Error for a width that is 0 or odd.
Array sinusoidal_positions(std::size_t length, std::size_t width,
                           SourceLocation location = SourceLocation::current());

}  // namespace HEED_NAMESPACE::nn
