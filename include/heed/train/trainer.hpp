// trainer.hpp: Trainer, which trains a GPT on a text.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heed/base/error.hpp"
#include "heed/nn/gpt.hpp"
#include "heed/optim/adamw.hpp"
#include "heed/optim/schedule.hpp"
#include "heed/text/corpus.hpp"
#include "heed/train/loss_csv.hpp"

namespace HEED_NAMESPACE {

// The hyperparameters of a run. The defaults are from nanoGPT's character-level example for a CPU.
struct TrainOptions {
  std::size_t batch_size = 12;    // number of token windows per step
  std::int64_t steps = 2000;      // number of steps (updates)
  double lr = 1e-3;               // maximum learning rate, after the warmup
  double min_lr = 1e-4;           // final learning rate
  std::int64_t warmup = 100;      // steps of linear warmup
  std::int64_t decay_steps = 0;   // steps until the learning rate reaches min_lr; 0 means `steps`
  double weight_decay = 0.1;      // weight decay of matrices; 0 for biases and layer norm weights
  double beta1 = 0.9;             // AdamW's decay rate of the first moment
  double beta2 = 0.99;            // AdamW's decay rate of the second moment
  double clip = 1;                // the maximum gradient norm; 0 means no clipping
  double dropout = 0;             // dropout probability; 0 means no dropout
  std::uint64_t seed = 1337;      // seed of all random generators
  std::int64_t eval_every = 250;  // steps between two evaluations
  std::size_t eval_batches = 20;  // number of validation batches per evaluation
  std::int64_t log_every = 10;    // steps between two rows of the loss history
  std::size_t shards = 1;         // parts of a batch whose gradients are computed separately
};

// The learning rate schedule that `options` define.
optim::WarmupCosine schedule_of(const TrainOptions& options);

// Thrown when the loss or a gradient of a step is infinite or NaN (the step changes no weight), and
// when the validation loss, a weight or a moment is infinite or NaN after a step.
struct Diverged : Error {
  using Error::Error;
};

// What a Trainer needs, besides its parameters, to resume a run with bit-identical results.
struct TrainerState {
  TrainOptions options;                            // options of the saved run
  std::int64_t step = 0;                           // number of updates done
  std::vector<LogRow> history;                     // all rows of the loss history
  std::int64_t pending = 0;                        // updates since the last history row
  double pending_loss = 0, pending_ms = 0;         // sums of loss and ms since the last row
  std::string batch_generator, dropout_generator;  // Generator::state() of both generators
  optim::State optimizer;                          // AdamW's moments and step count
};

// A model in training, with its optimizer and random generators. The same options and text give
// bit-identical results for any number of threads, also if a run is resumed from a checkpoint.
class Trainer {
 public:
  // The corpus must outlive the trainer. Throws the errors of Gpt and AdamW, and Error if the
  // training or validation split is not longer than block_size, if log_every, eval_every or
  // eval_batches is below 1 or eval_batches above 1e9, if the model is not causal, or if `shards`
  // is not 1: DataParallel trains with more.
  Trainer(const Corpus& corpus, const nn::GptConfig& config, const TrainOptions& options);
  virtual ~Trainer() = default;
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  // Does one training step. Returns a new row of the loss history if a row is due: after step 1,
  // every log_every steps, at every evaluation and after the last step. Throws Diverged with the
  // step, its learning rate and gradient norm, and the first operation and parameter with a value
  // that is not finite.
  std::optional<LogRow> step();
  bool done() const { return step_ >= options_.steps; }

  // The mean loss over eval_batches validation batches, which are the same in every call.
  double validation_loss() const;

  std::int64_t steps_done() const { return step_; }  // number of updates
  // Accessors: the rows that step() returned, the model, its parameters and the run's options.
  const std::vector<LogRow>& history() const { return history_; }
  const nn::Gpt& model() const { return model_; }
  const Parameters& parameters() const { return parameters_; }
  const TrainOptions& options() const { return options_; }
  // Of the latest step: the norm of the gradient before clipping, and the learning rate.
  double grad_norm() const { return grad_norm_; }
  double lr() const { return optimizer_.lr(); }

  // Calls `hook` in each step after the backward pass, before the gradients are clipped and used.
  using GradientHook = std::function<void(const Batch& batch, double loss)>;
  void set_gradient_hook(GradientHook hook) { gradient_hook_ = std::move(hook); }

  // The current state, for restore(). Throws Diverged if a parameter or a moment is not finite.
  TrainerState state() const;
  // Sets this trainer to a saved state; the caller restores the parameters. If this run has more
  // steps than the saved run, removes the history row that was recorded only because the saved run
  // ended. Throws Error, and changes nothing, if the optimizer or generator states do not fit.
  virtual void restore(TrainerState state);

 protected:
  // Any number of shards. The optimizer updates the parameters that updated() selects.
  using Selection = std::function<std::vector<Tensor>(const Parameters&)>;
  Trainer(const Corpus& corpus, const nn::GptConfig& config, const TrainOptions& options,
          const Selection& updated);

  // Updates the parameters once: forward, backward, gradient clipping, optimizer. Returns the loss.
  virtual double train_on(const Batch& batch);
  // Clips the gradients of the batch. Throws Diverged if the loss or their norm is not finite.
  void clip_gradients(double loss, const Batch& batch);
  // The mean loss over the windows of a batch, with dropout masks of the generator.
  Tensor loss_of(const Batch& batch, Generator& dropout) const;
  // The losses of the validation batches `first`, first + stride, first + 2 stride, ...
  std::vector<double> validation_losses(std::size_t first, std::size_t stride) const;
  // The losses of this process's validation batches, and from these, the losses of all batches.
  virtual std::vector<double> own_validation_losses() const { return validation_losses(0, 1); }
  virtual std::vector<double> all_validation_losses() const { return own_validation_losses(); }
  // Repeats the step of this batch, and describes the first value that is not finite.
  virtual std::string cause_of_failure(const Batch& batch) const;
  // The cause in the text of Diverged. With several processes, `own` is what this process has
  // found, and all of them get the same text.
  virtual std::string agreed_cause(const std::string& own) const { return own; }
  // AdamW's moments of all parameters, and its step count.
  virtual optim::State optimizer_state() const { return optimizer_.state(); }

  const TrainOptions options_;  // the run's options
  Parameters parameters_;       // the model's parameters
  const nn::Gpt model_;         // the model in training
  optim::AdamW optimizer_;      // updates all parameters, or those selected in the constructor
  std::int64_t step_ = 0;       // number of updates

 private:
  std::string description_of(std::int64_t step) const;  // a text such as " step 3, at ..."
  double checked_validation_loss() const;
  bool row_is_due() const;
  LogRow finish_row();

  Batches batches_;
  Split validation_;
  Generator dropout_generator_;  // the random generator of the dropout masks
  Generator step_generator_;     // a copy made before the step, to repeat it
  std::vector<LogRow> history_;
  double loss_sum_ = 0, ms_sum_ = 0;  // sums of loss and ms since the last row
  std::int64_t pending_ = 0;          // number of steps since the last row of the history
  double grad_norm_ = 0;              // gradient norm of the latest step, before clipping
  GradientHook gradient_hook_;
};

}  // namespace HEED_NAMESPACE
