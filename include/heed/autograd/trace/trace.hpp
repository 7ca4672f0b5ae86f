// trace.hpp: tracing of the autograd engine, controlled by the environment variable HEED_TRACE, and
// the measurement of the time that each operation takes.
//
// The value of HEED_TRACE is a list of options separated by commas, such as backward,nan. heed
// reads the environment variable when it is first needed.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/autograd/tensor.hpp"
#include "heed/base/error.hpp"

namespace HEED_NAMESPACE {

// The options of HEED_TRACE.
enum class TraceOption : unsigned {
  backward,    // prints a line for every node of every backward pass
  nan,         // throws NonFinite at the first value or gradient that is not finite
  provenance,  // every backward pass records the terms that contributions() returns
  time,        // prints time_table() when the program ends
  check,       // throws Error at the first node whose backward differs from central differences
};

// The exception that TraceOption::nan throws.
struct NonFinite : Error {
  // The message is "HEED_TRACE=nan: " and `what`.
  explicit NonFinite(const std::string& what)
      : Error("HEED_TRACE=nan: " + what), description(what) {}
  std::string description;  // "MatMul (3, 4) made at lessons/my.cpp:12 has nan at (0, 2); ..."
};

// Replaces the options of HEED_TRACE by `options` ("" turns all off). Throws Error, and changes
// nothing, for an unknown option. Do not call set_trace while another thread computes.
void set_trace(std::string_view options);

// The trace options that are on, in the format of set_trace.
std::string trace_options();

// Whether a trace option is on. Throws Error if HEED_TRACE contains an unknown option.
bool trace_enabled(TraceOption option);

// Sends trace lines, without newlines, to `output` instead of stderr. `output` must not throw.
void set_trace_output(std::function<void(const std::string& line)> output);

// Whether an operation has `static constexpr bool may_write_infinity = true`, which allows minus
// infinity in its result. For example, masked_fill writes minus infinity for masked scores.
template <class Op, class = void>
inline constexpr bool may_write_infinity = false;
template <class Op>
inline constexpr bool may_write_infinity<Op, std::void_t<decltype(Op::may_write_infinity)>> =
    Op::may_write_infinity;

// With TraceOption::nan, throws NonFinite when `value` contains NaN or plus infinity. Minus
// infinity is allowed if the operation may write it or an input contains it.
void check_finite(std::string_view op, bool may_write_infinity, SourceLocation location,
                  const Array& value, const NodeList& inputs);

// ---- the time of each operation

// The phase of training in which an operation runs.
enum class Phase {
  forward,   // the forward computation of an operation that the graph records, or an optimizer step
  backward,  // the backward of an operation
  no_grad    // the forward computation of any other operation, as in evaluation and generation
};

// The time of all operations with the same name.
struct OperationTime {
  // The number of calls and their total time in one phase.
  struct Sum {
    std::size_t calls = 0;  // number of calls
    double seconds = 0;     // total time of all calls
  };
  std::string_view name;           // "Linear"
  Sum forward, backward, no_grad;  // one sum for each Phase
};

// The time of each operation since the program start or clear_operation_times(), sorted from the
// longest time to the shortest.
std::vector<OperationTime> operation_times();
std::size_t timed_passes();  // the number of backward passes that operation_times() covers
void clear_operation_times();

// A table of the milliseconds that each operation took per backward pass (in total if there was no
// backward pass), or an empty text if no operation was timed. For example:
//   operation     forward ms  backward ms    share
//   Linear            16.812       31.406   61.3 %
std::string time_table();

// An OperationTimer adds its lifetime to operation_times() if TraceOption::time is on. `name` must
// stay valid until the program ends. Two threads must not have OperationTimers at the same time.
class OperationTimer {
 public:
  // Starts the timer, if TraceOption::time is on; the destructor stops it.
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

// Adds 1 to the number that timed_passes() returns.
void count_backward_pass();

}  // namespace HEED_NAMESPACE
