// memory_check.hpp: checks, before allocating, that a training run fits in memory.
#pragma once

#include <string>

#include "heed/app/options.hpp"

namespace heed::app {

// The physical memory and the virtual address space that this process can still use, in bytes.
// They differ because OpenBLAS reserves addresses that it hardly uses (see usable_addresses()).
struct AvailableMemory {
  double memory, addresses;
};

// Returns an empty string if a run with model.vocab_size tokens in the vocabulary fits in memory.
// Otherwise returns an error text: the sizes, the memory required, the memory available, and for
// each size flag the largest value that fits while the other flags stay unchanged.
std::string memory_shortage(const TrainCommand& command, int threads,
                            const AvailableMemory& available);

// Throws Error with the text of memory_shortage() if the run does not fit in memory.
void check_memory(const TrainCommand& command);

}  // namespace heed::app
