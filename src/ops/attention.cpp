// attention.cpp: every query looks at every key and takes away a mixture of values.

#include "heed/ops/attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "heed/array/lines.hpp"
#include "heed/array/map.hpp"
#include "heed/array/matmul.hpp"
#include "heed/autograd/record.hpp"
#include "heed/base/error.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/mask.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/shape.hpp"
#include "heed/ops/softmax.hpp"

namespace heed {

static constexpr Real infinity = std::numeric_limits<Real>::infinity();

// O = P V with P = softmax(scale Q K^T), a row of P at a time never seeing the future if causal:
// row t sees the keys 0 to past + t
//
// Queries are taken in blocks of rows, so that only a block of P exists at a time; backward
// computes it again from the row's maximum and sum (Dao et al. 2022, "FlashAttention", algorithm
// 4):
//   dV = P^T dO,  dP = dO V^T,  dS = P (dP - rowsum(P dP)),  dQ = scale dS K,  dK = scale dS^T Q
struct Attention {
  static constexpr std::string_view name = "Attention";
  Array forward(const Array& q, const Array& k, const Array& v) {
    const Sizes n = sizes(q, k, v);
    tops = uninitialized({n.batch, heads, n.T});
    sums = uninitialized({n.batch, heads, n.T});
    Shape shape = q.shape();
    shape.back() = v.shape().back();
    Array o = n.S == 0 ? zeros(shape) : uninitialized(shape);  // nothing to look at: zeros
    for_each_head(n, [&](std::size_t b, std::size_t h, Real* p, Real*) {
      const Matrix Q = queries(q, n, b, h), K = keys(k, n, b, h), V = values(v, n, b, h);
      for (std::size_t t = 0; t < n.T; t += n.rows) {
        const Block block = block_at(n, t);
        const std::size_t row = (b * heads + h) * n.T + t;
        product(block.rows, block.columns, n.D, Q.from(t), K.transposed(), {p, n.stride}, scale);
        for (std::size_t i = 0; i < block.rows; ++i)
          shares(p + i * n.stride, seen(n, t + i), block.width, row + i);
        product(block.rows, n.E, block.columns, {p, n.stride}, V.view(),
                {o.data() + (b * n.T + t) * heads * n.E + h * n.E, heads * n.E});
      }
    });
    return o;
  }

  Grads<3> backward(const Array& dout, const Array&, const Array& q, const Array& k,
                    const Array& v) const {
    const Sizes n = sizes(q, k, v);
    Array dq = n.S == 0 ? zeros(q.shape()) : uninitialized(q.shape());
    Array dk = zeros(k.shape()), dv = zeros(v.shape());
    for_each_head(n, [&](std::size_t b, std::size_t h, Real* p, Real* ds) {
      const Matrix Q = queries(q, n, b, h), K = keys(k, n, b, h), V = values(v, n, b, h);
      const Matrix dO{dout.data() + (b * n.T * heads + h) * n.E, heads * n.E};
      const MatrixRef<Real> dK = place(dk, K, k), dV = place(dv, V, v);
      for (std::size_t t = 0; t < n.T; t += n.rows) {
        const Block block = block_at(n, t);
        const std::size_t rows = block.rows, columns = block.columns;
        const std::size_t row = (b * heads + h) * n.T + t;
        product(rows, columns, n.D, Q.from(t), K.transposed(), {p, n.stride}, scale);
        gemm(rows, columns, n.E, dO.from(t), V.transposed(), {ds, n.stride});
        for (std::size_t i = 0; i < rows; ++i)
          scores_gradient(p + i * n.stride, ds + i * n.stride, seen(n, t + i), block.width,
                          row + i);
        const MatrixRef<Real> dQ = place(dq, Q, q);
        gemm(rows, n.D, columns, {ds, n.stride}, K.view(), {dQ.data + t * dQ.stride, dQ.stride},
             Output::overwrite, scale);
        gemm(columns, n.D, rows, {ds, n.stride, true}, Q.from(t), dK, Output::accumulate, scale);
        gemm(columns, n.E, rows, {p, n.stride, true}, dO.from(t), dV, Output::accumulate);
      }
    });
    return {std::move(dq), std::move(dk), std::move(dv)};
  }

  // Unless each query sees the keys up to its own place, keys are a set: the order in which they
  // lie must not show, not even in the last bit.
  void product(std::size_t m, std::size_t n, std::size_t k, MatrixView a, MatrixView b,
               MatrixRef<Real> c, Real factor = 1) const {
    if (causal) return gemm(m, n, k, a, b, c, Output::overwrite, factor);
    gemm_in_double(m, n, k, a, b, c, factor);
  }

