// trainer.hpp: teaches a GPT a text, one batch of windows at a time.
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

namespace heed {

// How to train; the defaults are nanoGPT's recipe for characters on a CPU.
struct TrainOptions {
  std::size_t batch_size = 12;  // windows in a step
  std::int64_t steps = 2000;
  double lr = 1e-3;
  double min_lr = 1e-4;
  std::int64_t warmup = 100;
  std::int64_t decay_steps = 0;  // when the rate has fallen to min_lr; 0: after `steps`
  double weight_decay = 0.1;     // of matrices, not of norms and biases
  double beta1 = 0.9;
  double beta2 = 0.99;
  double clip = 1;  // the largest gradient norm; 0 for any
  double dropout = 0;
  std::uint64_t seed = 1337;
  std::int64_t eval_every = 250;
  std::size_t eval_batches = 20;
  std::int64_t log_every = 10;
};

// The learning rate these options ask for, step by step.
optim::WarmupCosine schedule_of(const TrainOptions& options);

// A number is infinite or NaN: a loss or a gradient, with the weights as before the step; or the
// validation loss or a weight after it.
struct Diverged : Error {
  using Error::Error;
};

// All that a trainer needs, beside its parameters, to continue with the same bits.
struct TrainerState {
  TrainOptions options;
  std::int64_t step = 0;  // updates done
  std::vector<LogRow> history;
  std::int64_t pending = 0;                 // updates since the last row of the history
  double pending_loss = 0, pending_ms = 0;  // their sums
  std::string batch_generator, dropout_generator;
  optim::State optimizer;
};

// A model, its optimizer, and where in the text it is. The same options and text give the same
// bits, for any number of threads; a trainer restored from a checkpoint goes on with the same bits.
class Trainer {
 public:
  // The corpus must outlive the trainer. Throws Error when a part of it is not longer than
  // block_size, for log_every, eval_every or eval_batches below 1, for a model that is not causal,
  // and for what Gpt and AdamW refuse.
  Trainer(const Corpus& corpus, const nn::GptConfig& config, const TrainOptions& options);

  // One update. A row when one is due: after the first step, every log_every, at every evaluation
  // and after the last step. Throws Diverged, which says in which step, at which learning rate and
  // gradient norm, and which operation and which parameter went wrong first.
  std::optional<LogRow> step();
  bool done() const { return step_ >= options_.steps; }

  // The mean loss over eval_batches batches of the validation part, the same ones every time.
  double validation_loss() const;

  std::int64_t steps_done() const { return step_; }
  const std::vector<LogRow>& history() const { return history_; }
  const nn::Gpt& model() const { return model_; }
  const Parameters& parameters() const { return parameters_; }
  const TrainOptions& options() const { return options_; }

  // What continuing here exactly needs. Throws Diverged when a parameter or a moment is not finite.
  TrainerState state() const;
  // Continues from such a state; the caller restores the parameters. If this trainer is to do more
  // steps than the saved run was, the row that was written only because that run ended is removed.
  // Throws Error, and changes nothing, when the optimizer's or a generator's state does not fit.
  void restore(const TrainerState& state);

 private:
  double find_gradients();
  Tensor batch_loss();
  [[noreturn]] void throw_diverged(double loss, const std::function<Tensor()>& again);
  double checked_validation_loss() const;
  void check_finite(const optim::State& optimizer) const;
  std::string place(std::int64_t step) const;  // " step 3, at learning rate ..."
  LogRow finish_row();
  bool row_is_due() const;
  void reopen();

  TrainOptions options_;
  Generator initial_;  // draws the first weights
  Generator drops_;    // dropout
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

}  // namespace heed
