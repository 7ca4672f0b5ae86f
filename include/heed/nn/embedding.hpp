// embedding.hpp: the Embedding layer: a learned vector for each token.
#pragma once

#include "heed/nn/parameters.hpp"

namespace HEED_NAMESPACE::nn {

struct Embedding {
  // Draws the weight from a normal distribution with mean 0 and standard deviation 1, unless the
  // scope has another WeightInit.
  Embedding(Scope scope, std::size_t num_embeddings, std::size_t embed_dim);

  Tensor operator()(
      const Indices& indices,
      SourceLocation location = SourceLocation::current()) const;  // (...) -> (..., C)

  Tensor weight;  // (V, C)
};

}  // namespace HEED_NAMESPACE::nn
