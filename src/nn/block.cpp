// block.cpp: the feed-forward network, pre-norm and post-norm transformer blocks.

#include "heed/nn/block.hpp"

#include "heed/nn/gpt.hpp"
#include "heed/ops/arithmetic.hpp"
#include "nn/layer_name.hpp"

namespace HEED_NAMESPACE::nn {

static std::optional<Linear> make_gate(const Scope& scope, std::size_t embed_dim, Bool with_bias,
                                       MlpKind kind, std::size_t hidden) {
  if (kind == MlpKind::gelu) return {};
  return Linear(scope / "gate", embed_dim, hidden, with_bias);
}

static std::size_t hidden_width(std::size_t embed_dim, MlpKind kind, std::size_t hidden_size) {
  return hidden_size == 0 ? mlp_width(embed_dim, kind) : hidden_size;
}

Mlp::Mlp(Scope scope, std::size_t embed_dim, Bool with_bias, Gelu form, MlpKind kind,
         std::size_t hidden_size)
    : gate(
          make_gate(scope, embed_dim, with_bias, kind, hidden_width(embed_dim, kind, hidden_size))),
      up(scope / "up", embed_dim, hidden_width(embed_dim, kind, hidden_size), with_bias),
      down((scope / "down").ends_residual(), up.out_features(), embed_dim, with_bias),
      gelu_form(form) {}

Tensor Mlp::operator()(In x) const {
  const Tensor inner = gate ? silu((*gate)(x)) * up(x) : gelu(up(x), gelu_form);
  return down(named_by_layer(inner, up.weight, 2));
}

static GptConfig block_config(std::size_t embed_dim, std::size_t num_heads, Bool with_bias,
                              Gelu form) {
  GptConfig config;
  config.embed_dim = embed_dim;
  config.heads = num_heads;
  config.bias = with_bias;
  config.gelu = form;
  return config;
}

Block::Block(Scope scope, std::size_t embed_dim, std::size_t num_heads, Bool with_bias, Gelu form)
    : Block(scope, block_config(embed_dim, num_heads, with_bias, form)) {}

Block::Block(Scope scope, const GptConfig& c)
    : norm1(scope / "norm1", c.embed_dim, c.bias, c.norm, c.norm_eps),
      attention(scope / "attention", c.embed_dim, c.heads, c.bias,
                {c.kv_heads,
                 c.positions == PositionKind::rotary,
                 c.head_dim,
                 {c.rope_theta, c.rotary_pairs, c.rotary_dim},
                 c.qkv_bias}),
      norm2(scope / "norm2", c.embed_dim, c.bias, c.norm, c.norm_eps),
      mlp(scope / "mlp", c.embed_dim, c.bias, c.gelu, c.mlp, c.intermediate_size),
      post_norm(c.post_norm) {}

Tensor Block::attention_input(In x) const { return post_norm ? x : norm1(x); }

Tensor Block::after_attention(In x, In attention_output, const TrainingMode* training) const {
  Tensor attended = x + dropout(attention_output, training);
  if (post_norm) {
    attended = norm1(attended);
    return norm2(attended + dropout(mlp(attended), training));
  }
  return named_by_layer(attended + dropout(mlp(norm2(attended)), training), norm2.weight, 2);
}

Tensor Block::operator()(In x, const AttentionMask& mask, const TrainingMode* training) const {
  return after_attention(x, attention(attention_input(x), mask, training), training);
}

Tensor Block::operator()(In x, KeyValueCache& cache) const {
  return after_attention(x, attention(attention_input(x), cache));
}

}  // namespace HEED_NAMESPACE::nn
