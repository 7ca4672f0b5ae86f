// fused_attention.cpp: scaled dot-product attention as one operation, in blocks of query rows.

#include "ops/fused_attention.hpp"

#include <algorithm>
#include <utility>

#include "heed/autograd/record.hpp"
#include "heed/gemm/gemm.hpp"
#include "ops/softmax_row.hpp"

namespace HEED_NAMESPACE {

// O = P V with P = softmax(scale Q K^T). Row t of P is 0 at padding; if causal, it is also 0 beyond
// key past + t, and with a window at all but the last `window` keys up to past + t.
//
// The queries are processed in blocks of rows, so that only one block of P exists at a time.
// backward recomputes P from each row's maximum and sum (Dao et al. 2022, "FlashAttention",
// algorithm 4), where * multiplies element by element:
//   dV = P^T dO,  dP = dO V^T,  dS = scale P * (dP - rowsum(P * dP)),  dQ = dS K,  dK = dS^T Q
struct Attention {
  static constexpr std::string_view name = "Attention";
  Array forward(const Array& q, const Array& k, const Array& v) {
    const Sizes n = sizes(q, k, v);
    row_max = uninitialized({n.batch, heads, n.T});
    row_sum = uninitialized({n.batch, heads, n.T});
    Shape shape = q.shape();
    shape.back() = n.E * heads;
    Array o = may_lack_keys() ? zeros(shape) : uninitialized(shape);
    for_each_head(n, 1, [&](std::size_t b, std::size_t h, std::size_t kv, Real* p, Real*) {
      const MatrixView Q = head_of(q, n.T, heads, b, h), K = head_of(k, n.S, kv_heads, b, kv);
      const MatrixView V = head_of(v, n.S, kv_heads, b, kv);
      const MatrixRef<Real> O = head_of(o, n.T, heads, b, h);
      for (std::size_t t = 0; t < n.T; t += n.block_rows) {
        const Block block = block_at(n, b, t);
        if (block.columns == 0) continue;
        const MatrixRef<Real> P{p, block.rows, block.columns, n.stride};
        product(Q.row_range(t, t + block.rows), K.row_range(block.first, block.end).transposed(), P,
                scale);
        for (std::size_t i = 0; i < block.rows; ++i)
          weights_row(p + i * n.stride, b, t + i, block, row_index(n, b, h, t + i));
        product(view(P), V.row_range(block.first, block.end), O.row_range(t, t + block.rows));
      }
    });
    return o;
  }

  Grads<3> backward(const Array& dout, const Array&, const Array& q, const Array& k,
                    const Array& v) const {
    const Sizes n = sizes(q, k, v);
    Array dq = may_lack_keys() ? zeros(q.shape()) : uninitialized(q.shape());
    Array dk = zeros(k.shape()), dv = zeros(v.shape());
    // The heads that share dK and dV are processed by one thread.
    for_each_head(
        n, heads / kv_heads, [&](std::size_t b, std::size_t h, std::size_t kv, Real* p, Real* ds) {
          const MatrixView Q = head_of(q, n.T, heads, b, h), K = head_of(k, n.S, kv_heads, b, kv);
          const MatrixView V = head_of(v, n.S, kv_heads, b, kv),
                           dO = head_of(dout, n.T, heads, b, h);
          const MatrixRef<Real> dQ = head_of(dq, n.T, heads, b, h);
          const MatrixRef<Real> dK = head_of(dk, n.S, kv_heads, b, kv);
          const MatrixRef<Real> dV = head_of(dv, n.S, kv_heads, b, kv);
          for (std::size_t t = 0; t < n.T; t += n.block_rows) {
            const Block block = block_at(n, b, t);
            if (block.columns == 0) continue;
            const std::size_t end = t + block.rows, columns = block.columns;
            const MatrixRef<Real> P{p, block.rows, columns, n.stride};
            const MatrixRef<Real> dS{ds, block.rows, columns, n.stride};
            const MatrixView keys = K.row_range(block.first, block.end);
            product(Q.row_range(t, end), keys.transposed(), P, scale);
            gemm(dO.row_range(t, end), V.row_range(block.first, block.end).transposed(), dS);  // dP
            for (std::size_t i = 0; i < block.rows; ++i)
              scores_gradient(p + i * n.stride, ds + i * n.stride, b, t + i, block,
                              row_index(n, b, h, t + i));
            gemm(view(dS), keys, dQ.row_range(t, end));
            gemm(view(dS).transposed(), Q.row_range(t, end), dK.row_range(block.first, block.end),
                 Output::accumulate);
            gemm(view(P).transposed(), dO.row_range(t, end), dV.row_range(block.first, block.end),
                 Output::accumulate);
          }
        });
    return {std::move(dq), std::move(dk), std::move(dv)};
  }

