// embedding.cpp: the Embedding layer: a learned vector for each token.

#include "heed/nn/embedding.hpp"

#include "heed/ops/embedding.hpp"

namespace HEED_NAMESPACE::nn {

Embedding::Embedding(Scope scope, std::size_t num_embeddings, std::size_t embed_dim)
    : weight(scope.parameter("weight",
                             scope.generator.normal({num_embeddings, embed_dim}, 0,
                                                    scope.init.std == 0 ? 1 : scope.init.std))) {}

Tensor Embedding::operator()(const Indices& indices, SourceLocation location) const {
  return embedding(indices, weight, {}, location);
}

}  // namespace HEED_NAMESPACE::nn
