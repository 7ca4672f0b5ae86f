// array.cpp: array allocation (aligned, with a caching allocator) and constructors.

#include "heed/array/array.hpp"

#include <algorithm>
#include <atomic>
#include <new>
#include <string>

#include "heed/array/shape.hpp"
#include "heed/array/small_blocks.hpp"
#include "heed/base/error.hpp"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace HEED_NAMESPACE {

constexpr std::align_val_t alignment{64};  // size of a cache line and of the widest SIMD register

// Every training step allocates and frees the same few hundred arrays. By default glibc's malloc
// returns large freed blocks to the system; allocating them again as zeroed pages takes a third of
// the time of a step.
static bool keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the largest mmap threshold that glibc accepts
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, 16 << 20);
#endif
  return true;
}

static std::atomic<std::size_t> in_use{0}, peak{0};

std::size_t allocated_bytes() { return in_use; }
std::size_t peak_allocated_bytes() { return peak; }
void reset_peak_bytes() { peak = in_use.load(); }

alignas(64) static std::byte no_elements[64];  // the memory of all arrays of size 0

static bool is_small(std::size_t bytes) { return bytes <= max_small_bytes; }
static std::size_t rounded(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

namespace {

class OutOfMemory : public std::bad_alloc {
 public:
  explicit OutOfMemory(std::size_t bytes)
      : text_("out of memory: an array of " + std::to_string(bytes) + " bytes") {}
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

void* allocate_large(std::size_t bytes) {
  if (void* const buffer = ::operator new(bytes, alignment, std::nothrow)) return buffer;
  throw OutOfMemory(bytes);
}

}  // namespace

void* allocate_bytes(std::size_t bytes) {
  static const bool configured = keep_freed_memory();
  static_cast<void>(configured);
  if (bytes == 0) return no_elements;
  void* const buffer = is_small(bytes) ? allocate_small(rounded(bytes)) : allocate_large(bytes);
  const std::size_t now = in_use += bytes;
  std::size_t largest = peak;
  while (now > largest && !peak.compare_exchange_weak(largest, now)) continue;
  return buffer;
}

void free_bytes(void* buffer, std::size_t bytes) noexcept {
  if (buffer == nullptr || bytes == 0) return;
  in_use -= bytes;
  if (is_small(bytes))
    free_small(buffer, rounded(bytes));
  else
    ::operator delete(buffer, alignment);
}

Array uninitialized(const Shape& shape) {
  numel(shape);  // throws if the number of elements overflows
  return Array::from_shape(shape);
}

Array filled(const Shape& shape, Real value) {
  Array x = uninitialized(shape);
  std::fill_n(x.data(), x.size(), value);
  return x;
}

Array zeros(const Shape& shape) { return filled(shape, 0); }
Array ones(const Shape& shape) { return filled(shape, 1); }
Array scalar(Real value) { return filled({}, value); }

Array array2d(std::initializer_list<std::initializer_list<Real>> rows, SourceLocation location) {
  const CallSite site(location);
  const std::size_t columns = rows.size() == 0 ? 0 : rows.begin()->size();
  Array x = uninitialized({rows.size(), columns});
  Real* to = x.data();
  for (const std::initializer_list<Real>& row : rows) {
    if (row.size() != columns)
      throw_error("array2d: rows of ", columns, " and of ", row.size(),
                  " numbers; all rows need the same length");
    to = std::copy(row.begin(), row.end(), to);
  }
  return x;
}

Array column(const std::vector<Real>& values) {
  Array x = uninitialized({values.size(), 1});
  std::copy(values.begin(), values.end(), x.data());
  return x;
}

Indices indices(const Shape& shape, std::int64_t value) {
  numel(shape);
  Indices x = Indices::from_shape(Indices::shape_type(shape.begin(), shape.end()));
  std::fill(x.begin(), x.end(), value);
  return x;
}

Mask mask(const Shape& shape, bool value) {
  numel(shape);
  Mask x = Mask::from_shape(Mask::shape_type(shape.begin(), shape.end()));
  std::fill(x.begin(), x.end(), value);
  return x;
}

const Array& undefined_array() {
  static const Array empty = uninitialized({0});
  return empty;
}

bool is_defined(const Array& x) { return x.dimension() != 1 || x.size() != 0; }

Real item(const Array& x) {
  if (x.size() != 1) throw_error("item: needs exactly one element, got shape ", str(x.shape()));
  return x.data()[0];
}

}  // namespace HEED_NAMESPACE
