// memory_check.hpp: checks, before allocating, that a run fits in memory.
#pragma once

#include <string>

#include "commands/train/options.hpp"

namespace heed::app {

// The physical memory and the virtual address space, in bytes, that this process can still use.
// Memory and address space differ because OpenBLAS reserves address space that it hardly uses.
struct AvailableMemory {
  double memory, addresses;
};

// Returns an error message if the training run does not fit in memory, otherwise an empty string.
// command.model.vocab_size must be set. The message has the size flags, the memory required and
// available, and for each size flag the largest value that fits if the other flags are unchanged.
std::string memory_shortage(const TrainCommand& command, int threads,
                            const AvailableMemory& available);

// Throws Error with the text of memory_shortage() if the run does not fit in memory. Each of
// `processes` processes on this machine can use an equal part of the memory.
void check_memory(const TrainCommand& command, std::size_t processes = 1);

}  // namespace heed::app
