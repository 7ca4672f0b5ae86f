// memory_check.cpp: checks, before allocating, that a training run fits in memory.

#include "heed/app/memory_check.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "app/flags.hpp"
#include "heed/array/parallel.hpp"
#include "heed/base/error.hpp"
#include "heed/base/machine.hpp"
#include "heed/base/text.hpp"
#include "heed/train/memory.hpp"

namespace heed::app {
namespace {

// Address space that OpenBLAS reserves per thread (128 MB in Debian's build; it uses little of it
// as memory), and the thread's stack. If the reservation fails, OpenBLAS hangs.
constexpr double addresses_per_thread = 150e6;

std::string size_text(double bytes) {
  if (bytes < 999.5e6) return decimal(std::ceil(bytes / 1e6), 0) + " MB";
  if (bytes < 999.5e9) return decimal(bytes / 1e9, 1) + " GB";
  return grouped(std::ceil(bytes / 1e9)) + " GB";
}

double required_memory(const TrainCommand& c) {
  return training_memory(c.model, c.training).total();
}

// A size that the user can reduce.
struct SizeOption {
  const char* flag;
  std::size_t& value;
  std::size_t step;  // the value must be a multiple of this
};

std::vector<SizeOption> size_options(TrainCommand& c) {
  return {{"--batch-size", c.training.batch_size, 1},
          {"--block-size", c.model.block_size, 1},
          {"--layers", c.model.layers, 1},
          {"--embed-dim", c.model.embed_dim, c.model.heads}};
}

std::string flag_text(const char* flag, std::size_t value) {
  return flag + (" " + std::to_string(value));
}

// By bisection: the largest value of the option with which the command fits if the other options
// stay; 0 if there is none.
std::size_t largest_fitting_value(SizeOption option, const TrainCommand& command, double memory) {
  const std::size_t original = option.value;
  std::size_t fits = 0, too_large = original / option.step;
  while (too_large - fits > 1) {
    const std::size_t middle = fits + (too_large - fits) / 2;
    option.value = middle * option.step;
    (required_memory(command) <= memory ? fits : too_large) = middle;
  }
  option.value = original;
  return fits * option.step;
}

std::string remedy(TrainCommand command, double memory) {
  std::vector<std::string> flags;
  for (const SizeOption& option : size_options(command))
    if (const std::size_t value = largest_fitting_value(option, command, memory); value > 0)
      flags.push_back(flag_text(option.flag, value));
  return flags.empty() ? "reduce several of them" : listed(flags, "or") + " would fit";
}

std::string sizes_text(TrainCommand command) {
  std::vector<std::string> flags;
  for (const SizeOption& option : size_options(command))
    flags.push_back(flag_text(option.flag, option.value));
  return listed(flags, "and");
}

}  // namespace

AvailableMemory available_memory() {
  return {static_cast<double>(usable_memory()), static_cast<double>(usable_addresses())};
}

std::string memory_shortage(const TrainCommand& command, int threads,
                            const AvailableMemory& available) {
  const TrainingMemory memory = training_memory(command.model, command.training);
  const double for_threads = threads * addresses_per_thread;
  const double usable = std::min(available.memory, available.addresses - for_threads);
  if (memory.total() <= usable) return "";
  std::string text = sizes_text(command) + " need about " + size_text(memory.total()) +
                     " of memory (" + size_text(memory.weights) +
                     " for weights, gradients and moments, " + size_text(memory.activations) +
                     " for a step)";
  if (available.memory <= available.addresses - for_threads)
    return text + ", but only " + size_text(available.memory) + " are available; " +
           remedy(command, usable);
  text += ", and " + counted(static_cast<std::size_t>(threads), "thread") + " " +
          size_text(for_threads) + " of addresses; the limit (ulimit -v) leaves " +
          size_text(available.addresses) + "; ";
  if (usable <= 0) return text + (threads > 1 ? "raise it, or use fewer --threads" : "raise it");
  return text + "raise it, or " + remedy(command, usable);
}

void check_memory(const TrainCommand& command) {
  const std::string shortage = memory_shortage(command, num_threads(), available_memory());
  if (!shortage.empty()) throw_error(shortage);
}

}  // namespace heed::app
