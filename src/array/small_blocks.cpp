// small_blocks.cpp: memory for small objects, in lists of free blocks, one per size and thread.

#include "heed/array/small_blocks.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

namespace HEED_NAMESPACE {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool keeps_blocks = false;  // AddressSanitizer must see each allocation
#elif defined(__has_feature)
constexpr bool keeps_blocks = !__has_feature(address_sanitizer);
#else
constexpr bool keeps_blocks = true;
#endif

constexpr std::size_t unit = 32;             // sizes are rounded up to a multiple of this
constexpr std::size_t slab_bytes = 1 << 16;  // the memory that is taken from operator new at once
constexpr std::align_val_t alignment{64};

// A free block, whose memory holds the link to the next free block.
struct FreeBlock {
  FreeBlock* next;
};

// The free blocks of one size: a list of blocks that were in use, and the unused rest of a slab.
struct BlockList {
  FreeBlock* first;
  std::byte *fresh, *end;
};
using BlockLists = std::array<BlockList, max_small_bytes / unit>;

// The lists have no destructor, because static arrays are freed after those of a thread have run.
static thread_local BlockLists lists;

// The blocks of threads that have ended.
static std::mutex shared_mutex;
static std::array<FreeBlock*, max_small_bytes / unit> shared;

// Gives the blocks of a thread that ends to the other threads.
struct AtThreadEnd {
  ~AtThreadEnd() {
    const std::lock_guard<std::mutex> lock(shared_mutex);
    for (std::size_t i = 0; i < lists.size(); ++i) {
      BlockList& list = lists[i];
      for (; list.fresh != list.end; list.fresh += (i + 1) * unit)
        list.first = new (list.fresh) FreeBlock{list.first};
      if (list.first == nullptr) continue;
      FreeBlock** last = &list.first;
      while (*last != nullptr) last = &(*last)->next;
      *last = std::exchange(shared[i], std::exchange(list.first, nullptr));
    }
  }
};

static void give_blocks_back_at_thread_end() {
  static thread_local const AtThreadEnd at_thread_end;
  static_cast<void>(at_thread_end);
}

// Gets blocks for an empty list: those of ended threads or, if there are none, a new slab.
static void refill(BlockList& list, std::size_t i) {
  give_blocks_back_at_thread_end();
  {
    const std::lock_guard<std::mutex> lock(shared_mutex);
    list.first = std::exchange(shared[i], nullptr);
  }
  const std::size_t size = (i + 1) * unit;
  if (list.first != nullptr) return;
  list.fresh = static_cast<std::byte*>(::operator new(slab_bytes, alignment));
  list.end = list.fresh + slab_bytes / size * size;
}

void* allocate_small(std::size_t bytes) {
  const std::size_t i = (bytes - 1) / unit;
  if (!keeps_blocks) return ::operator new((i + 1) * unit, alignment);
  BlockList& list = lists[i];
  if (list.first == nullptr && list.fresh == list.end) refill(list, i);
  if (list.first != nullptr) return std::exchange(list.first, list.first->next);
  return std::exchange(list.fresh, list.fresh + (i + 1) * unit);
}

void free_small(void* block, std::size_t bytes) noexcept {
  if (!keeps_blocks) return ::operator delete(block, alignment);
  BlockList& list = lists[(bytes - 1) / unit];
  if (list.first == nullptr) give_blocks_back_at_thread_end();
  list.first = new (block) FreeBlock{list.first};
}

}  // namespace HEED_NAMESPACE
