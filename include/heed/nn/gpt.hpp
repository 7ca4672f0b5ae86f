// gpt.hpp: the transformer block and the GPT language model.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "heed/nn/attention.hpp"
#include "heed/nn/layers.hpp"
#include "heed/ops/activation.hpp"

namespace HEED_NAMESPACE::nn {

// Variants of the feed-forward network, of norms and of positions: those of GPT-2 come first, those
// of Llama second (Touvron et al. 2023, "LLaMA: Open and Efficient Foundation Language Models",
// section 2.2).
enum class MlpKind { gelu, swiglu };
enum class NormKind { layer, rms };
enum class PositionKind { learned, rotary };

// The feed-forward network: linear (C to 4C), GELU, linear (4C to C). With MlpKind::swiglu (Shazeer
// 2020, "GLU Variants Improve Transformer", equation 6): down(silu(gate(x)) * up(x)).
struct Mlp {
  // C = embed_dim. If `with_bias` is false, the linear layers have only a weight.
  Mlp(Scope scope, std::size_t embed_dim, Bool with_bias = true, Gelu form = Gelu::erf,
      MlpKind kind = MlpKind::gelu);

  // (..., C) -> (..., C)
  Tensor operator()(In x) const;

  std::optional<Linear> gate;  // of SwiGLU only: (hidden, C)
  Linear up;                   // (hidden, C); hidden is mlp_width(C, kind)
  Linear down;                 // (C, hidden)
  Gelu gelu_form;              // the form of GELU: exact (erf) or the tanh approximation
};

// The width of the hidden layer of an Mlp: 4C, or for SwiGLU 8C/3 rounded up to a multiple of 8, so
// that its three matrices have about as many elements as the two of GELU.
template <class Number = std::size_t>
Number mlp_width(std::size_t embed_dim, MlpKind kind = MlpKind::gelu) {
  if (kind == MlpKind::gelu) return 4 * static_cast<Number>(embed_dim);
  return 8 * static_cast<Number>(embed_dim / 3 + (embed_dim % 3 == 0 ? 0 : 1));
}

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

// The hyperparameters of a Gpt model. The defaults are from nanoGPT's example for a CPU.
struct GptConfig {
  std::size_t vocab_size = 0;   // V: number of tokens in the vocabulary
  std::size_t block_size = 64;  // the context length: the maximum number of tokens in a window
  std::size_t layers = 4;       // L: number of blocks
  std::size_t heads = 4;        // H: number of attention heads per block
  std::size_t embed_dim = 128;  // C: width of the residual stream
  bool bias = false;            // whether linear layers and layer norms have biases
  bool tied = true;             // weight tying: the output layer uses the token embedding's weight
  Gelu gelu = Gelu::erf;        // GELU in the MLPs: exact (erf) or the tanh approximation
  bool causal = true;           // false: every position attends to all positions, as in BERT
  std::size_t kv_heads = 0;     // grouped-query attention: heads of keys and values; 0: `heads`
  NormKind norm = NormKind::layer;                 // the norm of all blocks and the final norm
  PositionKind positions = PositionKind::learned;  // where the positions enter
  MlpKind mlp = MlpKind::gelu;                     // the feed-forward network of all blocks
  double norm_eps = 1e-5;                          // epsilon of all norms; BERT's is 1e-12
  // Post-norm, as in BERT: norms follow the residual connections, and a norm of the embeddings
  // takes the place of the final norm.
  bool post_norm = false;
  std::size_t token_types = 0;  // number of token types (BERT has 2: the segments); 0: none
  bool masked_lm_head = false;  // BERT's head: linear, GELU and norm before the output layer