  // c = factor a b. Without a causal mask, the product sums in double, so that the order of the
  // keys does not change the result.
  void product(MatrixView a, MatrixView b, MatrixRef<Real> c, Real factor = 1) const {
    if (causal) return gemm(a, b, c, Output::overwrite, factor);
    gemm_in_double(a, b, c, factor);
  }

  struct Block {
    std::size_t rows;            // the queries t to t + rows - 1
    std::size_t first, end;      // the keys to which at least one of these queries may attend
    std::size_t columns;         // number of these keys
    std::size_t padded_columns;  // a multiple of the width of a SIMD register
  };

  // Replaces the row of scores of query t by attention weights, which are 0 at masked keys.
  void weights_row(Real* p, std::size_t b, std::size_t t, const Block& block, std::size_t row) {
    mask_row(p, -infinity, b, t, block);
    const std::size_t width = block.padded_columns;
    const ExpRow e = exp_row(p, width, p);
    const bool masked = e.sum == 0;  // if all scores are -infinity, all weights are 0
    row_max.data()[row] = masked ? 0 : e.max;
    const Real sum = row_sum.data()[row] = masked ? 1 : static_cast<Real>(e.sum);
    map_values([factor = 1 / sum](auto v) { return v * factor; }, p, width, p);
  }
  // Replaces the scores in p by attention weights, and the gradient of these weights in dp by the
  // gradient of q k^T, which is `scale` times that of the scores.
  void scores_gradient(Real* p, Real* dp, std::size_t b, std::size_t t, const Block& block,
                       std::size_t row) const {
    mask_row(p, -infinity, b, t, block);
    mask_row(dp, 0, b, t, block);  // dp of masked keys may be NaN
    const std::size_t width = block.padded_columns;
    const Real max = row_max.data()[row], factor = 1 / row_sum.data()[row];
    map_values([=](auto s) { return xsimd::exp(s - max) * factor; }, p, width, p);
    softmax_row_backward(dp, width, dp, p);
    map_values([factor = scale](auto d) { return d * factor; }, dp, width, dp);
  }
  // Writes `value` at the keys of the block that query t of sentence b must not attend to, and
  // after the last key.
  void mask_row(Real* row, Real value, std::size_t b, std::size_t t, const Block& block) const {
    const std::size_t end = std::min(block.end, keys_end(b, t)) - block.first;
    const std::size_t first = std::min(end, std::max(block.first, first_key(t)) - block.first);
    std::fill(row, row + first, value);
    std::fill(row + end, row + block.padded_columns, value);
    if (!gaps) return;
    const Real* gap = gaps->data() + b * gaps->shape()[1] + block.first;
    const auto masked = [value](auto v, auto g) {
      return xsimd::select(g != Pack(0), Pack(value), v);
    };
    map_values(masked, row + first, end - first, row + first, gap + first);
  }

  // ---- memory layout: arrays are (..., T, heads * width); row t of a head has `width` elements

