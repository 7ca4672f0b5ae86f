// strided.cpp: strides of arrays, and reading and writing through strided views.

#include "heed/array/strided.hpp"

#include <algorithm>

#include "heed/array/parallel.hpp"

namespace HEED_NAMESPACE {

Strides row_major_strides(const Shape& shape) {
  Strides strides(shape.size());
  std::ptrdiff_t step = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = step;
    step *= static_cast<std::ptrdiff_t>(shape[i]);
  }
  return strides;
}

Strides broadcast_strides(const Shape& from, const Shape& to) {
  const Strides own = row_major_strides(from);
  const std::size_t added = to.size() - from.size();
  Strides strides(to.size(), 0);
  for (std::size_t i = 0; i < from.size(); ++i)
    if (from[i] != 1) strides[added + i] = own[i];
  return strides;
}

Array read_view(const Array& x, const StridedView& view) {
  Array y = uninitialized(view.shape);
  const StridedLoop<2> loop(view.shape, {row_major_strides(view.shape), view.strides});
  const std::ptrdiff_t step = loop.row_strides()[1];
  const std::size_t n = loop.row_size();
  parallel_for(loop.rows(), elementwise_grain / (n + 1) + 1, [&](std::size_t b, std::size_t e) {
    loop.each_row(b, e, [&](const std::array<std::ptrdiff_t, 2>& at) {
      const Real* in = x.data() + view.offset + at[1];
      Real* const out = y.data() + at[0];
      if (step == 1) return static_cast<void>(std::copy_n(in, n, out));
      for (std::size_t i = 0; i < n; ++i, in += step) out[i] = *in;
    });
  });
  return y;
}

void write_view(Array& x, const StridedView& view, const Array& part) {
  const StridedLoop<2> loop(view.shape, {row_major_strides(view.shape), view.strides});
  const std::ptrdiff_t step = loop.row_strides()[1];
  loop.each_row(0, loop.rows(), [&](const std::array<std::ptrdiff_t, 2>& at) {
    Real* out = x.data() + view.offset + at[1];
    const Real* const in = part.data() + at[0];
    for (std::size_t i = 0; i < loop.row_size(); ++i, out += step) *out = in[i];
  });
}

void add_to_view(Array& x, const StridedView& view, const Array& part) {
  const StridedLoop<2> loop(view.shape, {row_major_strides(view.shape), view.strides});
  const std::ptrdiff_t step = loop.row_strides()[1];
  loop.each_row(0, loop.rows(), [&](const std::array<std::ptrdiff_t, 2>& at) {
    Real* out = x.data() + view.offset + at[1];
    const Real* const in = part.data() + at[0];
    for (std::size_t i = 0; i < loop.row_size(); ++i, out += step) *out += in[i];
  });
}

}  // namespace HEED_NAMESPACE
