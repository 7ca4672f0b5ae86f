// memory_check.hpp: checks, before allocating, that a training run fits in memory.
#pragma once

#include <cstdint>
#include <string>

#include "heed/app/options.hpp"

namespace heed::app {

// What this process may still use, in bytes: physical memory and virtual address space. They
// differ because OpenBLAS reserves addresses (see usable_addresses()).
struct AvailableMemory {
  double memory, addresses;
};
AvailableMemory available_memory();

// An empty string if the run fits, for a vocabulary of model.vocab_size tokens. Otherwise an error
// text: the sizes, the memory they need, the memory available, and for each size flag its largest
// value with which the run fits if the others stay.
std::string memory_shortage(const TrainCommand& command, int threads,
                            const AvailableMemory& available);

// Throws Error with the text of memory_shortage() unless that is empty.
void check_memory(const TrainCommand& command);

}  // namespace heed::app
