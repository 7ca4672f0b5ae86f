// timing.hpp: where a program's time goes, by operation; HEED_TRACE=time prints it at the end.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace heed {

enum class Phase {
  forward,   // a result that is linked, or a part of a step that is no operation (AdamW)
  backward,  // a gradient sent on
  no_grad    // a result nothing will be sent back from: evaluation, sampling
};

struct OperationTime {
  struct Sum {
    std::size_t calls = 0;
    double seconds = 0;
  };
  std::string_view name;  // "Linear"
  Sum forward, backward, no_grad;
};

// What was counted since the program began or cleared it, the longest first.
std::vector<OperationTime> operation_times();
std::size_t timed_passes();  // backward passes among it
void clear_operation_times();

// Milliseconds a backward pass (without one, in all) by operation; empty when nothing is counted:
//   operation     forward ms  backward ms    share
//   Linear            16.812       31.406   61.3 %
std::string time_table();

// Counts the time until it is destroyed, when TraceOption::time is given. For code on one thread at
// a time; the name must live as long as the program.
class Timer {
 public:
  Timer(std::string_view name, Phase phase);
  ~Timer() {
    if (counts_) stop();
  }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

 private:
  void stop() const;

  std::string_view name_;
  Phase phase_;
  bool counts_;
  std::chrono::steady_clock::time_point start_;
};

// A backward pass begins.
void count_backward_pass();

}  // namespace heed
