// memory_check.cpp: a model larger than memory is refused, with what would fit.

#include "heed/app/memory_check.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "heed/array/parallel.hpp"
#include "heed/base/error.hpp"
#include "heed/base/machine.hpp"
#include "heed/base/text.hpp"
#include "heed/train/memory.hpp"

namespace heed::app {
namespace {

// What OpenBLAS sets aside for each thread that multiplies (128 MB as Debian builds it; little of
// it becomes memory), and the thread's stack. Without these addresses it waits for ever.
constexpr double thread_addresses = 150e6;

std::string size_text(double bytes) {
  if (bytes < 999.5e6) return decimal(std::ceil(bytes / 1e6), 0) + " MB";
  if (bytes < 999.5e9) return decimal(bytes / 1e9, 1) + " GB";
  return grouped(std::ceil(bytes / 1e9)) + " GB";
}

double need(const TrainCommand& c) { return training_memory(c.model, c.training).total(); }

// A size that can be made smaller.
struct SizeOption {
  const char* flag;
  std::size_t& value;
  std::size_t step;  // it is a multiple of this
};

std::vector<SizeOption> knobs(TrainCommand& c) {
  return {{"--batch-size", c.training.batch_size, 1},
          {"--block-size", c.model.block_size, 1},
          {"--layers", c.model.layers, 1},
          {"--embed-dim", c.model.embed_dim, c.model.heads}};
}

// The largest value that fits while the others stay, 0 when there is none: by halving the distance
// between one that fits and one that does not.
std::size_t largest(SizeOption knob, const TrainCommand& command, double memory) {
  const std::size_t asked = knob.value;
  std::size_t fits = 0, not_fits = asked / knob.step;
  while (not_fits - fits > 1) {
    const std::size_t middle = fits + (not_fits - fits) / 2;
    knob.value = middle * knob.step;
    (need(command) <= memory ? fits : not_fits) = middle;
  }
  knob.value = asked;
  return fits * knob.step;
}

std::string remedy(TrainCommand command, double memory) {
  std::vector<std::string> ways;
  for (const SizeOption& knob : knobs(command))
    if (const std::size_t value = largest(knob, command, memory); value > 0)
      ways.push_back(std::string(knob.flag) + " " + std::to_string(value));
  if (ways.empty()) return "make several of them smaller";
  std::string text;
  for (std::size_t i = 0; i < ways.size(); ++i)
    text += (i == 0 ? "" : i + 1 == ways.size() ? " or " : ", ") + ways[i];
  return text + " would fit";
}

std::string sizes_text(TrainCommand command) {
  std::string text;
  for (const SizeOption& knob : knobs(command))
    text += (text.empty()                              ? ""
             : &knob.value == &command.model.embed_dim ? " and "
                                                       : ", ") +
            (knob.flag + (" " + std::to_string(knob.value)));
  return text;
}

}  // namespace

AvailableMemory available_memory() {
  return {static_cast<double>(usable_memory()), static_cast<double>(usable_addresses())};
}

std::string memory_shortage(const TrainCommand& command, int threads, const AvailableMemory& room) {
  const TrainingMemory memory = training_memory(command.model, command.training);
  const double for_threads = threads * thread_addresses;
  const double left = std::min(room.memory, room.addresses - for_threads);
  if (memory.total() <= left) return "";
  std::string text = sizes_text(command) + " need about " + size_text(memory.total()) +
                     " of memory (" + size_text(memory.weights) +
                     " for weights, gradients and moments, " + size_text(memory.activations) +
                     " for a step)";
  if (room.memory <= room.addresses - for_threads)
    return text + ", and there are " + size_text(room.memory) + "; " + remedy(command, left);
  text += ", and " + std::to_string(threads) + (threads == 1 ? " thread " : " threads ") +
          size_text(for_threads) + " of addresses; the limit (ulimit -v) leaves " +
          size_text(room.addresses) + "; ";
  if (left <= 0) return text + (threads > 1 ? "raise it, or use fewer --threads" : "raise it");
  return text + "raise it, or " + remedy(command, left);
}

void check_memory(const TrainCommand& command) {
  const std::string lack = memory_shortage(command, num_threads(), available_memory());
  if (!lack.empty()) throw_error(lack);
}

}  // namespace heed::app
