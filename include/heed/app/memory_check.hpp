// memory_check.hpp: is there memory for what was asked? Told before any is taken.
#pragma once

#include <cstdint>
#include <string>

#include "heed/app/options.hpp"

namespace heed::app {

// What the run may take in bytes; `addresses` are more than memory where OpenBLAS sets some aside
// (see usable_addresses()).
struct AvailableMemory {
  double memory, addresses;
};
AvailableMemory available_memory();

// Empty when it fits, for a text of model.vocab_size symbols. Otherwise why not: sizes, how much
// they need and there is, and each flag that would do alone, with its largest value that fits.
std::string memory_shortage(const TrainCommand& command, int threads, const AvailableMemory& room);

// Throws Error with memory_shortage().
void check_memory(const TrainCommand& command);

}  // namespace heed::app
