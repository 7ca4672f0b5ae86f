// timing.hpp: the time that each operation takes; HEED_TRACE=time prints it when the program ends.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "heed/array/precision.hpp"

namespace HEED_NAMESPACE {

enum class Phase {
  forward,  // of an operation that is recorded in the graph; also an optimizer step
  backward,
  no_grad  // forward of an operation that is not recorded: evaluation, sampling
};

struct OperationTime {
  struct Sum {
    std::size_t calls = 0;
    double seconds = 0;
  };
  std::string_view name;  // "Linear"
  Sum forward, backward, no_grad;
};

// The times since the program start or the last clear_operation_times(), the longest first.
std::vector<OperationTime> operation_times();
std::size_t timed_passes();  // backward passes since then
void clear_operation_times();

// A table of milliseconds per backward pass (the total, if there was none) for each operation;
// empty when nothing was timed:
//   operation     forward ms  backward ms    share
//   Linear            16.812       31.406   61.3 %
std::string time_table();

// Adds the time from its construction to its destruction, if TraceOption::time is on. The name must
// live as long as the program. Timers of several threads must not overlap.
class OperationTimer {
 public:
  OperationTimer(std::string_view name, Phase phase);
  ~OperationTimer() {
    if (enabled_) stop();
  }
  OperationTimer(const OperationTimer&) = delete;
  OperationTimer& operator=(const OperationTimer&) = delete;

 private:
  void stop() const;

  std::string_view name_;
  Phase phase_;
  bool enabled_;
  std::chrono::steady_clock::time_point start_;
};

// Counts one more backward pass.
void count_backward_pass();

}  // namespace HEED_NAMESPACE
