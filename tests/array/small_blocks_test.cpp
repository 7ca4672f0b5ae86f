// small_blocks_test.cpp: reuse of small blocks by the same thread and by other threads.

#include "heed/array/small_blocks.hpp"

#include <cstdint>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "catch.hpp"
#include "sanitized.hpp"

using namespace heed;

TEST_CASE("small blocks are aligned and hold what was written to each", "[array][memory]") {
  std::vector<std::pair<unsigned char*, std::size_t>> blocks;
  for (int round = 0; round < 3; ++round)
    for (std::size_t bytes = 1; bytes <= max_small_bytes; bytes += 31) {
      auto* const block = static_cast<unsigned char*>(allocate_small(bytes));
      CHECK(reinterpret_cast<std::uintptr_t>(block) % (bytes % 64 == 0 ? 64 : 32) == 0);
      std::memset(block, static_cast<int>(blocks.size() % 251), bytes);
      blocks.emplace_back(block, bytes);
    }
  std::size_t changed = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i)
    for (std::size_t k = 0; k < blocks[i].second; ++k) changed += blocks[i].first[k] != i % 251;
  CHECK(changed == 0);
  for (const auto& [block, bytes] : blocks) free_small(block, bytes);
}

TEST_CASE("a freed small block is used for the next of its size", "[array][memory]") {
  if (heed_test::sanitized) return;
  void* const block = allocate_small(100);
  free_small(block, 100);
  void* const other = allocate_small(200);
  void* const again = allocate_small(97);  // the sizes 97 to 128 share blocks
  CHECK(again == block);
  CHECK(other != block);
  free_small(again, 97);
  free_small(other, 200);
}

TEST_CASE("the small blocks of two threads that ended are both used again", "[array][memory]") {
  if (heed_test::sanitized) return;
  std::set<void*> freed, used;
  std::thread([&] {
    void* const outer = allocate_small(1000);
    std::thread([&] {
      void* const inner = allocate_small(1000);
      freed = {outer, inner};
      free_small(inner, 1000);
    }).join();
    free_small(outer, 1000);
  }).join();
  std::thread([&] {
    for (int i = 0; i < 2 * 64; ++i) used.insert(allocate_small(1000));
  }).join();
  for (void* const block : freed) CHECK(used.count(block) == 1);
}

TEST_CASE("the small blocks of a thread that ended are used by other threads", "[array][memory]") {
  if (heed_test::sanitized) return;
  std::set<void*> blocks;
  for (int i = 0; i < 50; ++i) {  // a slab has 64 blocks of this size
    std::thread([&] {
      void* const block = allocate_small(1000);
      blocks.insert(block);
      free_small(block, 1000);
    }).join();
    std::thread([] { free_small(allocate_small(40), 40); }).join();  // has no block of that size
  }
  CHECK(blocks.size() <= 64);
  std::vector<void*> here;
  for (int i = 0; i < 200; ++i) here.push_back(allocate_small(1000));
  std::size_t reused = 0;
  for (void* const block : here) reused += blocks.count(block);
  CHECK(reused == blocks.size());
  for (void* const block : here) free_small(block, 1000);
}
