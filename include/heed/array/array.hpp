// array.hpp: Array (an n-dimensional array, an xtensor xarray), its allocator and its constructors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "heed/array/precision.hpp"
#include "heed/base/source_location.hpp"

#if __has_include(<xtensor/containers/xarray.hpp>)  // xtensor 0.26 and later
#include <xtensor/containers/xadapt.hpp>
#include <xtensor/containers/xarray.hpp>
#include <xtensor/core/xmath.hpp>
#include <xtensor/generators/xbuilder.hpp>
#include <xtensor/views/xview.hpp>
#else
#include <xtensor/xadapt.hpp>
#include <xtensor/xarray.hpp>
#include <xtensor/xbuilder.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xview.hpp>
#endif

namespace HEED_NAMESPACE {

// allocated_bytes() is the number of bytes that all arrays use now, peak_allocated_bytes() the
// maximum of this number since the program start or the most recent reset_peak_bytes().
std::size_t allocated_bytes();
std::size_t peak_allocated_bytes();
void reset_peak_bytes();

void* allocate_bytes(std::size_t bytes);  // returns memory aligned to 64 bytes or throws bad_alloc
void free_bytes(void* buffer, std::size_t bytes) noexcept;  // `bytes` is the allocated size

// The allocator of Array, which aligns memory to 64 bytes and reuses freed memory.
template <class T>
struct Allocator {
  using value_type = T;
  Allocator() = default;
  template <class U>
  Allocator(const Allocator<U>&) {}

  T* allocate(std::size_t n) { return static_cast<T*>(allocate_bytes(n * sizeof(T))); }
  void deallocate(T* p, std::size_t n) noexcept { free_bytes(p, n * sizeof(T)); }

  friend bool operator==(const Allocator&, const Allocator&) { return true; }
  friend bool operator!=(const Allocator&, const Allocator&) { return false; }
};

// An xtensor array of any rank, row-major. All xtensor functions accept an Array: x + y,
// xt::exp(x), xt::view(x, 0). Declare every intermediate result as Array, because `auto` would keep
// an unevaluated expression.
using Array = xt::xarray<Real, xt::layout_type::row_major, Allocator<Real>>;
using Shape = Array::shape_type;  // the size of each axis

using Indices = xt::xarray<std::int64_t, xt::layout_type::row_major>;  // token indices, targets
using Mask = xt::xarray<bool, xt::layout_type::row_major>;  // a mask for masked_fill or attention

Array uninitialized(const Shape& shape);  // the elements are undefined until the caller writes them
Array filled(const Shape& shape, Real value);  // an array whose elements are all `value`
Array zeros(const Shape& shape);               // an array whose elements are all 0
Array ones(const Shape& shape);                // an array whose elements are all 1
Array scalar(Real value);                      // an array of rank 0
// array2d returns a matrix with the given rows. column() returns n values as a matrix (n, 1). (With
// xtensor, Array x = {{1}, {2}} is ambiguous.) array2d throws Error if the rows differ in length.
Array array2d(std::initializer_list<std::initializer_list<Real>> rows,
              SourceLocation location = SourceLocation::current());
Array column(const std::vector<Real>& values);
// Indices or a Mask of the given shape, filled with `value`. (Indices({2, 3}) would be a vector of
// the numbers 2 and 3.) After `using namespace heed`, the name of a global variable `indices` or
// `mask` is ambiguous; the name of a local variable is not.
Indices indices(const Shape& shape, std::int64_t value = 0);
Mask mask(const Shape& shape, bool value = false);

// The value of an omitted optional argument, such as the bias of a Linear layer without bias. Its
// shape is (0).
const Array& undefined_array();
bool is_defined(const Array& x);

Real item(const Array& x);  // the only element of x; throws Error if x.size() is not 1

}  // namespace HEED_NAMESPACE
