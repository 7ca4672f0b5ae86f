// memory_check.hpp: checks, before allocating, that a run fits in memory and can start its threads.
#pragma once

#include <string>

#include "commands/options.hpp"
#include "heed/array/parallel.hpp"

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

// Throws Error if OpenBLAS could not map a buffer for each of num_threads() threads: it would then
// try again forever.
void check_blas_buffers();

// Throws Error if so many threads cannot run at once: OpenMP would end the program. Prints a note
// if OMP_NUM_THREADS is larger than the maximum, 1024. Call it before OpenMP starts its threads.
void check_threads(int threads = num_threads());

}  // namespace heed::app
