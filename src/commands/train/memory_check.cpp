// memory_check.cpp: checks, before allocating, that a run fits in memory.

#include "commands/train/memory_check.hpp"

#include <algorithm>
#include <vector>

#include "base/machine.hpp"
#include "commands/thread_check.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/train/training_memory.hpp"

namespace heed::app {
namespace {

// A command line flag for a size that the user can reduce, such as --layers.
struct SizeOption {
  const char* flag;
  std::size_t& value;
  std::size_t step;  // the value must be a multiple of `step`

  std::string text(std::size_t other_value) const {
    return std::string(flag) + " " + std::to_string(other_value);
  }
};

std::vector<SizeOption> size_options(TrainCommand& c) {
  return {{"--batch-size", c.training.batch_size, c.training.shards},
          {"--block-size", c.model.block_size, 1},
          {"--layers", c.model.layers, 1},
          {"--embed-dim", c.model.embed_dim,
           c.model.heads * (c.model.positions == nn::PositionKind::rotary ? 2 : 1)}};
}

// Finds by bisection the largest value of `option` with which training fits in memory, or 0 if no
// value fits. All other options stay unchanged. `option.value` refers to a member of `command`.
std::size_t largest_fitting_value(SizeOption option, const TrainCommand& command, double memory) {
  const std::size_t original = option.value;
  std::size_t fits = 0, too_large = original / option.step;
  while (too_large - fits > 1) {
    const std::size_t middle = fits + (too_large - fits) / 2;
    option.value = middle * option.step;
    const double required = training_memory(command.model, command.training).total();
    (required <= memory ? fits : too_large) = middle;
  }
  option.value = original;
  return fits * option.step;
}

}  // namespace

std::string memory_shortage(const TrainCommand& command, int threads,
                            const AvailableMemory& available) {
  const TrainingMemory memory = training_memory(command.model, command.training);
  const double for_threads = threads * addresses_per_thread;
  const double usable = std::min(available.memory, available.addresses - for_threads);
  if (memory.total() <= usable) return "";
  std::vector<std::string> sizes, fitting;
  TrainCommand varied = command;
  for (const SizeOption& option : size_options(varied)) {
    sizes.push_back(option.text(option.value));
    if (const std::size_t value = largest_fitting_value(option, varied, usable); value > 0)
      fitting.push_back(option.text(value));
  }
  const std::string text = listed(sizes, "and") + " need about " + size_text(memory.total()) +
                           " of memory (" + size_text(memory.parameters_and_state) +
                           " for weights, gradients and moments, " + size_text(memory.activations) +
                           " for a step)";
  std::string remedy =
      fitting.empty() ? "reduce several of them" : listed(fitting, "or") + " would fit";
  if (available.memory <= available.addresses - for_threads)
    return text + ", but only " + size_text(available.memory) + " are available; " + remedy;
  if (usable <= 0) remedy = threads > 1 ? "use fewer --threads" : "";
  return text + ", and " + counted(static_cast<std::size_t>(threads), "thread") + " " +
         size_text(for_threads) + " of address space; the limit (ulimit -v) leaves " +
         size_text(available.addresses) + "; raise it" + (remedy.empty() ? "" : ", or " + remedy);
}

void check_memory(const TrainCommand& command, std::size_t processes) {
  const AvailableMemory available{static_cast<double>(usable_memory(processes)),
                                  static_cast<double>(usable_addresses())};
  const std::string shortage = memory_shortage(command, num_threads(), available);
  if (shortage.empty()) return;
  throw_error(shortage, processes == 1 ? std::string()
                                       : "; each of the " + std::to_string(processes) +
                                             " processes has an equal part of the memory, so "
                                             "fewer --processes leave more");
}

}  // namespace heed::app