  // Scores become shares, 0 from `seen` on.
  void shares(Real* p, std::size_t seen, std::size_t width, std::size_t row) {
    std::fill(p + seen, p + width, -infinity);
    const Real top = tops.data()[row] = max_of(p, width);
    if (top == -infinity && sum_of(p, seen) == -infinity) {  // scores too low for a float: nothing
      tops.data()[row] = 0;
      sums.data()[row] = 1;
      return static_cast<void>(std::fill_n(p, width, Real{0}));
    }
    map_values([top](auto s) { return xsimd::exp(s - top); }, p, width, p);
    const Real sum = sums.data()[row] = static_cast<Real>(sum_of(p, width));
    map_values([factor = 1 / sum](auto e) { return e * factor; }, p, width, p);
  }
  // Scores p become shares again; dp becomes ds = p (dp - sum_j p_j dp_j).
  void scores_gradient(Real* p, Real* dp, std::size_t seen, std::size_t width,
                       std::size_t row) const {
    std::fill(p + seen, p + width, -infinity);
    std::fill(dp + seen, dp + width, Real{0});  // whatever the future holds, NaN too
    const Real top = tops.data()[row], factor = 1 / sums.data()[row];
    map_values([=](auto s) { return xsimd::exp(s - top) * factor; }, p, width, p);
    const auto mean = static_cast<Real>(dot_of(p, dp, width));
    map_values([mean](auto a, auto d) { return a * (d - mean); }, dp, width, p, dp);
  }

  // ---- which numbers belong to which head

  struct Sizes {
    std::size_t batch, T, S, D, E;  // queries, keys, width of a key, width of a value
    std::size_t rows, stride;       // of P: rows at a time, elements from one to the next
  };
  struct Block {
    std::size_t rows, columns, width;  // of P; width is columns in whole registers
  };
  struct Matrix {
    const Real* data;
    std::size_t stride;
    MatrixView view() const { return {data, stride}; }
    MatrixView transposed() const { return {data, stride, true}; }
    MatrixView from(std::size_t t) const { return {row(t), stride}; }
    const Real* row(std::size_t t) const { return data + t * stride; }
  };

  Sizes sizes(const Array& q, const Array& k, const Array& v) const {
    const std::size_t rank = q.dimension();
    std::size_t batch = 1;
    for (std::size_t i = 0; i + 2 < rank; ++i) batch *= q.shape()[i];
    const std::size_t T = q.shape()[rank - 2], S = k.shape()[rank - 2];
    return {batch,
            T,
            S,
            q.shape().back() / heads,
            v.shape().back() / heads,
            T < 256 ? 32u : 64u,
            whole_packs(S)};
  }
  Matrix queries(const Array& q, const Sizes& n, std::size_t b, std::size_t h) const {
    return {q.data() + (b * n.T * heads + h) * n.D, heads * n.D};
  }
  Matrix keys(const Array& k, const Sizes& n, std::size_t b, std::size_t h) const {
    return {k.data() + (b * n.S * heads + h) * n.D, heads * n.D};
  }
  Matrix values(const Array& v, const Sizes& n, std::size_t b, std::size_t h) const {
    return {v.data() + (b * n.S * heads + h) * n.E, heads * n.E};
  }
  static MatrixRef<Real> place(Array& gradient, const Matrix& part, const Array& whole) {
    return {gradient.data() + (part.data - whole.data()), part.stride};
  }
  static std::size_t whole_packs(std::size_t n) {
    return (n + Pack::size - 1) / Pack::size * Pack::size;
  }
  std::size_t seen(const Sizes& n, std::size_t t) const {
    return causal ? std::min(n.S, past + t + 1) : n.S;
  }
  Block block_at(const Sizes& n, std::size_t t) const {
    const std::size_t rows = std::min(n.rows, n.T - t);
    const std::size_t columns = seen(n, t + rows - 1);
    return {rows, columns, whole_packs(columns)};
  }
  template <class Body>
  void for_each_head(const Sizes& n, const Body& body) const {
    if (n.S == 0) return;
    const std::size_t grain = worthwhile / (n.T * n.S * (n.D + n.E) + 1) + 1;
    parallel_for(n.batch * heads, grain, [&](std::size_t begin, std::size_t end) {
      Array p = uninitialized({n.rows, n.stride}), ds = uninitialized({n.rows, n.stride});
      for (std::size_t i = begin; i < end; ++i) body(i / heads, i % heads, p.data(), ds.data());
    });
  }

