// bert.hpp: BERT's token type embeddings and its masked-LM head.
#pragma once

#include "heed/nn/layers.hpp"
#include "heed/ops/activation.hpp"

namespace HEED_NAMESPACE::nn {

struct GptConfig;

// The embedding of the token types, (types, C): BERT's types say to which of two texts a token
// belongs.
struct TokenTypeEmbedding : Embedding {
  using Embedding::Embedding;

  // The embeddings (B, T, C) of the token types (B, T), one for each token. Without types, every
  // token has type 0: (1, C). Throws Error for another shape, or for a type out of range.
  Tensor of(const Exact<Indices>& tokens, const Exact<Indices>* types) const;
};

// What BERT's masked language model computes before the output layer: norm(gelu(transform(x))). The
// output layer has a bias. (BertLMPredictionHead in Hugging Face's transformers.)
struct MaskedLmHead {
  // The head of a model with this configuration.
  MaskedLmHead(Scope scope, const GptConfig& config);

  Tensor operator()(In x) const;  // (..., C) -> (..., C)

  Linear transform;  // weight (C, C)
  Norm norm;         // norm after the GELU
  Tensor bias;       // (V): the bias of the output layer
  Gelu gelu_form;    // the form of GELU
};

}  // namespace HEED_NAMESPACE::nn
