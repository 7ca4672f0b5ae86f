// pool_test.cpp: buffers come back, aligned, and the books are right.

#include "heed/array/pool.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "near.hpp"
#include "sanitized.hpp"

namespace {

using namespace heed;

#if defined(__SANITIZE_ADDRESS__)
constexpr bool keeps_buffers = false;
#else
constexpr bool keeps_buffers = true;
#endif

// This process may take `more` bytes beside what it has while this lives: a full memory to go.
class MemoryLimit {
 public:
  explicit MemoryLimit(rlim_t more) {
    ::getrlimit(RLIMIT_AS, &before_);
    rlim_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlimit limit{pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + more,
                       before_.rlim_max};
    if (pages != 0) ::setrlimit(RLIMIT_AS, &limit);
  }
  ~MemoryLimit() { ::setrlimit(RLIMIT_AS, &before_); }
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

  // A sanitizer ends the program where memory ends, and not every system keeps to a limit.
  static bool works() {
    if (heed_test::sanitized) return false;
    constexpr std::size_t more = 1 << 30;
    const MemoryLimit limit(more / 2);
    void* const got = ::mmap(nullptr, more, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (got != MAP_FAILED) ::munmap(got, more);
    return got == MAP_FAILED;
  }

 private:
  rlimit before_{};
};

// Everything that malloc still has, down to the smallest piece.
class AllMemory {
 public:
  AllMemory() {
    for (std::size_t size = 64 << 20; size >= sizeof(Piece); size -= size > 1024 ? size / 4 : 8)
      while (void* const memory = std::malloc(size)) pieces_ = new (memory) Piece{pieces_};
  }
  ~AllMemory() {
    while (pieces_ != nullptr) std::free(std::exchange(pieces_, pieces_->next));
  }
  AllMemory(const AllMemory&) = delete;
  AllMemory& operator=(const AllMemory&) = delete;

