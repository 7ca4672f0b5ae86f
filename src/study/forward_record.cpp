// forward_record.cpp: runs a model block by block and keeps what the fused operations do not store.

#include "study/forward_record.hpp"

#include <algorithm>

#include "heed/autograd/backward.hpp"
#include "heed/base/error.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/attention.hpp"
#include "heed/ops/loss.hpp"
#include "heed/ops/softmax.hpp"

namespace HEED_NAMESPACE {
namespace {

// Returns the heads (H, T, D) of packed queries, keys or values (1, T, C).
Array heads_of(const Tensor& packed, const nn::MultiHeadAttention& attention, std::size_t heads) {
  const Tensor split = repeat_kv_heads(split_heads(packed, heads), attention.num_heads);
  return xt::view(split.value(), 0);
}

// Runs a block with elementary operations, so that the attention weights are a node of the graph.
LayerRecord record_block(const nn::Block& block, bool causal, const Tensor& x) {
  const nn::MultiHeadAttention& attention = block.attention;
  AttentionOptions options;
  options.causal = causal;
  options.num_heads = attention.num_heads;
  options.num_kv_heads = attention.num_kv_heads;
  const Tensor input = block.attention_input(x);
  const nn::Projections p = attention.project(input, input);
  const Tensor weights = attention_weights(p.query, p.key, options);
  const Tensor output = attention.out(weighted_values(weights, p.value, options));
  return {weights, heads_of(p.query, attention, attention.num_heads),
          heads_of(p.key, attention, attention.num_kv_heads),
          heads_of(p.value, attention, attention.num_kv_heads), block.after_attention(x, output)};
}

}  // namespace

ForwardRecord record_forward(const nn::Gpt& model, const Indices& tokens) {
  if (tokens.dimension() != 2 || tokens.shape(0) != 1)
    throw_error("record_forward: tokens must be (1, T), got ", str(shape_of(tokens)));
  ForwardRecord record{model.embed(tokens), {}, {}};
  Tensor x = record.embedding;
  for (const nn::Block& block : model.blocks) {
    record.layers.push_back(record_block(block, model.config.causal, x));
    x = record.layers.back().residual;
  }
  record.logits = model.logits(x);
  return record;
}

Tensor loss_at(const ForwardRecord& record, std::size_t position, std::int64_t target) {
  constexpr std::int64_t ignored = -100;
  const std::size_t T = record.logits.shape()[1];
  if (position >= T)
    throw_error("loss_at: position ", position, " is not one of the ", T, " positions");
  if (target == ignored)
    throw_error("loss_at: target ", target, " is not one of the ", record.logits.shape()[2],
                " tokens");
  Indices targets({1, T}, ignored);
  targets(0, position) = target;
  CrossEntropyOptions options;
  options.ignore_index = ignored;
  return cross_entropy(record.logits, targets, options);
}

std::vector<Array> weight_gradients(const ForwardRecord& record, const Tensor& loss) {
  for (const LayerRecord& layer : record.layers) layer.weights.clear_grad();
  BackwardOptions options;
  options.keep_graph = true;
  backward(loss, options);
  std::vector<Array> gradients;
  for (const LayerRecord& layer : record.layers) {
    if (!layer.weights.has_grad())
      throw_error(
          "weight_gradients: the loss does not depend on this record's weights; compute it ",
          "from record.logits");
    const std::size_t T = layer.weights.shape().back();
    Array gradient = layer.weights.grad();
    gradient.reshape({gradient.size() / (T * T), T, T});
    gradients.push_back(gradient);
  }
  return gradients;
}

Array logit_lens(const nn::Gpt& model, const ForwardRecord& record) {
  const NoGrad no_grad;
  const std::size_t T = record.logits.shape()[1], V = record.logits.shape()[2];
  if (V != model.config.vocab_size)
    throw_error("logit_lens: the record has logits of ", V, " tokens, and the model has ",
                model.config.vocab_size, "; give the model of the record");
  Array lens = zeros({record.layers.size() + 1, T, V});
  for (std::size_t l = 0; l <= record.layers.size(); ++l) {
    const Tensor& x = l == 0 ? record.embedding : record.layers[l - 1].residual;
    const Array probabilities = softmax(model.logits(x), -1).value();
    std::copy(probabilities.begin(), probabilities.end(), lens.data() + l * T * V);
  }
  return lens;
}

}  // namespace HEED_NAMESPACE
