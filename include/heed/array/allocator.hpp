// allocator.hpp: the allocator of every Array: 64-byte alignment, and freed memory that is reused.
#pragma once

#include <cstddef>

#include "heed/array/precision.hpp"

namespace HEED_NAMESPACE {

// Bytes that arrays hold now, and the largest value of that since the program began or
// reset_peak_bytes().
std::size_t allocated_bytes();
std::size_t peak_allocated_bytes();
void reset_peak_bytes();

void* allocate_bytes(std::size_t bytes);  // aligned to 64 bytes; throws std::bad_alloc
void free_bytes(void* buffer, std::size_t bytes) noexcept;  // the same `bytes` as allocated

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

}  // namespace HEED_NAMESPACE
