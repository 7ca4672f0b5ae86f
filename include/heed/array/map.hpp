// map.hpp: elementwise functions on arrays with SIMD (xsimd) and threads: map, map_broadcast.
//
//   Array y = map([](auto v) { return xsimd::exp(v); }, x);
//   Array dx = map([](auto d, auto t) { return d * (1 - t * t); }, dy, y);
//
// map calls the formula on SIMD registers (xsimd::batch<Real>), several elements at a time.
#pragma once

#include <algorithm>
#include <type_traits>
#include <xsimd/xsimd.hpp>

#include "heed/array/parallel.hpp"
#include "heed/array/strided.hpp"

namespace HEED_NAMESPACE {

// The size of a SIMD register depends on the compiler's options. A program may be compiled with
// other options than the library, so the functions below are templates on the register type: each
// program then has its own copies.
using Pack = xsimd::batch<Real>;

// Loads p[0] to p[count - 1] into a SIMD register and fills the rest of the register with ones.
template <class P = Pack>
P load_partial(const Real* p, std::size_t count) {
  alignas(64) Real buffer[P::size] = {};
  std::fill_n(std::copy_n(p, count, buffer), P::size - count, Real{1});
  return P::load_aligned(buffer);
}

// Stores the first `count` elements of a SIMD register in p[0] to p[count - 1].
inline void store_partial(Pack values, Real* p, std::size_t count) {
  alignas(64) Real buffer[Pack::size] = {};
  values.store_aligned(buffer);
  std::copy_n(buffer, count, p);
}

// Loads a full SIMD register from p or, if p has fewer elements left, load_partial(p, left).
template <class P = Pack>
P load_next(const Real* p, std::size_t left) {
  return left >= P::size ? P::load_unaligned(p) : load_partial<P>(p, left);
}
// Stores a full SIMD register to p or, if p has fewer elements left, the first `left` elements.
inline void store_next(Pack values, Real* p, std::size_t left) {
  if (left >= Pack::size)
    values.store_unaligned(p);
  else
    store_partial(values, p, left);
}

// out[i] = formula(in[i]...) for i < n, on the calling thread. `out` may be the same as an input.
template <class Formula, class... In, class P = Pack>
void map_values(const Formula& formula, Real* out, std::size_t n, const In*... in) {
  static_assert((std::is_same_v<In, Real> && ...));
  std::size_t i = 0;
  for (; i + P::size <= n; i += P::size)
    formula(P::load_unaligned(in + i)...).store_unaligned(out + i);
  if (i < n) store_partial(formula(load_partial<P>(in + i, n - i)...), out + i, n - i);
}

// Returns formula(x, more...), element by element. All arrays must have the same shape.
template <class Formula, class... More>
Array map(const Formula& formula, const Array& x, const More&... more) {
  Array y = uninitialized(x.shape());
  const auto map_range = [&](std::size_t begin, std::size_t end) {
    map_values(formula, y.data() + begin, end - begin, x.data() + begin, (more.data() + begin)...);
  };
  parallel_ranges(y.size(), Pack::size, elementwise_grain, map_range);
  return y;
}

// Returns formula(a, b), element by element, with a and b broadcast to `shape`. The formula is
// called with single numbers, not with SIMD registers.
template <class Formula>
Array map_broadcast(const Formula& formula, const Array& a, const Array& b, const Shape& shape) {
  Array y = uninitialized(shape);
  const StridedLoop<3> loop(shape, {row_major_strides(shape), broadcast_strides(a.shape(), shape),
                                    broadcast_strides(b.shape(), shape)});
  const std::size_t n = loop.row_size();
  const std::array<std::ptrdiff_t, 3> steps = loop.row_strides();  // steps[0], that of y, is 1
  const auto row = [&, sa = steps[1], sb = steps[2]](const std::array<std::ptrdiff_t, 3>& at) {
    Real* const out = y.data() + at[0];
    const Real *const in_a = a.data() + at[1], *const in_b = b.data() + at[2];
    if (sa == 1 && sb == 1)
      for (std::size_t i = 0; i < n; ++i) out[i] = formula(in_a[i], in_b[i]);
    else if (sb == 0)
      for (std::size_t i = 0; i < n; ++i)
        out[i] = formula(in_a[static_cast<std::ptrdiff_t>(i) * sa], *in_b);
    else
      for (std::size_t i = 0; i < n; ++i)
        out[i] = formula(in_a[static_cast<std::ptrdiff_t>(i) * sa],
                         in_b[static_cast<std::ptrdiff_t>(i) * sb]);
  };
  const std::size_t grain = elementwise_grain / (n + 1) + 1;
  parallel_for(loop.rows(), grain,
               [&](std::size_t begin, std::size_t end) { loop.each_row(begin, end, row); });
  return y;
}

}  // namespace HEED_NAMESPACE