 private:
  struct Piece {
    Piece* next;
  };
  Piece* pieces_ = nullptr;
};

constexpr std::size_t megabyte = 1 << 20;

bool allocates(std::size_t bytes) {
  try {
    pool_release(pool_allocate(bytes), bytes);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace

TEST_CASE("every buffer begins on a multiple of 64 bytes", "[array][pool]") {
  for (const std::size_t bytes : {0u, 1u, 63u, 64u, 65u, 1000u, 4097u, 1u << 20u}) {
    void* const buffer = pool_allocate(bytes);
    CHECK(reinterpret_cast<std::uintptr_t>(buffer) % 64 == 0);
    pool_release(buffer, bytes);
  }
  for (std::size_t n = 1; n < 40; ++n)
    CHECK(reinterpret_cast<std::uintptr_t>(uninitialized({n}).data()) % 64 == 0);
}

TEST_CASE("a freed buffer is the next one of its size", "[array][pool]") {
  void* const first = pool_allocate(100000);
  pool_release(first, 100000);
  const std::size_t before = pool_statistics().system_allocations;
  void* const second = pool_allocate(100000);
  if (keeps_buffers) {
    CHECK(second == first);
    CHECK(pool_statistics().system_allocations == before);
  }
  pool_release(second, 100000);
}

TEST_CASE("two buffers in use are two buffers", "[array][pool]") {
  void* const first = pool_allocate(256);
  void* const second = pool_allocate(256);
  CHECK(first != second);
  pool_release(first, 256);
  pool_release(second, 256);
}

TEST_CASE("bytes in use rise by at most an eighth more than asked for, and fall back",
          "[array][pool]") {
  for (const std::size_t bytes : {1024u, 1500u, 5000u, 100001u}) {
    const PoolStatistics before = pool_statistics();
    void* const buffer = pool_allocate(bytes);
    const std::size_t taken = pool_statistics().bytes_in_use - before.bytes_in_use;
    CHECK(taken >= bytes);
    CHECK(taken <= bytes + bytes / 8 + 64);
    CHECK(pool_statistics().system_bytes >= pool_statistics().bytes_in_use);
    pool_release(buffer, bytes);
    CHECK(pool_statistics().bytes_in_use == before.bytes_in_use);
  }
}

TEST_CASE("a loop over arrays asks the system once", "[array][pool]") {
  if (!keeps_buffers) return;
  { const Array x = ones({333, 7}), y = ones({333, 7}); }
  const std::size_t before = pool_statistics().system_allocations;
  for (int i = 0; i < 100; ++i) const Array x = ones({333, 7}), y = ones({333, 7});
  CHECK(pool_statistics().system_allocations == before);
}

TEST_CASE("a request beyond all memory throws and leaves the books alone", "[array][pool]") {
  const std::size_t before = pool_statistics().bytes_in_use;
  CHECK_THROWS_AS(pool_allocate(static_cast<std::size_t>(-1)), std::bad_alloc);
  CHECK(pool_statistics().bytes_in_use == before);
  pool_release(nullptr, 64);  // nothing to give back
  CHECK(pool_statistics().bytes_in_use == before);
}

TEST_CASE("threads share the pool", "[array][pool]") {
  const std::size_t before = pool_statistics().bytes_in_use;
  const auto work = [] {
    for (std::size_t i = 0; i < 1000; ++i) {
      Array x = filled({i % 50 + 1}, static_cast<Real>(i));
      if (x.data()[0] != static_cast<Real>(i)) std::abort();
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  CHECK(pool_statistics().bytes_in_use == before);
}

TEST_CASE("buffers that wait are given back when the system has no more memory", "[array][pool]") {
  if (!MemoryLimit::works()) return;
  pool_release(pool_allocate(200 * megabyte), 200 * megabyte);
  const PoolStatistics before = pool_statistics();
  bool room = false;
  {
    const MemoryLimit limit(100 * megabyte);
    room = allocates(250 * megabyte);  // of another size: the one that waits is no use
  }
  CHECK(room);
  CHECK(pool_statistics().bytes_in_use == before.bytes_in_use);
  CHECK(pool_statistics().system_allocations == before.system_allocations + 1);
  CHECK(pool_statistics().system_bytes <= before.system_bytes + 56 * megabyte);
}

TEST_CASE("a request that even the buffers that wait cannot make room for throws",
          "[array][pool]") {
  if (!MemoryLimit::works()) return;
  void* const kept = pool_allocate(1000);
  pool_release(pool_allocate(2000), 2000);
  const std::size_t in_use = pool_statistics().bytes_in_use;
  bool room = true;
  {
    const MemoryLimit limit(100 * megabyte);
    room = allocates(2000 * megabyte);
  }
  CHECK_FALSE(room);
  CHECK(pool_statistics().bytes_in_use == in_use);
  CHECK(pool_statistics().system_bytes == in_use);  // nothing waits any more
  pool_release(kept, 1000);
}

TEST_CASE("buffers go back to the system when there is no memory to remember them by",
          "[array][pool]") {
  if (!MemoryLimit::works()) return;
  constexpr std::size_t size = 768 * 1024;
  std::vector<void*> buffers(100);  // more than have waited before: the list must grow
  for (void*& buffer : buffers) buffer = pool_allocate(size);
  const PoolStatistics before = pool_statistics();
  {
    const MemoryLimit limit(0);
    const AllMemory taken;
    for (void* const buffer : buffers) pool_release(buffer, size);
  }
  const PoolStatistics after = pool_statistics();
  CHECK(after.bytes_in_use == before.bytes_in_use - buffers.size() * size);
  const std::size_t went_back = (before.system_bytes - after.system_bytes) / size;
  CHECK(went_back > 0);
  CHECK(before.system_bytes - after.system_bytes == went_back * size);
  for (void*& buffer : buffers) buffer = pool_allocate(size);
  CHECK(pool_statistics().system_allocations == before.system_allocations + went_back);
  for (void* const buffer : buffers) pool_release(buffer, size);
}
