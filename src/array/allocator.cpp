// allocator.cpp: the allocator of every Array: 64-byte alignment, and freed memory that is reused.

#include "heed/array/allocator.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace HEED_NAMESPACE {
namespace {

constexpr std::align_val_t alignment{64};  // a cache line, and the widest SIMD register

// A training step allocates and frees the same few hundred arrays every time. By default glibc's
// malloc returns large freed blocks to the system; getting them back as zeroed pages costs a third
// of a step.
bool keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the largest value that glibc accepts
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, 16 << 20);
#endif
  return true;
}

std::atomic<std::size_t> in_use{0}, peak{0};

}  // namespace

std::size_t allocated_bytes() { return in_use; }
std::size_t peak_allocated_bytes() { return peak; }
void reset_peak_bytes() { peak = in_use.load(); }

void* allocate_bytes(std::size_t bytes) {
  static const bool configured = keep_freed_memory();
  static_cast<void>(configured);
  void* const buffer = ::operator new(bytes, alignment);
  const std::size_t now = in_use += bytes;
  std::size_t largest = peak;
  while (now > largest && !peak.compare_exchange_weak(largest, now)) continue;
  return buffer;
}

void free_bytes(void* buffer, std::size_t bytes) noexcept {
  if (buffer == nullptr) return;
  in_use -= bytes;
  ::operator delete(buffer, alignment);
}

}  // namespace HEED_NAMESPACE
