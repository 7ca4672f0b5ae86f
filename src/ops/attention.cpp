// attention.cpp: scaled dot-product attention and attention weights from elementary operations.

#include "heed/ops/attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/base/error.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/shape.hpp"
#include "heed/ops/softmax.hpp"
#include "ops/fused_attention.hpp"

namespace HEED_NAMESPACE {

static constexpr Real infinity = std::numeric_limits<Real>::infinity();

static double scale_of(const Tensor& q, const AttentionOptions& options) {
  const std::size_t D = q.shape().back() / options.num_heads;
  return options.scale.value_or(D == 0 ? 1 : 1 / std::sqrt(static_cast<double>(D)));
}

static void check_heads(const Tensor& x, std::string_view role, std::size_t num_heads) {
  if (x.dim() != 3 || num_heads == 0 || x.shape().back() % num_heads != 0)
    throw_error("attention: ", describe(x, role),
                " must be (B, T, C) with C divisible by num_heads = ", num_heads);
}

// Checks that there are at least past + T keys: the cached keys and one for each of the T queries.
static void check_past(const Tensor& q, const Tensor& k, const AttentionOptions& options) {
  const std::size_t T = q.shape()[q.dim() - 2], S = k.shape()[k.dim() - 2];
  if (options.past == 0) return;
  if (!options.causal)
    throw_error("attention: past = ", options.past,
                " needs causal attention; set causal, or set past to 0");
  if (options.past > S || T > S - options.past)
    throw_error("attention: there must be at least past + T keys: past = ", options.past, ", ",
                describe(q, "q"), ", ", describe(k, "k"));
}

// Checks that the widths of q and k, the numbers of keys and values, and all batch shapes are
// equal.
static void check_inputs(const Tensor& q, const Tensor& k, const Tensor* v,
                         const AttentionOptions& options) {
  const auto shapes = [&] {
    return describe(q, "q") + ", " + describe(k, "k") +
           (v == nullptr ? "" : ", " + describe(*v, "v"));
  };
  for (const Tensor* x : {&q, &k, v}) {
    if (x == nullptr) continue;
    if (x->dim() < 2 || x->dim() != q.dim())
      throw_error("attention: q, k and v need the same number of axes, at least two: ", shapes());
    if (!std::equal(q.shape().begin(), q.shape().end() - 2, x->shape().begin()))
      throw_error("attention: batches differ: ", shapes());
    if (options.num_heads != 1)
      check_heads(*x, x == &q ? "q" : x == &k ? "k" : "v", options.num_heads);
  }
  if (q.shape().back() != k.shape().back())
    throw_error("attention: queries and keys differ in width: ", shapes());
  if (v != nullptr && v->shape()[v->dim() - 2] != k.shape()[k.dim() - 2])
    throw_error("attention: there must be as many values as keys: ", shapes());
  check_past(q, k, options);
}

Tensor split_heads(const Tensor& x, std::size_t num_heads, SourceLocation location) {
  const CallSite site(location);
  check_heads(x, "x", num_heads);
  const std::size_t B = x.shape()[0], T = x.shape()[1], D = x.shape()[2] / num_heads;
  return transpose(reshape(x, {B, T, num_heads, D}, location), 1, 2, location);  // (B, H, T, D)
}

Tensor join_heads(const Tensor& x, SourceLocation location) {
  const CallSite site(location);
  if (x.dim() != 4) throw_error("join_heads: ", describe(x, "x"), " must be (B, H, T, D)");
  const std::size_t B = x.shape()[0], T = x.shape()[2], C = x.shape()[1] * x.shape()[3];
  return reshape(transpose(x, 1, 2, location), {B, T, C}, location);  // (B, T, C)
}

Tensor attention_weights(const Tensor& q, const Tensor& k, const AttentionOptions& options,
                         SourceLocation location) {
  const CallSite site(location);
  check_inputs(q, k, nullptr, options);
  const Tensor queries = options.num_heads == 1 ? q : split_heads(q, options.num_heads, location);
  const Tensor keys = options.num_heads == 1 ? k : split_heads(k, options.num_heads, location);
  const Tensor products =
      matmul(queries, transpose(keys, -1, -2, location), location);  // (..., T, S)
  Tensor scores = Operand(products, location) * scale_of(q, options);
  if (options.bias.defined()) {
    if (!broadcasts_to(options.bias.shape(), scores.shape()))
      throw_error("attention: ", describe(options.bias, "bias"),
                  " does not broadcast to the scores ", str(scores.shape()));
    scores = Operand(scores, location) + options.bias;
  }
  if (options.causal) {
    const std::size_t T = scores.shape()[scores.dim() - 2], S = scores.shape().back();
    scores = masked_fill(scores, causal_mask(T, S, options.past), -infinity, location);
  }
  if (options.mask) {
    Mask masked = *options.mask;
    for (bool& element : masked) element = !element;
    if (options.num_heads > 1 && masked.dimension() == 3)  // a mask (B, T, S) applies to every head
      masked.reshape({masked.shape()[0], std::size_t{1}, masked.shape()[1], masked.shape()[2]});
    scores = masked_fill(scores, masked, -infinity, location);
  }
  return softmax(scores, -1, location);  // (..., T, S), rows sum to one
}

Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const AttentionOptions& options, SourceLocation location) {
  const CallSite site(location);
  check_inputs(q, k, &v, options);
  if (!options.mask && !options.bias.defined())
    return fused_attention(q, k, v, options.causal, options.past,
                           static_cast<Real>(scale_of(q, options)), options.num_heads, location);
  return attention_with_weights(q, k, v, options, location).output;
}

AttentionResult attention_with_weights(const Tensor& q, const Tensor& k, const Tensor& v,
                                       const AttentionOptions& options, SourceLocation location) {
  const CallSite site(location);
  check_inputs(q, k, &v, options);
  const Tensor weights = attention_weights(q, k, options, location);
  if (options.num_heads == 1) return {matmul(weights, v, location), weights};
  const Tensor values = split_heads(v, options.num_heads, location);
  return {join_heads(matmul(weights, values, location), location), weights};
}

}  // namespace HEED_NAMESPACE
