// array.hpp: Array (an n-dimensional array, an xtensor xarray), its allocator and its constructors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "heed/array/precision.hpp"
#include "heed/base/source_location.hpp"

#if __has_include(<xtensor/containers/xarray.hpp>)  // since version 0.26
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

// The number of bytes that all arrays currently use, and its maximum since the program start or the
// most recent reset_peak_bytes().
std::size_t allocated_bytes();
std::size_t peak_allocated_bytes();
void reset_peak_bytes();

void* allocate_bytes(std::size_t bytes);  // memory aligned to 64 bytes; throws std::bad_alloc
void free_bytes(void* buffer, std::size_t bytes) noexcept;  // `bytes`: the allocated size

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
using Mask = xt::xarray<bool, xt::layout_type::row_major>;  // for masked_fill and attention

Array uninitialized(const Shape& shape);  // the elements are undefined until the caller writes them
Array filled(const Shape& shape, Real value);  // every element is `value`
Array zeros(const Shape& shape);               // every element is 0
Array ones(const Shape& shape);                // every element is 1
Array scalar(Real value);                      // rank 0
// A matrix from its rows, and a matrix (n, 1) from n values. Use them for nested braces: xtensor
// finds Array x = {{1}, {2}} ambiguous. array2d throws Error if rows differ in length.
Array array2d(std::initializer_list<std::initializer_list<Real>> rows,
              SourceLocation location = SourceLocation::current());
Array column(const std::vector<Real>& values);
// Arrays of a shape. (Indices({2, 3}) would be the vector of the numbers 2 and 3.) A global variable
// of the same name is ambiguous under `using namespace heed`; a local one is not.
Indices indices(const Shape& shape, std::int64_t value = 0);
Mask mask(const Shape& shape, bool value = false);

// The value of an omitted optional argument, such as the bias of a Linear layer without bias. Its
// shape is (0).
const Array& undefined_array();
bool is_defined(const Array& x);

Real item(const Array& x);  // the only element of x; throws Error if x.size() is not 1

}  // namespace HEED_NAMESPACE
