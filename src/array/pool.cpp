// pool.cpp: freed buffers wait in one list per size, and are handed out again.

#include "heed/array/pool.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <new>
#include <vector>

namespace heed {
namespace {

constexpr std::align_val_t alignment{64};  // a cache line, and the widest SIMD register

#if defined(__SANITIZE_ADDRESS__)
constexpr bool keep_buffers = false;  // so that the sanitizer sees a use after free
#else
constexpr bool keep_buffers = true;
#endif

struct Pool {
  std::mutex mutex;
  std::map<std::size_t, std::vector<void*>> waiting;  // by size
  PoolStatistics statistics{};
};

// Never destroyed: arrays in static storage may be freed after everything else.
Pool& pool() {
  static Pool* const instance = new Pool;
  return *instance;
}

// Sizes are rounded up to an eighth of their power of two, so that nearly equal requests share.
std::size_t rounded(std::size_t bytes) {
  std::size_t step = 64;
  while (step * 16 <= bytes) step *= 2;
  return (bytes + step - 1) / step * step;
}

void* take_waiting(Pool& p, std::size_t size) {
  const auto found = p.waiting.find(size);
  if (found == p.waiting.end() || found->second.empty()) return nullptr;
  void* const buffer = found->second.back();
  found->second.pop_back();
  return buffer;
}

// Memory that waits in other sizes is given back when the system has no more.
void* ask_system(Pool& p, std::size_t size) {
  try {
    return ::operator new(size, alignment);
  } catch (const std::bad_alloc&) {
    for (auto& [waiting_size, buffers] : p.waiting) {
      for (void* const buffer : buffers) ::operator delete(buffer, alignment);
      p.statistics.system_bytes -= waiting_size * buffers.size();
      buffers.clear();
    }
    return ::operator new(size, alignment);
  }
}

}  // namespace

PoolStatistics pool_statistics() {
  const std::lock_guard lock(pool().mutex);
  return pool().statistics;
}

void reset_pool_peak() {
  const std::lock_guard lock(pool().mutex);
  pool().statistics.peak_bytes_in_use = pool().statistics.bytes_in_use;
}

void* pool_allocate(std::size_t bytes) {
  if (bytes > static_cast<std::size_t>(-1) / 2) throw std::bad_alloc();
  const std::size_t size = rounded(bytes == 0 ? 1 : bytes);
  Pool& p = pool();
  const std::lock_guard lock(p.mutex);
  void* buffer = take_waiting(p, size);
  if (buffer == nullptr) {
    buffer = ask_system(p, size);
    ++p.statistics.system_allocations;
    p.statistics.system_bytes += size;
  }
  p.statistics.bytes_in_use += size;
  p.statistics.peak_bytes_in_use =
      std::max(p.statistics.peak_bytes_in_use, p.statistics.bytes_in_use);
  return buffer;
}

void pool_release(void* buffer, std::size_t bytes) noexcept {
  if (buffer == nullptr) return;
  const std::size_t size = rounded(bytes == 0 ? 1 : bytes);
  Pool& p = pool();
  const std::lock_guard lock(p.mutex);
  p.statistics.bytes_in_use -= size;
  if (keep_buffers) {
    try {
      p.waiting[size].push_back(buffer);
      return;
    } catch (const std::bad_alloc&) {  // no room to remember it: give it back
    }
  }
  ::operator delete(buffer, alignment);
  p.statistics.system_bytes -= size;
}

}  // namespace heed
