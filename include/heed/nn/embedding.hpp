// embedding.hpp: a learned vector for each symbol.
#pragma once

#include "heed/nn/parameters.hpp"

namespace heed::nn {

struct Embedding {
  // Draws the table from a normal distribution of mean 0 and standard deviation 1.
  Embedding(Scope scope, std::size_t num_embeddings, std::size_t embed_dim);

  Tensor operator()(
      const Indices& indices,
      SourceLocation location = SourceLocation::current()) const;  // (...) -> (..., C)

  Tensor weight;  // (V, C)
};

}  // namespace heed::nn
