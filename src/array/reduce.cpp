// reduce.cpp: sums and maxima over axes, broadcasting and its derivative, permute, add_to.

#include "array/reduce.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "array/lines.hpp"
#include "heed/array/map.hpp"
#include "heed/array/strided.hpp"
#include "heed/base/error.hpp"

namespace HEED_NAMESPACE {

constexpr std::size_t sum_grain = 1 << 15;  // elements that a thread sums at a time

// Reduction over the last axes, the most frequent case: sums rows of n contiguous elements.
static void sum_rows(const Array& x, std::size_t n, Array& y) {
  parallel_for(y.size(), sum_grain / (n + 1) + 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t r = begin; r < end; ++r)
      y.data()[r] = static_cast<Real>(sum_of(x.data() + r * n, n));
  });
}

// Sums over any axes. `kept` is x's shape with size 1 along the axes to sum.
static Array sum_strided(const Array& x, const Shape& kept) {
  std::vector<double> totals(numel(kept), 0.0);
  const StridedLoop<2> loop(x.shape(),
                            {row_major_strides(x.shape()), broadcast_strides(kept, x.shape())});
  const bool sums_rows = loop.row_strides()[1] == 0;  // each row of x is summed to one element
  loop.each_row(0, loop.rows(), [&](const std::array<std::ptrdiff_t, 2>& at) {
    const Real* const in = x.data() + at[0];
    double* const out = totals.data() + at[1];
    if (sums_rows)
      *out += sum_of(in, loop.row_size());
    else
      for (std::size_t i = 0; i < loop.row_size(); ++i) out[i] += static_cast<double>(in[i]);
  });
  Array y = uninitialized(kept);
  std::copy(totals.begin(), totals.end(), y.data());
  return y;
}

static Array sum_keepdim(const Array& x, const Shape& kept) {
  std::size_t tail = x.dimension();  // axes `tail`, `tail` + 1, ... of `kept` have size 1
  while (tail > 0 && kept[tail - 1] == 1) --tail;
  const bool rows =
      std::equal(kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(tail), x.shape().begin());
  const std::size_t results = numel(kept);
  if (!rows || results == 0) return sum_strided(x, kept);
  Array y = uninitialized(kept);
  sum_rows(x, x.size() / results, y);
  return y;
}

Array sum_over(const Array& x, const Axes& axes, bool keepdim) {
  Array y = sum_keepdim(x, reduced_shape(x.shape(), axes, true));
  return reshaped(std::move(y), reduced_shape(x.shape(), axes, keepdim));
}

Array max_over(const Array& x, const Axes& axes, bool keepdim) {
  const Shape kept = reduced_shape(x.shape(), axes, true);
  if (x.size() == 0 && numel(kept) != 0)
    throw_error("max: no elements to compare in x ", str(x.shape()));
  Array y = filled(kept, -std::numeric_limits<Real>::infinity());
  const StridedLoop<2> loop(x.shape(),
                            {row_major_strides(x.shape()), broadcast_strides(kept, x.shape())});
  const auto [step_x, step_y] = loop.row_strides();
  loop.each_row(0, loop.rows(),
                [&, sx = step_x, sy = step_y](const std::array<std::ptrdiff_t, 2>& at) {
                  const Real* in = x.data() + at[0];
                  Real* out = y.data() + at[1];
                  for (std::size_t i = 0; i < loop.row_size(); ++i, in += sx, out += sy)
                    if (*in > *out || std::isnan(*in)) *out = *in;  // if *out is NaN, it stays NaN
                });
  return reshaped(std::move(y), reduced_shape(x.shape(), axes, keepdim));
}

Array sum_to(Array&& dy, const Shape& shape) {
  if (dy.shape() == shape) return std::move(dy);
  return sum_to(static_cast<const Array&>(dy), shape);
}

Array sum_to(const Array& dy, const Shape& shape) {
  if (dy.shape() == shape)  // a copy, in parallel if it is large
    return dy.size() < elementwise_grain ? dy : map([](auto d) { return d; }, dy);
  Shape kept(dy.dimension(), 1);
  std::copy(shape.begin(), shape.end(),
            kept.begin() + static_cast<std::ptrdiff_t>(dy.dimension() - shape.size()));
  return reshaped(sum_keepdim(dy, kept), shape);
}

Array expanded(const Array& x, const Shape& shape) {
  return map_broadcast([](Real v, Real) { return v; }, x, scalar(0), shape);
}

Array reshaped(Array x, const Shape& shape) {
  x.reshape(shape);
  return x;
}

Array permuted(const Array& x, const std::vector<std::size_t>& order) {
  const Strides own = row_major_strides(x.shape());
  StridedView view{x.shape(), own};
  for (std::size_t k = 0; k < order.size(); ++k) {
    view.shape[k] = x.shape()[order[k]];
    view.strides[k] = own[order[k]];
  }
  return read_view(x, view);
}

void add_to(Array& to, const Array& part) {
  parallel_for(to.size(), elementwise_grain, [&](std::size_t begin, std::size_t end) {
    Real* const out = to.data();
    const Real* const in = part.data();
    for (std::size_t i = begin; i < end; ++i) out[i] += in[i];
  });
}

double sum_of_squares(const Array& x) {
  std::vector<double> parts(x.size() / elementwise_grain + 1, 0.0);  // one sum per chunk
  parallel_for(x.size(), elementwise_grain, [&](std::size_t begin, std::size_t end) {
    const Real* const part = x.data() + begin;
    parts[begin / elementwise_grain] = dot_of(part, part, end - begin);
  });
  return std::accumulate(parts.begin(), parts.end(), 0.0);
}

bool all_finite(const Array& x) {
  return std::all_of(x.data(), x.data() + x.size(), [](Real v) { return std::isfinite(v); });
}

}  // namespace HEED_NAMESPACE
