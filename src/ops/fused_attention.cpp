// fused_attention.cpp: scaled dot-product attention as one operation, in blocks of query rows.

#include "ops/fused_attention.hpp"

#include <algorithm>
#include <utility>

#include "heed/array/matmul.hpp"
#include "heed/autograd/record.hpp"
#include "ops/softmax_row.hpp"

namespace HEED_NAMESPACE {

// O = P V with P = softmax(scale Q K^T); if causal, row t of P is 0 beyond key past + t
//
// The queries are processed in blocks of rows, so that only one block of P exists at a time.
// backward recomputes P from each row's maximum and sum (Dao et al. 2022, "FlashAttention",
// algorithm 4):
//   dV = P^T dO,  dP = dO V^T,  dS = P (dP - rowsum(P dP)),  dQ = scale dS K,  dK = scale dS^T Q
struct Attention {
  static constexpr std::string_view name = "Attention";
  Array forward(const Array& q, const Array& k, const Array& v) {
    const Sizes n = sizes(q, k, v);
    row_max = uninitialized({n.batch, heads, n.T});
    row_sum = uninitialized({n.batch, heads, n.T});
    Shape shape = q.shape();
    shape.back() = v.shape().back();
    Array o = n.S == 0 ? zeros(shape) : uninitialized(shape);  // without keys, the output is 0
    for_each_head(n, [&](std::size_t b, std::size_t h, Real* p, Real*) {
      const MatrixView Q = head_of(q, n.T, b, h), K = head_of(k, n.S, b, h);
      const MatrixView V = head_of(v, n.S, b, h);
      const MatrixRef<Real> O = head_of(o, n.T, b, h);
      for (std::size_t t = 0; t < n.T; t += n.block_rows) {
        const Block block = block_at(n, t);
        const MatrixRef<Real> P{p, block.rows, block.columns, n.stride};
        product(Q.row_range(t, t + block.rows), K.row_range(0, block.columns).transposed(), P,
                scale);
        for (std::size_t i = 0; i < block.rows; ++i)
          weights_row(p + i * n.stride, visible_keys(n, t + i), block.padded_columns,
                      row_index(n, b, h, t + i));
        product(view(P), V.row_range(0, block.columns), O.row_range(t, t + block.rows));
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
      const MatrixView Q = head_of(q, n.T, b, h), K = head_of(k, n.S, b, h);
      const MatrixView V = head_of(v, n.S, b, h), dO = head_of(dout, n.T, b, h);
      const MatrixRef<Real> dQ = head_of(dq, n.T, b, h), dK = head_of(dk, n.S, b, h);
      const MatrixRef<Real> dV = head_of(dv, n.S, b, h);
      for (std::size_t t = 0; t < n.T; t += n.block_rows) {
        const Block block = block_at(n, t);
        const std::size_t end = t + block.rows, S = block.columns;
        const MatrixRef<Real> P{p, block.rows, S, n.stride}, dS{ds, block.rows, S, n.stride};
        product(Q.row_range(t, end), K.row_range(0, S).transposed(), P, scale);
        gemm(dO.row_range(t, end), V.row_range(0, S).transposed(), dS);  // dP
        for (std::size_t i = 0; i < block.rows; ++i)
          scores_gradient(p + i * n.stride, ds + i * n.stride, visible_keys(n, t + i),
                          block.padded_columns, row_index(n, b, h, t + i));
        gemm(view(dS), K.row_range(0, S), dQ.row_range(t, end), Output::overwrite, scale);
        gemm(view(dS).transposed(), Q.row_range(t, end), dK.row_range(0, S), Output::accumulate,
             scale);
        gemm(view(P).transposed(), dO.row_range(t, end), dV.row_range(0, S), Output::accumulate);
      }
    });
    return {std::move(dq), std::move(dk), std::move(dv)};
  }

  // Without a causal mask, sums in double, so that the keys' order does not change the result.
  void product(MatrixView a, MatrixView b, MatrixRef<Real> c, Real factor = 1) const {
    if (causal) return gemm(a, b, c, Output::overwrite, factor);
    gemm_in_double(a, b, c, factor);
  }

  // Replaces a row of scores by attention weights, which are 0 for the keys from `visible` on.
  void weights_row(Real* p, std::size_t visible, std::size_t width, std::size_t row) {
    std::fill(p + visible, p + width, -infinity);
    const ExpRow e = exp_row(p, width, p);
    const bool masked = e.sum == 0;  // if all scores are -infinity, all weights are 0
    row_max.data()[row] = masked ? 0 : e.max;
    const Real sum = row_sum.data()[row] = masked ? 1 : static_cast<Real>(e.sum);
    map_values([factor = 1 / sum](auto v) { return v * factor; }, p, width, p);
  }
  // Replaces the scores in p by attention weights, and their gradient in dp by the scores'
  // gradient.
  void scores_gradient(Real* p, Real* dp, std::size_t visible, std::size_t width,
                       std::size_t row) const {
    std::fill(p + visible, p + width, -infinity);
    std::fill(dp + visible, dp + width, Real{0});  // dp of masked keys may be NaN
    const Real max = row_max.data()[row], factor = 1 / row_sum.data()[row];
    map_values([=](auto s) { return xsimd::exp(s - max) * factor; }, p, width, p);
    softmax_row_backward(dp, width, dp, p);
  }

  // ---- memory layout: arrays are (..., T, heads * width); row t of a head has `width` elements

  struct Sizes {
    std::size_t batch, T, S, D, E;   // T queries, S keys of width D, values of width E
    std::size_t block_rows, stride;  // number of rows of a block of P, and the block's row stride
  };
  struct Block {
    std::size_t rows, columns, padded_columns;  // size of a block of P; padded to SIMD registers
  };

  Sizes sizes(const Array& q, const Array& k, const Array& v) const {
    const std::size_t rank = q.dimension();
    const std::size_t batch = numel(Shape(q.shape().begin(), q.shape().end() - 2));
    const std::size_t T = q.shape()[rank - 2], S = k.shape()[rank - 2];
    const std::size_t D = q.shape().back() / heads, E = v.shape().back() / heads;
    return {batch, T, S, D, E, T < 256 ? 32u : 64u, padded(S)};
  }
  MatrixView head_of(const Array& x, std::size_t rows, std::size_t b, std::size_t h) const {
    const std::size_t stride = x.shape().back(), width = stride / heads;
    return {x.data() + b * rows * stride + h * width, rows, width, stride};
  }
  MatrixRef<Real> head_of(Array& x, std::size_t rows, std::size_t b, std::size_t h) const {
    const std::size_t stride = x.shape().back(), width = stride / heads;
    return {x.data() + b * rows * stride + h * width, rows, width, stride};
  }
  static MatrixView view(const MatrixRef<Real>& m) { return {m.data, m.rows, m.columns, m.stride}; }
  static std::size_t padded(std::size_t n) {
    return (n + Pack::size - 1) / Pack::size * Pack::size;
  }
  std::size_t row_index(const Sizes& n, std::size_t b, std::size_t h, std::size_t t) const {
    return (b * heads + h) * n.T + t;
  }
  std::size_t visible_keys(const Sizes& n, std::size_t t) const {
    return causal ? std::min(n.S, past + t + 1) : n.S;
  }
  Block block_at(const Sizes& n, std::size_t t) const {
    const std::size_t rows = std::min(n.block_rows, n.T - t);
    const std::size_t columns = visible_keys(n, t + rows - 1);
    return {rows, columns, padded(columns)};
  }
  template <class Body>
  void for_each_head(const Sizes& n, const Body& body) const {
    if (n.S == 0) return;
    const std::size_t grain = products_per_thread / (n.T * n.S * (n.D + n.E) + 1) + 1;
    parallel_for(n.batch * heads, grain, [&](std::size_t begin, std::size_t end) {
      Array p = uninitialized({n.block_rows, n.stride}),
            ds = uninitialized({n.block_rows, n.stride});
      for (std::size_t i = begin; i < end; ++i) body(i / heads, i % heads, p.data(), ds.data());
    });
  }

  static constexpr std::size_t products_per_thread = 500'000;  // about 20 us
  bool causal;
  std::size_t past;
  Real scale;
  std::size_t heads;
  // (batch, heads, T), saved for backward: max_s score_ts, and sum_s exp(score_ts - max)
  Array row_max = undefined_array(), row_sum = undefined_array();
};

Tensor fused_attention(const Tensor& q, const Tensor& k, const Tensor& v, bool causal,
                       std::size_t past, Real scale, std::size_t heads, SourceLocation location) {
  return record(Attention{causal, past, scale, heads}, location, q, k, v);
}

}  // namespace HEED_NAMESPACE
