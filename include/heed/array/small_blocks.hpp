// small_blocks.hpp: memory for small objects, of which a graph of scalars has millions: small
// arrays, nodes and their lists of inputs.
#pragma once

#include <cstddef>
#include <new>

#include "heed/array/precision.hpp"

namespace HEED_NAMESPACE {

// The size of the largest block that allocate_small() returns, in bytes.
inline constexpr std::size_t max_small_bytes = 1024;

// Returns a block of `bytes` bytes, 1 to max_small_bytes, aligned to 64 bytes if `bytes` is a
// multiple of 64, else to 32 bytes. Throws bad_alloc. free_small needs the same number of bytes. It
// keeps the block for the next allocation of this size on the thread that frees it, which then
// takes a few nanoseconds; malloc takes a hundred for aligned memory. Other threads get the block
// when that thread has ended.
void* allocate_small(std::size_t bytes);
void free_small(void* block, std::size_t bytes) noexcept;

// An allocator for standard containers and allocate_shared whose small blocks are kept when freed.
template <class T>
struct SmallAllocator {
  using value_type = T;
  SmallAllocator() = default;
  template <class U>
  SmallAllocator(const SmallAllocator<U>&) {}

  T* allocate(std::size_t n) {
    const std::size_t bytes = n * sizeof(T);
    return static_cast<T*>(bytes <= max_small_bytes ? allocate_small(bytes)
                                                    : ::operator new(bytes));
  }
  void deallocate(T* p, std::size_t n) noexcept {
    if (n * sizeof(T) <= max_small_bytes)
      free_small(p, n * sizeof(T));
    else
      ::operator delete(p);
  }

  friend bool operator==(const SmallAllocator&, const SmallAllocator&) { return true; }
  friend bool operator!=(const SmallAllocator&, const SmallAllocator&) { return false; }
};

}  // namespace HEED_NAMESPACE
