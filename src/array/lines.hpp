// lines.hpp: map_lines applies a formula to every 1-D slice ("line") of an array along one axis.
#pragma once

#include <vector>

#include "heed/array/parallel.hpp"
#include "heed/array/shape.hpp"

namespace HEED_NAMESPACE {

// The 1-D slices ("lines") of a row-major array along `axis`, each with `size` elements and stride
// `inner`. Element j of slice i has the offset (i / inner) * size * inner + i % inner + j * inner.
struct Lines {
  Lines(const Shape& shape, std::size_t axis);  // the caller must check `axis`
  // The offset of the first element of slice number `line`.
  std::size_t start(std::size_t line) const { return line / inner * size * inner + line % inner; }

  std::size_t count = 1, size = 1, inner = 1;  // number, length and stride of the 1-D slices
};

// Reductions of the n elements x[0] to x[n - 1]. Sums are accumulated in double.
double sum_of(const Real* x, std::size_t n);
Real max_of(const Real* x, std::size_t n);  // the maximum, ignoring NaN; -inf if n = 0
double dot_of(const Real* a, const Real* b, std::size_t n);
double squared_deviations_of(const Real* x, std::size_t n, double mean);  // sum_i (x[i] - mean)^2

// Returns an array y of x's shape. For each 1-D slice along `axis`, formula(y_line, n, x_line,
// more_line...) computes the n elements of y's slice. Slices that are not contiguous use buffers.
template <class Formula, class... More>
Array map_lines(const Formula& formula, std::size_t axis, const Array& x, const More&... more) {
  const Lines lines(x.shape(), axis);
  Array y = uninitialized(x.shape());
  const auto copy_line = [&](const Array& from, std::size_t line, std::vector<Real>& into) {
    const Real* in = from.data() + lines.start(line);
    for (std::size_t j = 0; j < lines.size; ++j, in += lines.inner) into[j] = *in;
    return into.data();
  };
  const std::size_t grain = elementwise_grain / 4 / (lines.size + 1) + 1;
  parallel_for(lines.count, grain, [&](std::size_t begin, std::size_t end) {
    if (lines.inner == 1) {
      for (std::size_t i = begin * lines.size; i < end * lines.size; i += lines.size)
        formula(y.data() + i, lines.size, x.data() + i, (more.data() + i)...);
      return;
    }
    std::vector<Real> out(lines.size);
    std::vector<Real> in[1 + sizeof...(More)];
    for (std::vector<Real>& buffer : in) buffer.resize(lines.size);
    for (std::size_t line = begin; line < end; ++line) {
      std::size_t next = 1;
      static_cast<void>(next);
      formula(out.data(), lines.size, copy_line(x, line, in[0]),
              copy_line(more, line, in[next++])...);
      Real* to = y.data() + lines.start(line);
      for (std::size_t j = 0; j < lines.size; ++j, to += lines.inner) *to = out[j];
    }
  });
  return y;
}

}  // namespace HEED_NAMESPACE
