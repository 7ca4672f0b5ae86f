// strided.hpp: strides, strided views of arrays, and loops over operands with different strides.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "heed/array/shape.hpp"

namespace HEED_NAMESPACE {

// Strides in elements; 0 along a broadcast axis. Up to four need no memory of their own.
using Strides = xt::svector<std::ptrdiff_t, 4>;

// The strides of a row-major array without gaps.
Strides row_major_strides(const Shape& shape);

// The strides that broadcast a row-major array of shape `from` to the shape `to`.
Strides broadcast_strides(const Shape& from, const Shape& to);

// A strided view of an array: element (i, j, ...) of the view is element
// offset + i * strides[0] + j * strides[1] + ... of the array's data.
struct StridedView {
  Shape shape;                // the shape of the view
  Strides strides;            // one stride for each axis of the view
  std::ptrdiff_t offset = 0;  // index of the view's first element
};

Array read_view(const Array& x, const StridedView& view);                // a copy of x[view]
void write_view(Array& x, const StridedView& view, const Array& part);   // x[view] = part
void add_to_view(Array& x, const StridedView& view, const Array& part);  // x[view] += part

// Nested loops over the elements of `shape` in N operands, each with its own strides. Adjacent axes
// are merged where the strides of all operands allow it, so that the innermost loop (over a "row")
// is as long as possible.
template <std::size_t N>
struct StridedLoop {
  using Offsets = std::array<std::ptrdiff_t, N>;  // one offset for each operand

  // strides[k] holds the strides of operand k, one for each axis of `shape`.
  StridedLoop(const Shape& shape, const std::array<Strides, N>& strides) {
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      if (shape[axis] == 1) continue;
      bool merges = !extents.empty();
      for (std::size_t k = 0; k < N && merges; ++k)
        merges = steps[k].back() == strides[k][axis] * static_cast<std::ptrdiff_t>(shape[axis]);
      if (!merges) add_axis();
      extents.back() *= shape[axis];
      for (std::size_t k = 0; k < N; ++k) steps[k].back() = strides[k][axis];
    }
    if (extents.empty()) add_axis();
  }

  // The number of times that the innermost loop runs.
  std::size_t rows() const {
    std::size_t n = 1;
    for (std::size_t i = 0; i + 1 < extents.size(); ++i) n *= extents[i];
    return extents.back() == 0 ? 0 : n;
  }
  std::size_t row_size() const { return extents.back(); }  // number of elements in a row
  // For each operand, the stride between neighbouring elements of a row.
  Offsets row_strides() const {
    Offsets result{};
    for (std::size_t k = 0; k < N; ++k) result[k] = steps[k].back();
    return result;
  }
  // For each operand, the offset of the first element of a row.
  Offsets row_offsets(std::size_t row) const {
    Offsets result{};
    for (std::size_t i = extents.size() - 1; i-- > 0; row /= extents[i])
      for (std::size_t k = 0; k < N; ++k)
        result[k] += static_cast<std::ptrdiff_t>(row % extents[i]) * steps[k][i];
    return result;
  }
  // For each operand, the offset of the element whose row-major index is `element`.
  Offsets offsets(std::size_t element) const {
    Offsets result = row_offsets(element / row_size());
    const auto inside = static_cast<std::ptrdiff_t>(element % row_size());
    for (std::size_t k = 0; k < N; ++k) result[k] += inside * steps[k].back();
    return result;
  }

  // Calls body(row_offsets(row)) for the rows begin to end - 1, in order.
  template <class Body>
  void each_row(std::size_t begin, std::size_t end, const Body& body) const {
    for (std::size_t row = begin; row < end; ++row) body(row_offsets(row));
  }

  xt::svector<std::size_t, 4> extents;  // sizes of the merged axes, the innermost last; never empty
  std::array<Strides, N> steps;         // strides of the merged axes

 private:
  void add_axis() {
    extents.push_back(1);
    for (Strides& step : steps) step.push_back(1);
  }
};

}  // namespace HEED_NAMESPACE
