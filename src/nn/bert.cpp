// bert.cpp: the embedding of token types, and the head of BERT's masked language model.

#include "heed/nn/bert.hpp"

#include "heed/base/error.hpp"
#include "heed/nn/gpt.hpp"
#include "heed/ops/shape.hpp"

namespace HEED_NAMESPACE::nn {

Tensor TokenTypeEmbedding::of(const Exact<Indices>& tokens, const Exact<Indices>* types) const {
  if (types == nullptr) return slice(weight, 0, 0, 1);
  if (types->shape() != tokens.shape())
    throw_error("Gpt: token types must have the shape of tokens ", str(shape_of(tokens)), ", got ",
                str(shape_of(*types)));
  return (*this)(*types);
}

MaskedLmHead::MaskedLmHead(Scope scope, const GptConfig& c)
    : transform(scope / "transform", c.embed_dim, c.embed_dim, c.bias),
      norm(scope / "norm", c.embed_dim, c.bias, c.norm, c.norm_eps),
      bias(scope.parameter("bias", zeros({c.vocab_size}))),
      gelu_form(c.gelu) {}

Tensor MaskedLmHead::operator()(In x) const { return norm(gelu(transform(x), gelu_form)); }

}  // namespace HEED_NAMESPACE::nn
