// attention.cpp: ONNX's Attention and RotaryEmbedding as calls of heed.

#include <cmath>
#include <limits>

#include "foreign/onnx/operators.hpp"
#include "heed/extra/indexing.hpp"
#include "heed/heed.hpp"

namespace heed_test::onnx {
namespace {

using heed::Tensor;

// (B, T, H D) as (B, H, T, D); x of four axes stays as it is.
Tensor heads_of(const Tensor& x, std::size_t heads) {
  return x.dim() == 4 ? x : heed::split_heads(x, heads);
}

std::size_t heads_in(const Node& node, const Value& x, const char* attribute) {
  return x.dim() == 4 ? x.shape[1] : static_cast<std::size_t>(node.integer(attribute, 1));
}

Tensor with_past(const Tensor& past, const Tensor& x) {
  return past.defined() ? heed::concat({past, x}, 2) : x;
}

// A mask or bias as wide as the keys: those beyond its end are masked.
Tensor widened(const Tensor& x, std::size_t keys, double fill) {
  const std::size_t width = x.size(-1);
  return width == keys ? x : heed::pad(x, {std::size_t{0}, keys - width}, fill);
}

// Zeros for the keys that each query of each batch item may attend to, else -infinity: (B, 1, T,
// S).
Tensor padding_bias(const Value& lengths, std::size_t keys) {
  heed::Array bias = heed::zeros({lengths.elements.size(), 1, 1, keys});
  for (std::size_t b = 0; b < lengths.elements.size(); ++b)
    for (std::size_t s = 0; s < keys; ++s)
      if (static_cast<double>(s) >= lengths.elements[b])
        bias(b, 0, 0, s) = -std::numeric_limits<heed::Real>::infinity();
  return Tensor(bias);
}

// The attention mask as a bias, which broadcasts to (B, H, T, S).
Tensor bias_of(const Value& mask, std::size_t keys) {
  const double masked = -std::numeric_limits<double>::infinity();
  if (mask.type != Type::boolean) return widened(tensor(mask), keys, masked);
  const Tensor one = widened(tensor(mask), keys, 0);
  heed::Mask hidden = heed::mask(one.shape());
  for (std::size_t i = 0; i < hidden.size(); ++i) hidden.data()[i] = one.value().data()[i] == 0;
  return heed::masked_fill(Tensor(heed::zeros(one.shape())), hidden, masked);
}

// What qk_matmul_output has: the scaled products, those after the softcap, after the masks, or the
// weights.
Tensor inspected(int mode, const Tensor& products, const heed::AttentionOptions& options,
                 const Tensor& weights) {
  if (mode == 3) return weights;
  const double cap = options.softcap;
  Tensor scores = mode == 0 || cap == 0 ? products : heed::tanh(products / cap) * cap;
  if (mode != 2) return scores;
  if (options.bias.defined()) scores = scores + options.bias;
  if (!options.causal) return scores;
  return heed::masked_fill(scores,
                           heed::future_mask(scores.size(-2), scores.size(-1), options.past),
                           -std::numeric_limits<double>::infinity());
}

Values attention(const Node& node, const Values& inputs) {
  const std::size_t heads = heads_in(node, inputs[0], "q_num_heads");
  const std::size_t kv_heads = heads_in(node, inputs[1], "kv_num_heads");
  const auto optional = [&](std::size_t i) {
    return has(inputs, i) ? tensor(inputs[i]) : Tensor();
  };
  const Tensor past = optional(4);
  const Tensor q = heads_of(tensor(inputs[0]), heads);
  const Tensor k = with_past(past, heads_of(tensor(inputs[1]), kv_heads));
  const Tensor v = with_past(optional(5), heads_of(tensor(inputs[2]), kv_heads));
  heed::AttentionOptions options;
  options.num_heads = heads, options.num_kv_heads = kv_heads;
  options.causal = node.integer("is_causal", 0) != 0;
  options.softcap = node.number("softcap", 0);
  const double scale = node.number("scale", 1 / std::sqrt(static_cast<double>(q.size(-1))));
  options.scale = scale;
  if (past.defined() && options.causal) options.past = past.size(2);
  Tensor bias;
  if (has(inputs, 3)) bias = bias_of(inputs[3], k.size(2));
  if (has(inputs, 6)) {
    const Tensor padding = padding_bias(inputs[6], k.size(2));
    bias = bias.defined() ? bias + padding : padding;
    if (options.causal)
      throw NotExpressible("causal attention that ends at another key per batch item");
  }
  if (bias.defined() && bias.dim() < 4) {
    std::vector<std::size_t> shape(4 - bias.dim(), 1);
    shape.insert(shape.end(), bias.shape().begin(), bias.shape().end());
    bias = heed::reshape(bias, shape);
  }
  if (bias.defined()) options.bias = bias;
  const heed::AttentionResult result = heed::attention_with_weights(
      heed::join_heads(q), heed::join_heads(k), heed::join_heads(v), options);
  const Tensor fused = heed::scaled_dot_product_attention(heed::join_heads(q), heed::join_heads(k),
                                                          heed::join_heads(v), options);
  const Tensor y = inputs[0].dim() == 4 ? heed::split_heads(fused, heads) : fused;
  Values values = {value_of(y, inputs[0].type), value_of(k, inputs[1].type),
                   value_of(v, inputs[2].type)};
  if (node.outputs.size() > 3) {
    const int mode = node.integer("qk_matmul_output_mode", 0);
    const Tensor products =
        heed::matmul(q, heed::transpose(heed::repeat_kv_heads(k, heads), -1, -2)) * scale;
    values.push_back(value_of(inspected(mode, products, options, result.weights), inputs[0].type));
  }
  return values;
}

// cos and sin as (B, T, D / 2), from tables by position or as they are.
Tensor table_of(const Values& inputs, std::size_t i, const Tensor& x) {
  const Tensor table = tensor(inputs[i]);
  if (!has(inputs, 3)) return table;
  heed::Indices positions = indices(inputs[3]);
  positions.reshape({positions.size()});
  return heed::reshape(heed::index_select(table, 0, positions),
                       {x.size(0), x.size(2), table.size(-1)});
}

// heed's rotary_embedding computes its angles; these are given, so elementary operations rotate.
Values rotary(const Node& node, const Values& inputs) {
  const bool interleaved = node.integer("interleaved", 0) != 0;
  const Tensor x =
      heads_of(tensor(inputs[0]), static_cast<std::size_t>(node.integer("num_heads", 1)));
  const Tensor cosine = heed::unsqueeze(table_of(inputs, 1, x), 1);
  const Tensor sine = heed::unsqueeze(table_of(inputs, 2, x), 1);
  const auto width = static_cast<std::int64_t>(x.size(-1));
  const std::int64_t given = node.integer("rotary_embedding_dim", 0),
                     dim = given == 0 ? width : given;
  const std::int64_t half = dim / 2, step = interleaved ? 2 : 1;
  const Tensor a = heed::slice(x, -1, 0, interleaved ? dim : half, step);
  const Tensor b = heed::slice(x, -1, interleaved ? 1 : half, dim, step);
  const Tensor first = a * cosine - b * sine, second = a * sine + b * cosine;
  Tensor rotated = heed::concat({first, second}, -1);
  if (interleaved) rotated = heed::reshape(heed::stack({first, second}, -1), rotated.shape());
  const Tensor y = dim == width ? rotated : heed::concat({rotated, heed::slice(x, -1, dim)}, -1);
  return {value_of(inputs[0].dim() == 4 ? y : heed::join_heads(y), inputs[0].type)};
}

}  // namespace

Operators attention_operators() { return {{"Attention", attention}, {"RotaryEmbedding", rotary}}; }

}  // namespace heed_test::onnx
