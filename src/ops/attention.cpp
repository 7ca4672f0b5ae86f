// attention.cpp: scaled dot-product attention and attention weights from elementary operations.

#include "heed/ops/attention.hpp"

#include <algorithm>
#include <cmath>

#include "heed/base/error.hpp"
#include "heed/ops/activation.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/shape.hpp"
#include "heed/ops/softmax.hpp"
#include "ops/fused_attention.hpp"
#include "ops/softmax_row.hpp"  // infinity

namespace HEED_NAMESPACE {

static double scale_of(const Tensor& q, const AttentionOptions& options) {
  if (options.scale && !std::isfinite(*options.scale))
    throw_error("attention: scale is ", *options.scale, "; give a finite number");
  const std::size_t D = q.shape().back() / options.num_heads;
  return options.scale.value_or(D == 0 ? 1 : 1 / std::sqrt(static_cast<double>(D)));
}

static std::size_t kv_heads_of(const AttentionOptions& options) {
  return options.num_kv_heads == 0 ? options.num_heads : options.num_kv_heads;
}

static void check_heads(const Tensor& x, std::string_view role, std::size_t num_heads,
                        std::string_view option = "num_heads") {
  if (x.dim() != 3 || num_heads == 0 || x.shape().back() % num_heads != 0)
    throw_error("attention: ", describe(x, role), " must be (B, T, C) with C divisible by ", option,
                " = ", num_heads);
}

// Checks the heads of q, k and v (null if there are no values): their number divides each last
// axis, and queries and keys have the same width per head.
static void check_all_heads(const Tensor& q, const Tensor& k, const Tensor* v,
                            const AttentionOptions& options) {
  const std::size_t heads = options.num_heads, kv_heads = kv_heads_of(options);
  if (heads != 1) check_heads(q, "q", heads);
  if (kv_heads != heads && heads % kv_heads != 0)
    throw_error("attention: num_heads = ", heads,
                " must be divisible by num_kv_heads = ", kv_heads);
  const std::string_view option = kv_heads == heads ? "num_heads" : "num_kv_heads";
  if (heads != 1) check_heads(k, "k", kv_heads, option);
  if (heads != 1 && v != nullptr) check_heads(*v, "v", kv_heads, option);
  if (q.shape().back() / heads != k.shape().back() / kv_heads)
    throw_error("attention: queries and keys differ in width: ", describe(q, "q"), ", ",
                describe(k, "k"), v == nullptr ? "" : ", " + describe(*v, "v"),
                kv_heads == heads ? ""
                                  : ", num_heads = " + std::to_string(heads) +
                                        ", num_kv_heads = " + std::to_string(kv_heads));
}

static void check_window(const AttentionOptions& options) {
  if (options.window != 0 && !options.causal)
    throw_error("attention: window = ", options.window,
                " needs causal attention; set causal, or set window to 0");
}

static void check_key_padding(const Tensor& k, const AttentionOptions& options) {
  if (!options.key_padding) return;
  const Shape shape = shape_of(*options.key_padding);
  if (k.dim() != 3 || shape != Shape{k.shape()[0], k.shape()[1]})
    throw_error("attention: key_padding ", str(shape), " must be (B, S) of ", describe(k, "k"));
}

// Checks that there are at least past + T keys: the cached keys and a new key for each query.
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

// Checks that q and k have equal widths, that there are as many values as keys, and that q, k and v
// have equal batch shapes.
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
  }
  check_all_heads(q, k, v, options);
  if (v != nullptr && v->shape()[v->dim() - 2] != k.shape()[k.dim() - 2])
    throw_error("attention: there must be as many values as keys: ", shapes());
  check_past(q, k, options);
  check_window(options);
  if (!(options.softcap >= 0 && std::isfinite(options.softcap)))
    throw_error("attention: softcap is ", options.softcap, "; give a finite number, 0 or more");
  check_key_padding(k, options);
}

Tensor split_heads(In x, std::size_t num_heads) {
  check_heads(x, "x", num_heads);
  const std::size_t B = x.shape()[0], T = x.shape()[1], D = x.shape()[2] / num_heads;
  return transpose(reshape(x, {B, T, num_heads, D}), 1, 2);  // (B, H, T, D)
}

Tensor join_heads(In x) {
  if (x.dim() != 4) throw_error("join_heads: ", describe(x, "x"), " must be (B, H, T, D)");
  const std::size_t B = x.shape()[0], T = x.shape()[2], C = x.shape()[1] * x.shape()[3];
  return reshape(transpose(x, 1, 2), {B, T, C});  // (B, T, C)
}