  struct Sizes {
    std::size_t batch, T, S, D, E;   // T queries and S keys of width D, S values of width E
    std::size_t block_rows, stride;  // number of rows of a block of P, and the block's row stride
  };
  Sizes sizes(const Array& q, const Array& k, const Array& v) const {
    const std::size_t rank = q.dimension();
    const std::size_t batch = numel(Shape(q.shape().begin(), q.shape().end() - 2));
    const std::size_t T = q.shape()[rank - 2], S = k.shape()[rank - 2];
    const std::size_t D = q.shape().back() / heads, E = v.shape().back() / kv_heads;
    const std::size_t block_rows = T < 256 ? 32 : 64;
    const std::size_t columns = window == 0 || window >= S ? S : std::min(S, window + block_rows);
    return {batch, T, S, D, E, block_rows, padded(columns)};
  }
  // The matrix (rows, width) of head h of `count` heads, in sentence b of x.
  static MatrixView head_of(const Array& x, std::size_t rows, std::size_t count, std::size_t b,
                            std::size_t h) {
    const std::size_t stride = x.shape().back(), width = stride / count;
    return {x.data() + b * rows * stride + h * width, rows, width, stride};
  }
  static MatrixRef<Real> head_of(Array& x, std::size_t rows, std::size_t count, std::size_t b,
                                 std::size_t h) {
    const std::size_t stride = x.shape().back(), width = stride / count;
    return {x.data() + b * rows * stride + h * width, rows, width, stride};
  }
  static MatrixView view(const MatrixRef<Real>& m) { return {m.data, m.rows, m.columns, m.stride}; }
  static std::size_t padded(std::size_t n) {
    return (n + Pack::size - 1) / Pack::size * Pack::size;
  }
  std::size_t row_index(const Sizes& n, std::size_t b, std::size_t h, std::size_t t) const {
    return (b * heads + h) * n.T + t;
  }
  // Query t of sentence b may attend to the keys first_key(t) to keys_end(b, t) - 1, except
  // padding.
  std::size_t first_key(std::size_t t) const {
    return window == 0 || past + t + 1 <= window ? 0 : past + t + 1 - window;
  }
  std::size_t keys_end(std::size_t b, std::size_t t) const {
    return causal ? std::min(lengths[b], past + t + 1) : lengths[b];
  }
  // Whether a query may have no key, so that its output is 0: without keys, in a sentence that is
  // all padding, or at a position so far after the last key that its window contains none.
  bool may_lack_keys() const {
    return window != 0 || std::find(lengths.begin(), lengths.end(), 0u) != lengths.end();
  }
  Block block_at(const Sizes& n, std::size_t b, std::size_t t) const {
    const std::size_t rows = std::min(n.block_rows, n.T - t);
    const std::size_t first = first_key(t), end = std::max(first, keys_end(b, t + rows - 1));
    return {rows, first, end, end - first, padded(end - first)};
  }
  // Calls body(b, h, kv, p, ds) for each sentence b, query head h and its key and value head kv.
  // `together` neighbouring query heads are processed by one thread.
  template <class Body>
  void for_each_head(const Sizes& n, std::size_t together, const Body& body) const {
    if (n.S == 0) return;
    const std::size_t group = heads / kv_heads;  // query heads for each key and value head
    const std::size_t grain = products_per_thread / (together * n.T * n.S * (n.D + n.E) + 1) + 1;
    parallel_for(n.batch * heads / together, grain, [&](std::size_t begin, std::size_t end) {
      Array p = uninitialized({n.block_rows, n.stride}),
            ds = uninitialized({n.block_rows, n.stride});
      for (std::size_t i = begin * together; i < end * together; ++i)
        body(i / heads, i % heads, i % heads / group, p.data(), ds.data());
    });
  }

  static constexpr std::size_t products_per_thread = 500'000;  // multiplications, about 20 us
  bool causal;
  std::size_t past, window;  // see AttentionOptions
  Real scale;
  std::size_t heads, kv_heads;
  std::vector<std::size_t> lengths;  // number of keys of each sentence before its final padding
  std::optional<Array> gaps;         // (batch, S): 1 at padding, if any is before other keys
  // (batch, heads, T), saved for backward: max_s score_ts, and sum_s exp(score_ts - max_s score_ts)
  Array row_max = undefined_array(), row_sum = undefined_array();
};

// 1 at padding, 0 elsewhere: (batch, S). Without padding before the lengths, returns nothing.
static std::optional<Array> gaps_of(const std::optional<Mask>& padding,
                                    const std::vector<std::size_t>& lengths) {
  if (!padding) return {};
  bool any = false;
  Array gaps = zeros(shape_of(*padding));
  for (std::size_t b = 0; b < lengths.size(); ++b)
    for (std::size_t s = 0; s < lengths[b]; ++s)
      if ((*padding)(b, s)) gaps(b, s) = 1, any = true;
  return any ? std::optional(std::move(gaps)) : std::nullopt;
}

// For each sentence, the index after the last key that is not padding: S without padding.
static std::vector<std::size_t> lengths_of(const Tensor& k, const std::optional<Mask>& padding) {
  const Shape& shape = k.shape();
  const std::size_t S = shape[shape.size() - 2];
  std::vector<std::size_t> lengths(numel(Shape(shape.begin(), shape.end() - 2)), S);
  if (padding)
    for (std::size_t b = 0; b < lengths.size(); ++b)
      while (lengths[b] > 0 && (*padding)(b, lengths[b] - 1)) --lengths[b];
  return lengths;
}

Tensor fused_attention(In q, In k, In v, const AttentionOptions& options, Real scale) {
  const std::size_t heads = options.num_heads;
  const std::size_t kv_heads = options.num_kv_heads == 0 ? heads : options.num_kv_heads;
  const std::vector<std::size_t> lengths = lengths_of(k, options.key_padding);
  return record(Attention{options.causal, options.past, options.window, scale, heads, kv_heads,
                          lengths, gaps_of(options.key_padding, lengths)},
                q, k, v);
}

}  // namespace HEED_NAMESPACE
