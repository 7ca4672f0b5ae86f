// encoder_decoder.hpp: the encoder and the decoder of a transformer that maps one sequence to
// another.
#pragma once

#include <vector>

#include "heed/nn/block.hpp"

namespace HEED_NAMESPACE::nn {

// The encoder: blocks of self-attention and MLP, then a layer norm (Vaswani et al. 2017, "Attention
// Is All You Need", section 3.1; pre-norm as in Block, so the output needs a final norm).
// torch.nn.TransformerEncoder(layer, num_layers, norm = torch.nn.LayerNorm(C)), where `layer` is a
// torch.nn.TransformerEncoderLayer with norm_first = True, batch_first = True, activation = gelu,
// dropout = 0 and dim_feedforward = 4 embed_dim. (With dropout they differ: PyTorch also applies it
// inside the feed-forward network.)
struct Encoder {
  // C = embed_dim; num_heads must divide it. The parameters are blocks.0... and norm. Throws Error
  // if the number of layers or of heads is 0, or if embed_dim is not divisible by num_heads.
  Encoder(Scope scope, std::size_t layers, std::size_t embed_dim, std::size_t num_heads,
          Bool with_bias = true, Gelu form = Gelu::erf);

  // x (B, S, C), embeddings with position encodings -> the memory (B, S, C), which the decoder
  // reads. `mask` is that of every block: give its key_padding (B, S) if sequences are padded. Then
  // the padding changes no output at the other positions; the outputs at padding have no meaning.
  // Throws Error unless x is (B, S, C).
  Tensor operator()(In x, const AttentionMask& mask = {},
                    const TrainingMode* training = nullptr) const;

  std::vector<Block> blocks;  // one block for each layer
  LayerNorm norm;             // the final layer norm
};

// A block of a decoder that reads an encoder's output (Vaswani et al. 2017, section 3.1), pre-norm:
//   x = x + attention(norm1(x));  x = x + cross(norm2(x), memory);  x = x + mlp(norm3(x))
// The same as torch.nn.TransformerDecoderLayer with norm_first = True, batch_first = True,
// activation = gelu, dropout = 0 and dim_feedforward = 4 embed_dim. (With dropout they differ:
// PyTorch also applies it inside the feed-forward network.)
struct DecoderBlock {
  // C = embed_dim, which must be divisible by num_heads.
  DecoderBlock(Scope scope, std::size_t embed_dim, std::size_t num_heads, Bool with_bias = true,
               Gelu form = Gelu::erf);

  // x (B, T, C), memory (B, S, C) -> (B, T, C). `mask` is the mask of the self-attention and is
  // usually causal; `memory_mask` is the mask of the cross-attention.
  Tensor operator()(In x, In memory, const AttentionMask& mask,
                    const AttentionMask& memory_mask = {},
                    const TrainingMode* training = nullptr) const;

  LayerNorm norm1;               // layer norm before the self-attention
  MultiHeadAttention attention;  // self-attention
  LayerNorm norm2;               // layer norm before the cross-attention
  MultiHeadAttention cross;      // cross-attention: keys and values from memory
  LayerNorm norm3;               // layer norm before the MLP
  Mlp mlp;                       // the feed-forward network
};

// The decoder: blocks of self-attention, cross-attention and MLP, then a layer norm (the same
// section; pre-norm). torch.nn.TransformerDecoder(layer, num_layers, norm = torch.nn.LayerNorm(C)),
// where `layer` is a torch.nn.TransformerDecoderLayer with the options named at Encoder.
struct Decoder {
  // The arguments and the errors are those of Encoder's constructor.
  Decoder(Scope scope, std::size_t layers, std::size_t embed_dim, std::size_t num_heads,
          Bool with_bias = true, Gelu form = Gelu::erf);

  // x (B, T, C), memory (B, S, C) -> (B, T, C). `mask` is that of each self-attention: usually
  // causal, and then padding at the end of x needs no key_padding, because only later queries could
  // attend to it. `memory_mask` is that of each cross-attention: its key_padding (B, S) is the
  // encoder's. A linear layer outside gives the logits. Throws Error unless x is (B, T, C) and
  // memory (B, S, C).
  Tensor operator()(In x, In memory, const AttentionMask& mask,
                    const AttentionMask& memory_mask = {},
                    const TrainingMode* training = nullptr) const;

  std::vector<DecoderBlock> blocks;  // one block for each layer
  LayerNorm norm;                    // the final layer norm
};

}  // namespace HEED_NAMESPACE::nn
