// allocator_test.cpp: arrays are aligned, their bytes are counted, and freed memory is reused.

#include <cstdint>
#include <cstdlib>
#include <new>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "heed/array/array.hpp"
#include "near.hpp"
#include "sanitized.hpp"

using namespace heed;

TEST_CASE("every buffer begins at a multiple of 64 bytes", "[array][allocator]") {
  for (const std::size_t bytes : {0u, 1u, 63u, 64u, 65u, 1000u, 4097u, 1u << 20u}) {
    void* const buffer = allocate_bytes(bytes);
    CHECK(reinterpret_cast<std::uintptr_t>(buffer) % 64 == 0);
    free_bytes(buffer, bytes);
  }
  for (std::size_t n = 1; n < 40; ++n)
    CHECK(reinterpret_cast<std::uintptr_t>(uninitialized({n}).data()) % 64 == 0);
}

TEST_CASE("two buffers in use are distinct", "[array][allocator]") {
  void* const first = allocate_bytes(256);
  void* const second = allocate_bytes(256);
  CHECK(first != second);
  free_bytes(first, 256);
  free_bytes(second, 256);
}

TEST_CASE("allocated bytes rise by what is requested and fall when it is freed",
          "[array][allocator]") {
  const std::size_t before = allocated_bytes();
  reset_peak_bytes();
  void* const buffer = allocate_bytes(100001);
  CHECK(allocated_bytes() == before + 100001);
  free_bytes(buffer, 100001);
  CHECK(allocated_bytes() == before);
  CHECK(peak_allocated_bytes() == before + 100001);
  reset_peak_bytes();
  CHECK(peak_allocated_bytes() == before);
}

TEST_CASE("a request larger than memory throws and counts nothing", "[array][allocator]") {
  if (heed_test::sanitized) return;  // AddressSanitizer ends the program at such a request
  const std::size_t before = allocated_bytes();
  CHECK_THROWS_AS(allocate_bytes(static_cast<std::size_t>(-1) / 2), std::bad_alloc);
  CHECK(allocated_bytes() == before);
  free_bytes(nullptr, 64);
  CHECK(allocated_bytes() == before);
}

TEST_CASE("several threads may allocate at once", "[array][allocator]") {
  const std::size_t before = allocated_bytes();
  const auto work = [] {
    for (std::size_t i = 0; i < 1000; ++i) {
      Array x = filled({i % 50 + 1}, static_cast<Real>(i));
      if (x.data()[0] != static_cast<Real>(i)) std::abort();
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  CHECK(allocated_bytes() == before);
}

TEST_CASE("an array that no memory can hold throws bad_alloc with its size", "[array][allocator]") {
  if (heed_test::sanitized) return;  // AddressSanitizer ends the program instead
  try {
    uninitialized({std::size_t{1} << 50});
    FAIL("no exception");
  } catch (const std::bad_alloc& error) {
    const std::string bytes = std::to_string((std::size_t{1} << 50) * sizeof(Real));
    CHECK(error.what() == "out of memory: an array of " + bytes + " bytes");
  }
}