Tensor repeat_kv_heads(In x, std::size_t num_heads) {
  if (x.dim() != 4 || x.shape()[1] == 0 || num_heads == 0 || num_heads % x.shape()[1] != 0)
    throw_error("repeat_kv_heads: ", describe(x, "x"),
                " must be (B, H_kv, S, D) with H_kv a divisor of num_heads = ", num_heads);
  const Shape& shape = x.shape();
  const std::size_t B = shape[0], H_kv = shape[1], S = shape[2], D = shape[3];
  if (H_kv == num_heads) return x;
  const Tensor repeated = expand(unsqueeze(x, 2), {B, H_kv, num_heads / H_kv, S, D});
  return reshape(repeated, {B, num_heads, S, D});
}

// The keys or values x (B, S, H_kv D) of all query heads: (B, H, S, D).
static Tensor split_kv_heads(const Tensor& x, const AttentionOptions& options) {
  return repeat_kv_heads(split_heads(x, kv_heads_of(options)), options.num_heads);
}

// The shape in which a mask or bias broadcasts to the scores. Broadcasting would take the first of
// three axes for the heads, while the caller may mean the batch; if B = H, nothing would show it.
static Shape shape_for(const Shape& scores, Shape shape, const AttentionOptions& options,
                       const std::string& role) {
  const Shape given = shape;
  const bool either = options.num_heads == 1 || scores[0] == scores[1];
  if (shape.size() == 3 && scores.size() == 4 && shape[0] != 1 && either)
    throw_error("attention: ", role, " ", str(given), " is ambiguous for the scores ", str(scores),
                "; give (B, 1, T, S) for one per batch item, (1, H, T, S) for one per head");
  if (shape.size() == 3 && options.num_heads > 1) shape = {shape[0], 1, shape[1], shape[2]};
  if (shape.size() == 4 && scores.size() == 3 && shape[1] == 1) shape.erase(shape.begin() + 1);
  if (!broadcasts_to(shape, scores))
    throw_error("attention: ", role, " ", str(given), " does not broadcast to the scores ",
                str(scores));
  return shape;
}

// key_padding (B, S) as a mask of scores (B, T, S), or (B, H, T, S) for several heads.
static Mask masked_by_padding(const AttentionOptions& options) {
  Mask padding = *options.key_padding;
  const std::size_t B = padding.shape()[0], S = padding.shape()[1];
  if (options.num_heads == 1)
    padding.reshape({B, std::size_t{1}, S});
  else
    padding.reshape({B, std::size_t{1}, std::size_t{1}, S});
  return padding;
}

Tensor attention_weights(In q, In k, const AttentionOptions& options) {
  check_inputs(q, k, nullptr, options);
  const bool one_head = options.num_heads == 1;
  const Tensor queries = one_head ? q : split_heads(q, options.num_heads);
  const Tensor keys = one_head ? k : split_kv_heads(k, options);
  const Tensor products = matmul(queries, transpose(keys, -1, -2));  // (..., T, S)
  Tensor scores = products * scale_of(q, options);
  if (options.softcap != 0) scores = tanh(scores / options.softcap) * options.softcap;
  if (const Tensor& bias = options.bias; bias.defined()) {
    const Shape shape = shape_for(scores.shape(), bias.shape(), options, name_or(bias, "bias"));
    scores = scores + (shape == bias.shape() ? bias : reshape(bias, shape));
  }
  if (options.causal) {
    const std::size_t T = scores.shape()[scores.dim() - 2], S = scores.shape().back();
    scores = masked_fill(scores, future_mask(T, S, options.past, options.window), -infinity);
  }
  if (options.mask) {
    Mask masked = !*options.mask;  // true where the query must not attend
    masked.reshape(shape_for(scores.shape(), shape_of(masked), options, "mask"));
    scores = masked_fill(scores, masked, -infinity);
  }
  if (options.key_padding) scores = masked_fill(scores, masked_by_padding(options), -infinity);
  return softmax(scores, -1);  // (..., T, S), rows sum to one
}

Tensor scaled_dot_product_attention(In q, In k, In v, const AttentionOptions& options) {
  check_inputs(q, k, &v, options);
  if (!options.mask && !options.bias.defined() && options.softcap == 0)
    return fused_attention(q, k, v, options, static_cast<Real>(scale_of(q, options)));
  return attention_with_weights(q, k, v, options).output;
}

AttentionResult attention_with_weights(In q, In k, In v, const AttentionOptions& options) {
  check_inputs(q, k, &v, options);
  const Tensor weights = attention_weights(q, k, options);
  return {weighted_values(weights, v, options), weights};
}

Tensor weighted_values(In weights, In v, const AttentionOptions& options) {
  if (options.num_heads == 1) return matmul(weights, v);
  return join_heads(matmul(weights, split_kv_heads(v, options)));
}

}  // namespace HEED_NAMESPACE
