// encoder_decoder.cpp: the decoder block, and the encoder and decoder: blocks, then a layer norm.

#include "heed/nn/encoder_decoder.hpp"

#include <string_view>

#include "heed/base/error.hpp"
#include "heed/ops/arithmetic.hpp"

namespace HEED_NAMESPACE::nn {

DecoderBlock::DecoderBlock(Scope scope, std::size_t embed_dim, std::size_t num_heads,
                           Bool with_bias, Gelu form)
    : norm1(scope / "norm1", embed_dim, with_bias),
      attention(scope / "attention", embed_dim, num_heads, with_bias),
      norm2(scope / "norm2", embed_dim, with_bias),
      cross(scope / "cross", embed_dim, num_heads, with_bias),
      norm3(scope / "norm3", embed_dim, with_bias),
      mlp(scope / "mlp", embed_dim, with_bias, form) {}

Tensor DecoderBlock::operator()(In x, In memory, const AttentionMask& mask,
                                const AttentionMask& memory_mask,
                                const TrainingMode* training) const {
  const Tensor attended = x + dropout(attention(norm1(x), mask, training), training);
  const Tensor crossed =
      attended + dropout(cross(norm2(attended), memory, memory_mask, training), training);
  return crossed + dropout(mlp(norm3(crossed)), training);
}

template <class AnyBlock>
static std::vector<AnyBlock> make_blocks(std::string_view module, const Scope& scope,
                                         std::size_t layers, std::size_t embed_dim,
                                         std::size_t num_heads, Bool with_bias, Gelu form) {
  const CallSite site(scope.location);
  if (layers == 0) throw_error(module, ": layers must be at least 1");
  std::vector<AnyBlock> blocks;
  for (std::size_t i = 0; i < layers; ++i)
    blocks.emplace_back(scope / "blocks" / i, embed_dim, num_heads, with_bias, form);
  return blocks;
}

// Throws Error unless x is (B, T, C) for the C of the norm.
static void check_sequences(std::string_view module, const Tensor& x, std::string_view role,
                            const LayerNorm& norm) {
  const std::size_t C = norm.weight.shape()[0];
  if (x.dim() != 3 || x.shape()[2] != C)
    throw_error(module, ": ", describe(x, role), " must have 3 axes, the last of size ", C);
}

Encoder::Encoder(Scope scope, std::size_t layers, std::size_t embed_dim, std::size_t num_heads,
                 Bool with_bias, Gelu form)
    : blocks(make_blocks<Block>("Encoder", scope, layers, embed_dim, num_heads, with_bias, form)),
      norm(scope / "norm", embed_dim, with_bias) {}

Tensor Encoder::operator()(In x, const AttentionMask& mask, const TrainingMode* training) const {
  check_sequences("Encoder", x, "x", norm);
  Tensor y = x;
  for (const Block& block : blocks) y = block(y, mask, training);
  return norm(y);
}

Decoder::Decoder(Scope scope, std::size_t layers, std::size_t embed_dim, std::size_t num_heads,
                 Bool with_bias, Gelu form)
    : blocks(make_blocks<DecoderBlock>("Decoder", scope, layers, embed_dim, num_heads, with_bias,
                                       form)),
      norm(scope / "norm", embed_dim, with_bias) {}

Tensor Decoder::operator()(In x, In memory, const AttentionMask& mask,
                           const AttentionMask& memory_mask, const TrainingMode* training) const {
  check_sequences("Decoder", x, "x", norm);
  check_sequences("Decoder", memory, "memory", norm);
  if (memory.shape()[0] != x.shape()[0])
    throw_error("Decoder: ", describe(memory, "memory"), " must have the batch size of ",
                describe(x, "x"));
  Tensor y = x;
  for (const DecoderBlock& block : blocks) y = block(y, memory, mask, memory_mask, training);
  return norm(y);
}

}  // namespace HEED_NAMESPACE::nn
