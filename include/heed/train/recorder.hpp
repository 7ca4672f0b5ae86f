// recorder.hpp: Recorder, which keeps states of a training loop, so that it can go back to any
// step.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "heed/nn/parameters.hpp"
#include "heed/optim/optimizer.hpp"

namespace HEED_NAMESPACE {

// A record keeps the state of a run every `every` steps, but at most max_recorded states: the first
// one, and 8 later ones. record_spacing() is the number of steps between the states of a run of so
// many steps: `every`, doubled as often as necessary. is_recorded(): whether the state after `step`
// steps is kept when the run gets there; `every` 0 keeps none.
constexpr std::int64_t max_recorded = 9;
std::int64_t record_spacing(std::int64_t every, std::int64_t steps);
bool is_recorded(std::int64_t every, std::int64_t step);

// Keeps in memory what determines the next steps of a training loop: the parameters, the state and
// the learning rate of the optimizer, and the generator that draws batches and dropout masks.
//
//   Recorder recorder(parameters, optimizer, generator);
//   while (recorder.steps() < 2000) {
//     ...                               // batch, loss, backward, optimizer.step()
//     recorder.step();
//   }
//   recorder.go_back(1340);             // now recorder.steps() is at most 1340, and the same loop
//                                       // computes the same bits again
class Recorder {
 public:
  // Keeps the current state as that after 0 steps. The three objects must outlive the recorder.
  // Throws Error if `every` is below 1.
  Recorder(const Parameters& parameters, optim::Optimizer& optimizer, Generator& generator,
           std::int64_t every = 50);

  // Call it after each update of the parameters.
  void step();
  std::int64_t steps() const { return steps_; }  // number of updates

  // Sets the three objects to the latest kept state of at most `step` steps, and clears the
  // gradients. Later states are kept. Throws Error unless 0 <= step <= the steps that were done.
  void go_back(std::int64_t step);

 private:
  struct State {
    std::vector<Array> values;
    optim::State optimizer;
    double lr;
    std::string generator;
  };
  void keep();

  const Parameters& parameters_;
  optim::Optimizer& optimizer_;
  Generator& generator_;
  std::int64_t every_, steps_ = 0, most_steps_ = 0;
  std::map<std::int64_t, State> states_;
};

}  // namespace HEED_NAMESPACE