  // The width of the keys and of the values of a block: C, or less with grouped queries.
  std::size_t kv_width() const {
    return kv_heads == 0 || heads == 0 ? embed_dim : embed_dim / heads * kv_heads;
  }
};

// The number of parameters of a model. Use Number = double if the count may overflow std::size_t.
template <class Number = std::size_t>
Number parameter_count(const GptConfig& config) {
  const auto number = [](std::size_t n) { return static_cast<Number>(n); };
  const Number C = number(config.embed_dim), KV = number(config.kv_width());
  const Number hidden = mlp_width<Number>(config.embed_dim, config.mlp);
  const Number bias = config.bias ? 1 : 0, norm_bias = config.norm == NormKind::layer ? bias : 0;
  const Number gates = config.mlp == MlpKind::swiglu ? 1 : 0;
  const bool learned = config.positions == PositionKind::learned;
  const Number attention = 2 * C * C + 2 * C * KV + bias * (2 * C + 2 * KV);
  const Number mlp = (2 + gates) * C * hidden + bias * ((1 + gates) * hidden + C);
  const Number block = attention + mlp + 2 * (C + norm_bias * C);
  const Number embeddings =
      (config.tied ? 1 : 2) * number(config.vocab_size) * C +
      ((learned ? number(config.block_size) : 0) + number(config.token_types)) * C;
  const Number masked_lm_head =
      config.masked_lm_head ? C * C + bias * C + C + norm_bias * C + number(config.vocab_size) : 0;
  return embeddings + number(config.layers) * block + C + norm_bias * C + masked_lm_head;
}

// A transformer block with residual connections, pre-norm as in GPT-2:
//   x = x + attention(norm1(x));  x = x + mlp(norm2(x))
// Radford et al. 2019, "Language Models are Unsupervised Multitask Learners", section 2.3. With
// config.post_norm, as in BERT (Vaswani et al. 2017, section 3.1):
//   x = norm1(x + attention(x));  x = norm2(x + mlp(x))
struct Block {
  // C = embed_dim, which must be divisible by num_heads.
  Block(Scope scope, std::size_t embed_dim, std::size_t num_heads, Bool with_bias = true,
        Gelu form = Gelu::erf);
  // A block of a Gpt with this configuration.
  Block(Scope scope, const GptConfig& config);

  // (B, T, C) -> (B, T, C)
  Tensor operator()(In x, const AttentionMask& mask = {},
                    const TrainingMode* training = nullptr) const;
  // The forward pass with a key-value cache, as in MultiHeadAttention: (1, T, C) -> (1, T, C).
  Tensor operator()(In x, KeyValueCache& cache) const;

  // The input of the attention: norm1(x), or x with post-norm. (B, T, C) -> (B, T, C)
  Tensor attention_input(In x) const;
  // The output of the block for its input x and the output of its attention, both (B, T, C).
  Tensor after_attention(In x, In attention_output, const TrainingMode* training = nullptr) const;

  Norm norm1;                    // norm before the attention, or after it with post-norm
  MultiHeadAttention attention;  // self-attention
  Norm norm2;                    // norm before the MLP, or after it with post-norm
  Mlp mlp;                       // the feed-forward network
  bool post_norm = false;        // whether norms follow the residual connections
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

// The key-value caches of a model's blocks. With the caches, generating a token does not require
// another forward pass over the previous tokens.
struct GptCache {
  // Creates empty caches for `batch` texts of at most block_size tokens.
  explicit GptCache(const GptConfig& config, std::size_t batch = 1,
                    SourceLocation location = SourceLocation::current());

  std::size_t size() const { return blocks[0].size; }  // number of tokens of each text
  std::vector<KeyValueCache> blocks;                   // one cache for each block
};

// What BERT's masked language model computes before the output layer: norm(gelu(transform(x))). The
// output layer has a bias. (BertLMPredictionHead in Hugging Face's transformers.)
struct MaskedLmHead {
  // The head of a model with this configuration.
  MaskedLmHead(Scope scope, const GptConfig& config);

  Tensor operator()(In x) const;  // (..., C) -> (..., C)

