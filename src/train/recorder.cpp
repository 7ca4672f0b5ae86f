// recorder.cpp: Recorder, which keeps states of a training loop, so that it can go back to any
// step.

#include "heed/train/recorder.hpp"

#include <algorithm>

#include "heed/base/error.hpp"

namespace HEED_NAMESPACE {

std::int64_t record_spacing(std::int64_t every, std::int64_t steps) {
  while (steps / every >= max_recorded) every *= 2;
  return every;
}

bool is_recorded(std::int64_t every, std::int64_t step) {
  return every > 0 && step % record_spacing(every, step) == 0;
}

Recorder::Recorder(const Parameters& parameters, optim::Optimizer& optimizer, Generator& generator,
                   std::int64_t every)
    : parameters_(parameters), optimizer_(optimizer), generator_(generator), every_(every) {
  if (every < 1) throw_error("Recorder: every ", every, " must be at least 1");
  keep();
}

void Recorder::keep() {
  State state{{}, optimizer_.state(), optimizer_.lr(), generator_.state()};
  for (const Tensor& parameter : parameters_) state.values.push_back(parameter.value());
  states_[steps_] = std::move(state);
  const std::int64_t spacing = record_spacing(every_, std::max(steps_, most_steps_));
  for (auto i = states_.begin(); i != states_.end();)
    i = i->first % spacing != 0 ? states_.erase(i) : std::next(i);
}

void Recorder::step() {
  ++steps_;
  if (steps_ > most_steps_ && is_recorded(every_, steps_)) keep();
  most_steps_ = std::max(most_steps_, steps_);
}

void Recorder::go_back(std::int64_t step) {
  if (step < 0 || step > most_steps_)
    throw_error("Recorder: step ", step, " must be from 0 to ", most_steps_,
                ", the steps that were done");
  const auto& [kept, state] = *std::prev(states_.upper_bound(step));
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    parameters_.tensors()[i].mutable_value() = state.values[i];
  optimizer_.set_state(state.optimizer);
  optimizer_.set_lr(state.lr);
  optimizer_.zero_grad();
  generator_.set_state(state.generator);
  steps_ = kept;
}

}  // namespace HEED_NAMESPACE
