// timer.cpp: HEED_TRACE=time, which adds up the time of each operation.

#include "heed/debug/timer.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "heed/base/text.hpp"
#include "heed/debug/trace.hpp"

namespace HEED_NAMESPACE {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point start, Clock::time_point end) {
  return std::chrono::duration<double>(end - start).count();
}

struct Times {
  std::mutex mutex;
  std::vector<OperationTime> operations;
  std::size_t passes = 0;
  Clock::time_point first, last;  // start of the first and end of the last operation
};

// The Times object is never freed, because destructors of static objects may run operations.
Times& times() {
  static Times* const instance = new Times;
  return *instance;
}

// The total time of one operation in one phase (forward, backward or no_grad). A linear search
// suffices for a few dozen operations.
OperationTime::Sum& sum_for(std::string_view name, Phase phase) {
  std::vector<OperationTime>& all = times().operations;
  auto found = std::find_if(all.begin(), all.end(), [&](const auto& o) { return o.name == name; });
  if (found == all.end()) found = all.insert(all.end(), {name, {}, {}, {}});
  return phase == Phase::forward    ? found->forward
         : phase == Phase::backward ? found->backward
                                    : found->no_grad;
}

std::string line(const char* format, std::string_view name, double a, double b, double percent) {
  char text[96];
  std::snprintf(text, sizeof text, format, static_cast<int>(name.size()), name.data(), a, b,
                percent);
  return text;
}

// On its first call, registers a function that prints the table when the program exits normally.
void print_at_exit() {
  static const bool registered = std::atexit([] {
                                   for (const std::string& line : lines_of(time_table()))
                                     trace_line(line);
                                 }) == 0;
  static_cast<void>(registered);
}

// The operations that run on this thread, the innermost last.
struct Started {
  std::string_view op;
  Phase phase;
  Clock::time_point start;
};
thread_local std::vector<Started> running_operations;

}  // namespace

void Timer::begin(std::string_view op, Phase phase) {
  running_operations.push_back({op, phase, Clock::now()});
}

void Timer::end() {
  if (running_operations.empty()) return;  // the timer was turned on while the operation ran
  const Clock::time_point now = Clock::now();
  const auto [op, phase, start] = running_operations.back();
  running_operations.pop_back();
  print_at_exit();
  const std::lock_guard lock(times().mutex);
  if (times().operations.empty()) times().first = start;
  times().last = now;
  OperationTime::Sum& sum = sum_for(op, phase);
  ++sum.calls;
  sum.seconds += seconds_between(start, now);
}

void Timer::begin_pass(const NodeList&) {
  const std::lock_guard lock(times().mutex);
  ++times().passes;
}

std::vector<OperationTime> operation_times() {
  const std::lock_guard lock(times().mutex);
  std::vector<OperationTime> sorted = times().operations;
  const auto total = [](const OperationTime& o) {
    return o.forward.seconds + o.backward.seconds + o.no_grad.seconds;
  };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const auto& a, const auto& b) { return total(a) > total(b); });
  return sorted;
}

std::size_t timed_passes() {
  const std::lock_guard lock(times().mutex);
  return times().passes;
}

void clear_operation_times() {
  const std::lock_guard lock(times().mutex);
  times().operations.clear();
  times().passes = 0;
}

std::string time_table() {
  const std::vector<OperationTime> all = operation_times();
  if (all.empty()) return "";
  const std::size_t passes = timed_passes();
  const double ms = 1000 / static_cast<double>(std::max<std::size_t>(passes, 1));
  const auto forward = [&](const OperationTime& o) {
    return (passes == 0 ? o.forward.seconds + o.no_grad.seconds : o.forward.seconds) * ms;
  };
  double listed = 0, without_grad = 0;
  for (const OperationTime& o : all) {
    listed += forward(o) + o.backward.seconds * ms;
    if (passes > 0) without_grad += o.no_grad.seconds * ms;
  }
  const double elapsed = seconds_between(times().first, times().last) * ms;
  std::string text =
      std::string("HEED_TRACE=time: ") +
      (passes == 0   ? std::string("total milliseconds, without a backward pass")
       : passes == 1 ? "1 backward pass, milliseconds"
                     : std::to_string(passes) + " backward passes, milliseconds per pass") +
      "\noperation          forward ms  backward ms    share\n";
  for (const OperationTime& o : all)
    if (const double backward = o.backward.seconds * ms; forward(o) + backward > 0)
      text += line("%-18.*s %10.3f  %11.3f  %5.1f %%\n", o.name, forward(o), backward,
                   100 * (forward(o) + backward) / listed);
  text += line("%-18.*s %10.3f\n", "sum of these", listed, 0, 0);
  if (passes > 0) text += line("%-18.*s %10.3f\n", "without gradients", without_grad, 0, 0);
  return text + line("%-18.*s %10.3f\n", "other", elapsed - listed - without_grad, 0, 0);
}

}  // namespace HEED_NAMESPACE