  static constexpr std::size_t worthwhile = 500'000;  // products a thread takes at a time: 20 us
  bool causal;
  std::size_t past;
  Real scale;
  std::size_t heads;
  // (batch, heads, T), kept for backward: max_s score_ts, and sum_s exp(score_ts - max)
  Array tops = undefined_array(), sums = undefined_array();
};

static double scale_of(const Tensor& q, const AttentionOptions& options) {
  const std::size_t D = q.shape().back() / options.num_heads;
  return options.scale.value_or(D == 0 ? 1 : 1 / std::sqrt(static_cast<double>(D)));
}

static void check_heads(const Tensor& x, std::string_view role, std::size_t num_heads) {
  if (x.dim() != 3 || num_heads == 0 || x.shape().back() % num_heads != 0)
    throw_error("attention: ", describe(x, role),
                " must be (B, T, C) with C divisible by num_heads = ", num_heads);
}

// Each query's own key must be among the keys.
static void check_past(const Tensor& q, const Tensor& k, const AttentionOptions& options) {
  const std::size_t T = q.shape()[q.dim() - 2], S = k.shape()[k.dim() - 2];
  if (options.past == 0) return;
  if (!options.causal)
    throw_error("attention: past = ", options.past,
                " is for causal attention; set causal, or past to 0");
  if (options.past > S || T > S - options.past)
    throw_error("attention: past = ", options.past,
                " leaves no keys for all the queries: ", describe(q, "q"), ", ", describe(k, "k"));
}

// Queries and keys of one width, batches alike; with values, as many of them as keys.
static void check_inputs(const Tensor& q, const Tensor& k, const Tensor* v,
                         const AttentionOptions& options) {
  const auto all = [&] {
    return describe(q, "q") + ", " + describe(k, "k") +
           (v == nullptr ? "" : ", " + describe(*v, "v"));
  };
  for (const Tensor* x : {&q, &k, v}) {
    if (x == nullptr) continue;
    if (x->dim() < 2 || x->dim() != q.dim())
      throw_error("attention: q, k and v need the same number of axes, at least two: ", all());
    if (!std::equal(q.shape().begin(), q.shape().end() - 2, x->shape().begin()))
      throw_error("attention: batches differ: ", all());
    if (options.num_heads != 1)
      check_heads(*x, x == &q ? "q" : x == &k ? "k" : "v", options.num_heads);
  }
  if (q.shape().back() != k.shape().back())
    throw_error("attention: queries and keys differ in width: ", all());
  if (v != nullptr && v->shape()[v->dim() - 2] != k.shape()[k.dim() - 2])
    throw_error("attention: there must be as many values as keys: ", all());
  check_past(q, k, options);
}

Tensor split_heads(const Tensor& x, std::size_t num_heads, SourceLocation location) {
  check_heads(x, "x", num_heads);
  const int B = static_cast<int>(x.shape()[0]), T = static_cast<int>(x.shape()[1]);
  const int H = static_cast<int>(num_heads), D = static_cast<int>(x.shape()[2] / num_heads);
  return transpose(reshape(x, {B, T, H, D}, location), 1, 2, location);  // (B, H, T, D)
}

Tensor join_heads(const Tensor& x, SourceLocation location) {
  if (x.dim() != 4) throw_error("join_heads: ", describe(x, "x"), " must be (B, H, T, D)");
  const int B = static_cast<int>(x.shape()[0]), T = static_cast<int>(x.shape()[2]);
  const int C = static_cast<int>(x.shape()[1] * x.shape()[3]);
  return reshape(transpose(x, 1, 2, location), {B, T, C}, location);  // (B, T, C)
}

Tensor attention_weights(const Tensor& q, const Tensor& k, const AttentionOptions& options,
                         SourceLocation location) {
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
    Mask future = Mask::from_shape({T, S});
    for (std::size_t t = 0; t < T; ++t)
      for (std::size_t s = 0; s < S; ++s) future(t, s) = s > options.past + t;
    scores = masked_fill(scores, future, -infinity, location);
  }
  if (options.mask) {
    Mask hidden = *options.mask;
    for (bool& place : hidden) place = !place;
    if (options.num_heads > 1 && hidden.dimension() == 3)  // (B, T, S): the same for every head
      hidden.reshape({hidden.shape()[0], std::size_t{1}, hidden.shape()[1], hidden.shape()[2]});
    scores = masked_fill(scores, hidden, -infinity, location);
  }
  return softmax(scores, -1, location);  // (..., T, S), rows sum to one
}

Tensor scaled_dot_product_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                                    const AttentionOptions& options, SourceLocation location) {
  check_inputs(q, k, &v, options);
  if (!options.mask && !options.bias.defined())
    return record(Attention{options.causal, options.past, static_cast<Real>(scale_of(q, options)),
                            options.num_heads},
                  location, q, k, v);
  const Tensor weights = attention_weights(q, k, options, location);
  if (options.num_heads == 1) return matmul(weights, v, location);
  return join_heads(matmul(weights, split_heads(v, options.num_heads, location), location),
                    location);
}

}  // namespace heed