  Linear transform;  // weight (C, C)
  Norm norm;         // after the GELU
  Tensor bias;       // (V): the bias of the output layer
  Gelu gelu_form;    // the form of GELU
};

// A GPT-2 model (Radford et al. 2019) or, if config.causal is false, an encoder as in BERT (Devlin
// et al. 2018): token and position embeddings, blocks, a final layer norm, and a linear output
// layer. Weights are drawn from normal(0, 0.02). In layers whose output is added to the residual
// stream, the standard deviation 0.02 is divided by sqrt(2 layers), so that the initial scale of
// the residual stream does not depend on the number of layers.
struct Gpt {
  // Throws Error if a size is 0, or if embed_dim is not divisible by the number of heads.
  Gpt(Scope scope, const GptConfig& config);

  // tokens (B, T), T at most block_size -> logits (B, T, V). Throws Error if T exceeds block_size.
  Tensor operator()(const IndicesIn& tokens, const TrainingMode* training = nullptr) const;
  // The logits (B, T, V) of tokens (B, T) that follow the cached tokens. Appends the keys and
  // values of the new tokens to the cache. One call without a cache on all tokens (cached and new)
  // gives the same logits up to rounding (bit for bit if the cache was empty). Records no graph.
  // Throws Error if the cached and new tokens exceed block_size, or if the model is not causal.
  Tensor operator()(const IndicesIn& tokens, GptCache& cache) const;
  // The mean cross-entropy, in nats, between the logits for tokens (B, T) and the targets (B, T).
  Tensor loss(const IndicesIn& tokens, const Exact<Indices>& targets,
              const TrainingMode* training = nullptr) const;

  // The input of the first block: token embedding + position embedding (if positions are learned),
  // for the positions `first` to first + T - 1. (B, T) -> (B, T, C). Throws Error for positions
  // beyond block_size.
  Tensor embed(const IndicesIn& tokens, std::size_t first = 0) const;
  // The same with a token type for each token, of the shape of tokens; without types, all types are
  // 0. Throws Error if the model has no token types, or for a type outside [0, token_types).
  Tensor embed_with_types(const IndicesIn& tokens, const Exact<Indices>& types) const;
  // The logits (B, T, V) for the input (B, T, C) of the first block.
  Tensor from_embedding(In x, const TrainingMode* training = nullptr) const;
  // The logits (..., V) for the output (..., C) of the last block: the final norm (not with
  // post-norm), the masked-LM head if there is one, and the output layer.
  Tensor logits(In x) const;
  // The attention mask of every block: a causal mask if config.causal is true, otherwise no mask.
  AttentionMask attention_mask() const;

  GptConfig config;                     // the hyperparameters
  Embedding token;                      // (V, C)
  std::optional<Embedding> position;    // (block_size, C); none with rotary positions
  std::optional<Embedding> token_type;  // (token_types, C); none if config.token_types is 0
  std::vector<Block> blocks;            // one block for each layer
  Norm norm;  // the final norm; with post-norm, the norm of the embeddings
  std::optional<MaskedLmHead> masked_lm;  // BERT's head; none unless config.masked_lm_head
  Tensor head;  // (V, C): the weight of the output layer; token.weight if config.tied
  std::shared_ptr<const Bf16Matrix> bf16_head;  // the same if the weights are in BF16

 private:
  Gpt(const GptConfig& checked_config, const Scope& scope);
  Tensor embed_tokens(const Exact<Indices>& tokens, std::size_t first,
                      const Exact<Indices>* types) const;
};

// A model whose values are still to be loaded, with its parameters in `parameters`: its linear
// layers and embeddings are not initialised. Throws the errors of Gpt.
Gpt without_values(Parameters& parameters, const GptConfig& config,
                   SourceLocation location = SourceLocation::current());
// The same with the weights of linear layers, the token embedding and the output layer in
// `matrices`, in BF16. Biases, norms and the embeddings of positions and of token types are in
// `parameters`. The model can only be used while a NoGrad object exists.
Gpt without_values(Parameters& parameters, Bf16Matrices& matrices, const GptConfig& config,
                   SourceLocation location = SourceLocation::current());

}  // namespace HEED_NAMESPACE::nn
