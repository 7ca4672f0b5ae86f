// trainer.hpp: Trainer, which trains a GPT on a text.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heed/base/error.hpp"
#include "heed/nn/gpt.hpp"
#include "heed/optim/adamw.hpp"
#include "heed/optim/schedule.hpp"
#include "heed/text/batches.hpp"
#include "heed/train/loss_csv.hpp"

namespace HEED_NAMESPACE {

// The hyperparameters; the defaults are nanoGPT's for characters on a CPU.
struct TrainOptions {
  std::size_t batch_size = 12;  // windows per step
  std::int64_t steps = 2000;
  double lr = 1e-3;
  double min_lr = 1e-4;
  std::int64_t warmup = 100;
  std::int64_t decay_steps = 0;  // steps until the learning rate is min_lr; 0: `steps`
  double weight_decay = 0.1;     // for matrices only, not for norms and biases
  double beta1 = 0.9;
  double beta2 = 0.99;
  double clip = 1;  // the largest gradient norm; 0: no clipping
  double dropout = 0;
  std::uint64_t seed = 1337;
  std::int64_t eval_every = 250;
  std::size_t eval_batches = 20;
  std::int64_t log_every = 10;
};

// The learning rate schedule of these options.
optim::WarmupCosine schedule_of(const TrainOptions& options);

// Thrown when a value is infinite or NaN: the loss or a gradient of a step, which then changes no
// weight; or the validation loss, a weight or a moment after a step.
struct Diverged : Error {
  using Error::Error;
};

// What a trainer needs besides its parameters to continue bit for bit.
struct TrainerState {
  TrainOptions options;
  std::int64_t step = 0;  // updates done
  std::vector<LogRow> history;
  std::int64_t pending = 0;                 // updates since the last row of the history
  double pending_loss = 0, pending_ms = 0;  // of these updates, summed
  std::string batch_generator, dropout_generator;
  optim::State optimizer;
};

// A model in training, with its optimizer and random generators. The same options and text give the
// same bits, for any number of threads, also when a run is resumed from a checkpoint.
class Trainer {
 public:
  // The corpus must outlive the trainer. Throws Error when its training or validation part is not
  // longer than block_size, for log_every, eval_every or eval_batches below 1, for a model that is
  // not causal, and as Gpt and AdamW do.
  Trainer(const Corpus& corpus, const nn::GptConfig& config, const TrainOptions& options);

  // Does one update. Returns a row of the history after the first step, every log_every steps, at
  // every evaluation and after the last step. Throws Diverged with the step, its learning rate and
  // gradient norm, and the first operation and parameter with a value that is not finite.
  std::optional<LogRow> step();
  bool done() const { return step_ >= options_.steps; }

  // The mean loss over eval_batches batches of the validation part. The batches are always the
  // same.
  double validation_loss() const;

  std::int64_t steps_done() const { return step_; }
  const std::vector<LogRow>& history() const { return history_; }
  const nn::Gpt& model() const { return model_; }
  const Parameters& parameters() const { return parameters_; }
  const TrainOptions& options() const { return options_; }

  // The state to continue from here. Throws Diverged when a parameter or a moment is not finite.
  TrainerState state() const;
  // Continues from a state; the caller restores the parameters. If this trainer has more steps than
  // the saved run, the row that was written only because that run ended is removed. Throws Error,
  // and changes nothing, when the state of the optimizer or of a generator does not fit.
  void restore(const TrainerState& state);

 private:
  double compute_gradients();
  Tensor batch_loss();
  [[noreturn]] void throw_diverged(double loss, const std::function<Tensor()>& recompute_loss);
  double checked_validation_loss() const;
  void check_finite(const optim::State& optimizer) const;
  std::string step_description(std::int64_t step) const;  // " step 3, at learning rate ..."
  LogRow finish_row();
  bool row_is_due() const;
  void remove_last_row_of_shorter_run();

  TrainOptions options_;
  Generator init_generator_;     // draws the initial weights
  Generator dropout_generator_;  // draws the dropout masks
  Parameters parameters_;
  nn::Gpt model_;
  optim::AdamW optimizer_;
  optim::WarmupCosine schedule_;
  Batches batches_;
  Split validation_;

  std::int64_t step_ = 0;
  std::vector<LogRow> history_;
  double loss_sum_ = 0, ms_sum_ = 0;  // since the last row
  std::int64_t pending_ = 0;          // steps since the last row
  double last_lr_ = 0, last_norm_ = 0;
};

}  // namespace HEED_NAMESPACE
