// trainer_state.cpp: saving and restoring the state of a Trainer.

#include <cmath>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "array/reduce.hpp"
#include "heed/base/error.hpp"
#include "heed/train/trainer.hpp"
#include "train/first_nonfinite.hpp"

namespace HEED_NAMESPACE {
namespace {

// The arrays of the state that belong to the parameters.
optim::State part_of(const optim::State& state, const std::vector<Tensor>& parameters) {
  optim::State part{{}, state.step};
  for (const auto& [name, array] : state.arrays)
    for (const Tensor& parameter : parameters)
      if (name.rfind(parameter.name() + ".exp_avg", 0) == 0) part.arrays.emplace_back(name, array);
  return part;
}

}  // namespace

TrainerState Trainer::state() const {
  TrainerState state{options_,          step_,   history_,         pending_,
                     loss_sum_,         ms_sum_, batches_.state(), dropout_generator_.state(),
                     optimizer_.state()};
  if (splits_optimizer()) gather_moments(state.optimizer);
  std::string message = first_nonfinite_value(parameters_);
  for (const auto& [name, moment] : state.optimizer.arrays)
    if (message.empty() && !all_finite(moment)) message = "optimizer." + name + " is not finite";
  if (!message.empty()) throw Diverged(message + " after" + step_description(step_));
  return state;
}

// Loads the state into copies first, so that an error leaves the trainer unchanged. A run records a
// history row and a validation loss at its last step even if they are not due. If the restored run
// continues after this step, restore() removes the row or the loss that was not due.
void Trainer::restore(const TrainerState& state) {
  if (state.step < 0 || state.pending < 0 || state.pending > state.step)
    throw_error("Trainer: the state has ", state.step, " steps and ", state.pending,
                " pending ones; give 0 <= pending <= step");
  if (!(state.pending_loss >= 0 && state.pending_ms >= 0) || std::isinf(state.pending_loss) ||
      std::isinf(state.pending_ms))
    throw_error("Trainer: the state has the sums pending_loss = ", state.pending_loss,
                " and pending_ms = ", state.pending_ms, "; give finite ones of at least 0");
  optim::AdamW optimizer = optimizer_;
  Batches batches = batches_;
  Generator dropout_generator = dropout_generator_;
  optimizer.set_state(splits_optimizer() ? part_of(state.optimizer, optimizer.parameters())
                                         : state.optimizer);
  batches.set_state(state.batch_generator);
  dropout_generator.set_state(state.dropout_generator);
  optimizer_ = std::move(optimizer);
  batches_ = batches;
  dropout_generator_ = dropout_generator;
  step_ = state.step;
  pending_ = state.pending;
  loss_sum_ = state.pending_loss;
  ms_sum_ = state.pending_ms;
  history_ = state.history;
  if (done() || history_.empty() || history_.back().step != step_) return;
  if (pending_ > 0)
    history_.pop_back();
  else if (step_ % options_.eval_every != 0)
    history_.back().val_loss.reset();
}

// Replaces the moments of the own parameters by those of all parameters, in their usual order. Only
// rank 0 keeps them.
void Trainer::gather_moments(optim::State& state) const {
  std::unordered_map<std::string, const Array*> own;
  for (const auto& [name, array] : state.arrays) own[name] = &array;
  optim::State all{{}, state.step};
  for (const char* kind : {".exp_avg", ".exp_avg_sq"})
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const std::string name = parameters_.tensors()[i].name() + kind;
      std::string bytes;
      if (const auto found = own.find(name); found != own.end())
        bytes.assign(reinterpret_cast<const char*>(found->second->data()),
                     found->second->size() * sizeof(Real));
      bytes = first_text(bytes);
      if (communicator_->rank() != 0) continue;
      Array moment = zeros(parameters_.tensors()[i].shape());
      std::memcpy(moment.data(), bytes.data(), bytes.size());
      all.arrays.emplace_back(name, std::move(moment));
    }
  state = std::move(all);
}

}  // namespace HEED_NAMESPACE
