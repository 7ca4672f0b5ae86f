// heads.cpp: captures attention weights, queries and keys, and computes head scores.

#include "heed/study/heads.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "heed/base/error.hpp"
#include "heed/ops/attention.hpp"

namespace HEED_NAMESPACE {
namespace {

bool previous_token(const std::int64_t*, std::size_t t, std::size_t s) { return s + 1 == t; }
bool first_token(const std::int64_t*, std::size_t t, std::size_t s) { return s == 0 && t > 0; }
bool same_token(const std::int64_t* tokens, std::size_t t, std::size_t s) {
  return s != t && tokens[s] == tokens[t];
}

bool induction(const std::int64_t* tokens, std::size_t t, std::size_t s) {
  return s > 0 && s - 1 != t && tokens[s - 1] == tokens[t];
}

// Sums the attention weights of query t over the keys for which kind.attends() is true. Returns
// nullopt if kind.attends() is false for all visible keys.
std::optional<double> row_score(const HeadKind& kind, const Real* weights,
                                const std::int64_t* tokens, std::size_t t,
                                std::size_t num_visible) {
  std::optional<double> sum;
  for (std::size_t s = 0; s < num_visible; ++s)
    if (kind.attends(tokens, t, s)) sum = sum.value_or(0) + static_cast<double>(weights[s]);
  return sum;
}

void check_shapes(const Shape& weights, const Shape& tokens) {
  if (weights.size() == 4 && tokens.size() == 2 && weights[0] == tokens[0] &&
      weights[2] == tokens[1] && weights[3] == tokens[1])
    return;
  throw_error("head_scores: weights must be (B, H, T, T) and tokens (B, T), got ", str(weights),
              " and ", str(tokens));
}

}  // namespace

std::vector<LayerAttention> capture_attention(const nn::Gpt& model, const Indices& tokens) {
  const NoGrad no_grad;
  std::vector<LayerAttention> layers;
  Tensor x = model.embed(tokens);  // (B, T, C)
  for (const nn::Block& block : model.blocks) {
    const nn::MultiHeadAttention& attention = block.attention;
    const Tensor input = block.attention_input(x);
    const nn::Projections p = attention.project(input, input);
    layers.push_back(
        {attention.weights(input, input, model.attention_mask()).value(),
         split_heads(p.query, attention.num_heads).value(),
         repeat_kv_heads(split_heads(p.key, attention.num_kv_heads), attention.num_heads).value()});
    x = block(x, model.attention_mask());
  }
  return layers;
}

const std::vector<HeadKind>& head_kinds() {
  static const std::vector<HeadKind> kinds = {
      {"previous token", previous_token}, {"first token", first_token}, {"same token", same_token}};
  return kinds;
}

const HeadKind& induction_kind() {
  static const HeadKind kind = {"induction", induction};
  return kind;
}

Array head_scores(const HeadKind& kind, const Array& weights, const Indices& tokens, bool causal) {
  check_shapes(shape_of(weights), shape_of(tokens));
  const std::size_t B = weights.shape(0), H = weights.shape(1), T = weights.shape(2);
  Array scores = filled({H}, std::numeric_limits<Real>::quiet_NaN());
  for (std::size_t h = 0; h < H; ++h) {
    double sum = 0;
    std::size_t rows = 0;
    for (std::size_t b = 0; b < B; ++b)
      for (std::size_t t = 0; t < T; ++t) {
        const Real* const row = weights.data() + ((b * H + h) * T + t) * T;
        const auto score = row_score(kind, row, tokens.data() + b * T, t, causal ? t + 1 : T);
        if (score) sum += *score, ++rows;
      }
    if (rows > 0) scores(h) = static_cast<Real>(sum / static_cast<double>(rows));
  }
  return scores;
}

double uniform_score(const HeadKind& kind, const Indices& tokens, bool causal) {
  if (tokens.dimension() != 2) check_shapes({}, shape_of(tokens));
  const std::size_t B = tokens.shape(0), T = tokens.shape(1);
  Array weights = zeros({B, 1, T, T});
  for (std::size_t i = 0; i < B * T; ++i) {
    const std::size_t num_visible = causal ? i % T + 1 : T;
    std::fill_n(weights.data() + i * T, num_visible, Real(1) / static_cast<Real>(num_visible));
  }
  return static_cast<double>(head_scores(kind, weights, tokens, causal)(0));
}

}  // namespace HEED_NAMESPACE
