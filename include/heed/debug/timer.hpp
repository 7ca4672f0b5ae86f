// timer.hpp: the time that each operation takes, which HEED_TRACE=time measures.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "heed/autograd/observer.hpp"

namespace HEED_NAMESPACE {

// The time of all operations with the same name.
struct OperationTime {
  // The number of calls and their total time in one phase.
  struct Sum {
    std::size_t calls = 0;  // number of calls
    double seconds = 0;     // total time of all calls
  };
  std::string_view name;           // such as "Linear"
  Sum forward, backward, no_grad;  // one sum for each Phase
};

// The time of each operation since the program start or clear_operation_times(), sorted from the
// longest time to the shortest. Operations are timed while TraceOption::time is on, and must not
// run on two threads at the same time.
std::vector<OperationTime> operation_times();
std::size_t timed_passes();  // the number of backward passes that operation_times() covers
void clear_operation_times();

// A table of the milliseconds that each operation took per backward pass (in total if there was no
// backward pass), or an empty text if no operation was timed. For example:
//   operation     forward ms  backward ms    share
//   Linear            16.812       31.406   61.3 %
std::string time_table();

// Adds up the times. HEED_TRACE=time turns it on, and prints time_table() when the program ends.
class Timer : public Observer {
 public:
  void begin(std::string_view op, Phase phase) override;
  void end() override;
  void begin_pass(const NodeList& nodes) override;
};

}  // namespace HEED_NAMESPACE
