// pool.hpp: 64-byte-aligned buffers that are kept when freed and handed out again.
//
// A training step makes and drops the same few hundred arrays every time. Asking the system for
// each of them costs a third of the step (page faults); keeping them costs nothing.
#pragma once

#include <cstddef>

namespace heed {

// What the pool has done since the program began.
struct PoolStatistics {
  std::size_t system_allocations;  // times the system was asked for memory
  std::size_t system_bytes;        // bytes held from the system now, in use or waiting
  std::size_t bytes_in_use;        // bytes handed out now
  std::size_t peak_bytes_in_use;   // the most at any time since the program or reset_pool_peak()
};

PoolStatistics pool_statistics();
void reset_pool_peak();  // to what is in use now

void* pool_allocate(std::size_t bytes);                       // throws std::bad_alloc
void pool_release(void* buffer, std::size_t bytes) noexcept;  // the same `bytes` as allocated

// The allocator of every Array.
template <class T>
struct PoolAllocator {
  using value_type = T;
  PoolAllocator() = default;
  template <class U>
  PoolAllocator(const PoolAllocator<U>&) {}

  T* allocate(std::size_t n) { return static_cast<T*>(pool_allocate(n * sizeof(T))); }
  void deallocate(T* p, std::size_t n) noexcept { pool_release(p, n * sizeof(T)); }

  friend bool operator==(const PoolAllocator&, const PoolAllocator&) { return true; }
  friend bool operator!=(const PoolAllocator&, const PoolAllocator&) { return false; }
};

}  // namespace heed
