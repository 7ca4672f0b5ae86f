// memory_check.cpp: checks, before allocating, that a run fits in memory and can start its threads.

#include "commands/train/memory_check.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/machine.hpp"
#include "commands/flags.hpp"
#include "commands/terminal.hpp"
#include "heed/array/parallel.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/train/training_memory.hpp"

namespace heed::app {
namespace {

// The address space in bytes that one thread reserves: its stack and a 128 MB buffer of OpenBLAS
// (in Debian's build). OpenBLAS hangs if it cannot allocate this buffer.
constexpr double addresses_per_thread = 150e6;

// The same for oneDNN, whose library takes 60 MB.
constexpr double addresses_of_onednn = 100e6;

std::string size_text(double bytes) {
  if (bytes < 999.5e6) return decimal(std::ceil(bytes / 1e6), 0) + " MB";
  if (bytes < 999.5e9) return decimal(bytes / 1e9, 1) + " GB";
  return grouped(std::ceil(bytes / 1e9)) + " GB";
}

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
                           " of memory (" + size_text(memory.weights) +
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

// The kernel counts the buffers of all threads, so all are mapped at once. A page that is never
// written takes no memory. oneDNN is loaded later, so there must be room for it and its code, too.
void check_blas_buffers() {
  const auto threads = static_cast<std::size_t>(num_threads());
  std::vector<double> sizes(threads, addresses_per_thread);
  sizes.push_back(addresses_of_onednn);
  std::vector<std::pair<void*, std::size_t>> mapped;
  for (const double size : sizes) {
    const auto bytes = static_cast<std::size_t>(size);
    constexpr int access = PROT_READ | PROT_WRITE, kind = MAP_PRIVATE | MAP_ANONYMOUS;
    void* const buffer = ::mmap(nullptr, bytes, access, kind, -1, 0);
    if (buffer == MAP_FAILED) break;
    mapped.emplace_back(buffer, bytes);
  }
  const bool fits = mapped.size() == sizes.size();
  for (const auto& [buffer, bytes] : mapped) ::munmap(buffer, bytes);
  if (!fits)
    throw_error("matrix products need ",
                size_text(addresses_per_thread * num_threads() + addresses_of_onednn),
                " of address space for ", counted(threads, "thread"),
                ", more than the limits of this process (ulimit -v, ulimit -d) leave; raise them",
                threads > 1 ? ", or use fewer --threads" : "");
}

// Limits of the user (ulimit -u) and of a container may both be the reason, so the threads are
// started. None ends before all have been started.
void check_threads(int threads) {
  if (const char* const variable = std::getenv("OMP_NUM_THREADS");
      variable != nullptr && threads == 1024 && std::atoi(variable) > 1024)
    note("OMP_NUM_THREADS is " + std::string(variable) + "; heed uses 1024 threads, its maximum");
  std::mutex starting;
  std::unique_lock<std::mutex> lock(starting);
  std::vector<std::thread> started;
  try {
    for (int i = 1; i < threads; ++i)
      started.emplace_back([&] { const std::lock_guard<std::mutex> wait(starting); });
  } catch (const std::system_error&) {
  }
  lock.unlock();
  for (std::thread& thread : started) thread.join();
  if (const auto running = static_cast<int>(started.size()) + 1; running < threads)
    throw_error("only ", running, " of ", threads,
                " threads can be started; raise the limit on processes (ulimit -u), or use "
                "--threads ",
                running);
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
