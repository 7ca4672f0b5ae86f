// strided.hpp: one loop over the elements of several operands that need not be laid out alike.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "heed/array/shape.hpp"

namespace heed {

using Strides = std::vector<std::ptrdiff_t>;  // in elements; 0 repeats, as broadcasting does

Strides row_major_strides(const Shape& shape);

// Strides that read an array of shape `from` as if it had the larger shape `to`.
Strides broadcast_strides(const Shape& from, const Shape& to);

// A window on a row-major array: element (i, j, ...) of the window is at
// offset + i * strides[0] + j * strides[1] + ... in the array's data.
struct StridedView {
  Shape shape;
  Strides strides;
  std::ptrdiff_t offset = 0;
};

Array read_view(const Array& x, const StridedView& window);                // what the window shows
void write_view(Array& x, const StridedView& window, const Array& part);   // x[window] = part
void add_to_view(Array& x, const StridedView& window, const Array& part);  // x[window] += part

// The loop nest over `shape` for N operands. Axes that all operands cross evenly are merged, so
// that the innermost loop is as long as it can be.
template <std::size_t N>
struct StridedLoop {
  StridedLoop(const Shape& shape, const std::array<Strides, N>& strides);

  std::size_t rows() const;  // how many innermost loops there are
  std::size_t row_size() const { return extents.back(); }
  std::array<std::ptrdiff_t, N> row_strides() const;
  std::array<std::ptrdiff_t, N> row_offsets(std::size_t row) const;
  std::array<std::ptrdiff_t, N> offsets(std::size_t element) const;  // in row-major order

  // Calls body(offsets) for the rows begin to end - 1, in order.
  template <class Body>
  void each_row(std::size_t begin, std::size_t end, const Body& body) const {
    for (std::size_t row = begin; row < end; ++row) body(row_offsets(row));
  }

  std::vector<std::size_t> extents;  // merged axes, the innermost last; never empty
  std::array<Strides, N> steps;      // of the merged axes
};

template <std::size_t N>
StridedLoop<N>::StridedLoop(const Shape& shape, const std::array<Strides, N>& strides) {
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 1) continue;
    bool merges = !extents.empty();
    for (std::size_t k = 0; k < N && merges; ++k)
      merges = steps[k].back() == strides[k][axis] * static_cast<std::ptrdiff_t>(shape[axis]);
    if (!merges)
      extents.push_back(shape[axis]);
    else
      extents.back() *= shape[axis];
    for (std::size_t k = 0; k < N; ++k) {
      if (!merges)
        steps[k].push_back(strides[k][axis]);
      else
        steps[k].back() = strides[k][axis];
    }
  }
  if (!extents.empty()) return;
  extents.push_back(1);
  for (Strides& step : steps) step.push_back(1);
}

template <std::size_t N>
std::size_t StridedLoop<N>::rows() const {
  std::size_t n = 1;
  for (std::size_t i = 0; i + 1 < extents.size(); ++i) n *= extents[i];
  return extents.back() == 0 ? 0 : n;
}

template <std::size_t N>
std::array<std::ptrdiff_t, N> StridedLoop<N>::row_strides() const {
  std::array<std::ptrdiff_t, N> result{};
  for (std::size_t k = 0; k < N; ++k) result[k] = steps[k].back();
  return result;
}

template <std::size_t N>
std::array<std::ptrdiff_t, N> StridedLoop<N>::row_offsets(std::size_t row) const {
  std::array<std::ptrdiff_t, N> result{};
  for (std::size_t i = extents.size() - 1; i-- > 0; row /= extents[i])
    for (std::size_t k = 0; k < N; ++k)
      result[k] += static_cast<std::ptrdiff_t>(row % extents[i]) * steps[k][i];
  return result;
}

template <std::size_t N>
std::array<std::ptrdiff_t, N> StridedLoop<N>::offsets(std::size_t element) const {
  std::array<std::ptrdiff_t, N> result = row_offsets(element / row_size());
  const auto inside = static_cast<std::ptrdiff_t>(element % row_size());
  for (std::size_t k = 0; k < N; ++k) result[k] += inside * steps[k].back();
  return result;
}

}  // namespace heed
