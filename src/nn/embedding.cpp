// embedding.cpp: a learned vector for each symbol.

#include "heed/nn/embedding.hpp"

#include "heed/ops/embedding.hpp"

namespace heed::nn {

Embedding::Embedding(Scope scope, std::size_t num_embeddings, std::size_t embed_dim)
    : weight(scope.parameter("weight", scope.generator.randn({num_embeddings, embed_dim}))) {}

Tensor Embedding::operator()(const Indices& indices, SourceLocation location) const {
  return embedding(indices, weight, {}, location);
}

}  // namespace heed::nn
