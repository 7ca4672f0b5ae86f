// pool_test.cpp: buffers come back, aligned, and the books are right.

#include "heed/array/pool.hpp"

#include <cstdint>
#include <new>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "near.hpp"

namespace {

using namespace heed;

#if defined(__SANITIZE_ADDRESS__)
constexpr bool keeps_buffers = false;
#else
constexpr bool keeps_buffers = true;
#endif

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
