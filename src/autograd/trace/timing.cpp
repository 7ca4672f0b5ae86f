// timing.cpp: HEED_TRACE=time, which adds up how long each operation took.

#include "heed/autograd/trace/timing.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "autograd/trace/backward_trace.hpp"

namespace heed {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point start, Clock::time_point end) {
  return std::chrono::duration<double>(end - start).count();
}

struct Times {
  std::mutex mutex;
  std::vector<OperationTime> operations;
  std::size_t passes = 0;
  Clock::time_point first, last;  // when the first began and the last ended
};

// Never destroyed: arrays in static storage may be computed with after everything else.
Times& times() {
  static Times* const instance = new Times;
  return *instance;
}

// The sum that this call adds to. There are a few dozen names, and each is one string literal.
OperationTime::Sum& sum_of(std::string_view name, Phase phase) {
  std::vector<OperationTime>& all = times().operations;
  auto found = std::find_if(all.begin(), all.end(), [&](const auto& o) { return o.name == name; });
  if (found == all.end()) found = all.insert(all.end(), {name, {}, {}, {}});
  return phase == Phase::forward    ? found->forward
         : phase == Phase::backward ? found->backward
                                    : found->no_grad;
}

std::string line(const char* format, std::string_view name, double a, double b, double share) {
  char text[96];
  std::snprintf(text, sizeof text, format, static_cast<int>(name.size()), name.data(), a, b, share);
  return text;
}

void tell_lines(const std::string& text) {
  for (std::size_t begin = 0, end; (end = text.find('\n', begin)) != text.npos; begin = end + 1)
    tell(text.substr(begin, end - begin));
}

// Tells once, when the program ends by returning from main or by exit().
void tell_at_the_end() {
  static const bool registered = [] {
    return std::atexit([] { tell_lines(time_table()); }) == 0;
  }();
  static_cast<void>(registered);
}

}  // namespace

Timer::Timer(std::string_view name, Phase phase)
    : name_(name), phase_(phase), counts_(trace_enabled(TraceOption::time)) {
  if (!counts_) return;
  start_ = Clock::now();
}

void Timer::stop() const {
  const Clock::time_point now = Clock::now();
  tell_at_the_end();
  const std::lock_guard lock(times().mutex);
  if (times().operations.empty()) times().first = start_;
  times().last = now;
  OperationTime::Sum& sum = sum_of(name_, phase_);
  ++sum.calls;
  sum.seconds += seconds_between(start_, now);
}

void count_backward_pass() {
  if (!trace_enabled(TraceOption::time)) return;
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

// Of programs that send nothing back, what they computed without gradients.
std::string time_table() {
  const std::vector<OperationTime> all = operation_times();
  if (all.empty()) return "";
  const std::size_t passes = timed_passes();
  const double ms = 1000 / static_cast<double>(std::max<std::size_t>(passes, 1));
  const auto forward = [&](const OperationTime& o) {
    return (passes == 0 ? o.forward.seconds + o.no_grad.seconds : o.forward.seconds) * ms;
  };
  double shown = 0, outside = 0;
  for (const OperationTime& o : all) {
    shown += forward(o) + o.backward.seconds * ms;
    if (passes > 0) outside += o.no_grad.seconds * ms;
  }
  const double elapsed = seconds_between(times().first, times().last) * ms;
  std::string text =
      std::string("HEED_TRACE=time: ") +
      (passes == 0   ? std::string("no backward pass; milliseconds in all")
       : passes == 1 ? "1 backward pass; milliseconds"
                     : std::to_string(passes) + " backward passes; milliseconds a pass") +
      "\noperation          forward ms  backward ms    share\n";
  for (const OperationTime& o : all)
    if (const double backward = o.backward.seconds * ms; forward(o) + backward > 0)
      text += line("%-18.*s %10.3f  %11.3f  %5.1f %%\n", o.name, forward(o), backward,
                   100 * (forward(o) + backward) / shown);
  text += line("%-18.*s %10.3f\n", "all of these", shown, 0, 0);
  if (passes > 0) text += line("%-18.*s %10.3f\n", "without gradients", outside, 0, 0);
  return text + line("%-18.*s %10.3f\n", "the rest", elapsed - shown - outside, 0, 0);
}

}  // namespace heed
