// gpt.hpp: the GPT language model and its configuration.
#pragma once

#include <optional>
#include <vector>

#include "heed/nn/bert.hpp"
#include "heed/nn/block.hpp"

namespace HEED_NAMESPACE::nn {

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
  PositionKind positions = PositionKind::learned;  // learned embeddings or rotary
  MlpKind mlp = MlpKind::gelu;                     // the feed-forward network of all blocks
  double norm_eps = 1e-5;                          // epsilon of all norms; BERT's is 1e-12
  // Post-norm, as in BERT: norms follow the residual connections, and a norm of the embeddings
  // takes the place of the final norm.
  bool post_norm = false;
  std::size_t token_types = 0;        // number of token types (BERT has 2: the segments); 0: none
  bool masked_lm_head = false;        // BERT's head: linear, GELU and norm before the output layer
  std::size_t intermediate_size = 0;  // width of the hidden layer of the MLPs; 0: mlp_width()
  std::size_t head_dim = 0;           // D, the width of a head; 0: embed_dim / heads
  bool qkv_bias = false;              // biases of queries, keys and values even without `bias`
  // Of rotary positions: the base, the elements that form a pair, and the number of elements of a
  // head that are rotated; 0: all (see RotaryOptions).
  double rope_theta = 10000;
  RotaryPairs rotary_pairs = RotaryPairs::interleaved;
  std::size_t rotary_dim = 0;

  // D, the width of a head.
  std::size_t head_width() const {
    return head_dim != 0 || heads == 0 ? head_dim : embed_dim / heads;
  }
  // The width of the queries of a block: H D, which is C unless head_dim is given.
  std::size_t query_width() const { return head_dim == 0 ? embed_dim : heads * head_dim; }
  // The width of the keys and of the values of a block: H D, or less with grouped queries.
  std::size_t kv_width() const {
    return kv_heads == 0 || heads == 0 ? query_width() : head_width() * kv_heads;
  }
  // The width of the hidden layer of the MLPs.
  template <class Number = std::size_t>
  Number hidden_width() const {
    return intermediate_size != 0 ? static_cast<Number>(intermediate_size)
                                  : mlp_width<Number>(embed_dim, mlp);
  }
};

// The number of parameters of a model. Use Number = double if the count may overflow std::size_t.
template <class Number = std::size_t>
Number parameter_count(const GptConfig& config) {
  const auto number = [](std::size_t n) { return static_cast<Number>(n); };
  const Number C = number(config.embed_dim);
  const Number Q = number(config.query_width()), KV = number(config.kv_width());
  const Number hidden = config.hidden_width<Number>();
  const Number bias = config.bias ? 1 : 0, norm_bias = config.norm == NormKind::layer ? bias : 0;
  const Number qkv_bias = config.bias || config.qkv_bias ? 1 : 0;
  const Number gates = config.mlp == MlpKind::swiglu ? 1 : 0;
  const bool learned = config.positions == PositionKind::learned;
  const Number attention = 2 * C * Q + 2 * C * KV + qkv_bias * (Q + 2 * KV) + bias * C;
  const Number mlp = (2 + gates) * C * hidden + bias * ((1 + gates) * hidden + C);
  const Number block = attention + mlp + 2 * (C + norm_bias * C);
  const Number embeddings =
      (config.tied ? 1 : 2) * number(config.vocab_size) * C +
      ((learned ? number(config.block_size) : 0) + number(config.token_types)) * C;
  const Number masked_lm_head =
      config.masked_lm_head ? C * C + bias * C + C + norm_bias * C + number(config.vocab_size) : 0;
  return embeddings + number(config.layers) * block + C + norm_bias * C + masked_lm_head;
}

// The key-value caches of a model's blocks. With the caches, generating a token does not require
// another forward pass over the previous tokens.
struct GptCache {
  // Creates empty caches for `batch` texts of at most block_size tokens.
  explicit GptCache(const GptConfig& config, std::size_t batch = 1,
                    SourceLocation location = SourceLocation::current());

  std::size_t size() const { return blocks[0].size; }  // number of tokens of each text
  std::vector<KeyValueCache> blocks;                   // one cache for each block
};

// A GPT-2 model (Radford et al. 2019) or, if config.causal is false, an encoder as in BERT (Devlin
// et al. 2018): token and position embeddings, blocks, a final layer norm, and a linear output
// layer. Weights are drawn from normal(0, 0.02). In layers whose output is added to the residual
// stream, the standard deviation 0.02 is divided by sqrt(2 layers), so that the initial scale of
// the residual stream does not depend on the number of layers.
struct Gpt {
  // Throws Error if a size is 0, or if embed_dim is not divisible by the number of heads and
  // head_dim is not given.
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
  // Like embed(tokens), with a token type for each token: types (B, T). Without types, all are 0.
  // Throws Error if the model has no token types, or for a type outside [0, token_types).
  Tensor embed_with_types(const IndicesIn& tokens, const Exact<Indices>& types) const;
  // The logits (B, T, V) for the input (B, T, C) of the first block.
  Tensor from_embedding(In x, const TrainingMode* training = nullptr) const;
  // The logits (..., V) for the output (..., C) of the last block: the final norm (not with
  // post-norm), the masked-LM head if there is one, and the output layer.
  Tensor logits(In x) const;
  // The attention mask of every block: a causal mask if config.causal is true, otherwise no mask.
  AttentionMask attention_mask() const;

  GptConfig config;                              // the hyperparameters
  Embedding token;                               // (V, C)
  std::optional<Embedding> position;             // (block_size, C); none with rotary positions
  std::optional<TokenTypeEmbedding> token_type;  // (token_types, C); none if 0 types
  std::vector<Block> blocks;                     // one block for each layer
  Norm norm;  // the final norm; with post-norm, the norm of the embeddings
  std::optional<MaskedLmHead> masked_lm;  // BERT's head; none unless config.masked_lm_head
  Weight head;  // (V, C): the weight of the output layer; token.weight if config.tied

 private:
  Gpt(const GptConfig& checked_config, const Scope& scope);
  Tensor embed_tokens(const Exact<Indices>& tokens, std::size_t first,
                      const Exact<Indices>* types) const;
};

// Creates a model, with its parameters in `parameters`, whose values are to be loaded: linear
// layers and embeddings are not initialised. Throws the errors of Gpt.
Gpt without_values(Parameters& parameters, const GptConfig& config,
                   SourceLocation location = SourceLocation::current());
// Like without_values() above, but puts the weights of linear layers, the token embedding and the
// output layer into `matrices`, in their type. Biases, norms and the embeddings of positions and of
// token types are in `parameters`. The model can only be used while a NoGrad object exists.
Gpt without_values(Parameters& parameters, CompactMatrices& matrices, const GptConfig& config,
                   SourceLocation location = SourceLocation::current());

}  // namespace HEED_NAMESPACE::nn
