// trainer.hpp: Trainer, which trains a GPT on a text, and an estimate of the memory that it needs.
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
#include "heed/parallel/gradient_exchange.hpp"
#include "heed/parallel/tree_sum.hpp"
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

// How the processes of a run share the work of a Trainer. No member changes a bit of the result.
struct Distribution {
  Communicator* communicator = nullptr;  // null: the trainer is the only process of its run
  ExchangeOptions exchange = {};         // how gradients are sent
  bool zero = false;                     // split AdamW's moments over the processes (ZeRO stage 1)
  // The number of the signal that has asked this process to stop, or 0. Called once in each step.
  std::function<int()> stop_signal = {};
};

// The memory that training needs, in bytes, as double because an integer could overflow.
struct TrainingMemory {
  double weights;      // weights, gradients, AdamW's two moments, and copies made when saving
  double activations;  // memory that the forward pass of a step keeps for the backward pass
  double total() const { return weights + activations; }  // the sum of both, in bytes
};

// Estimates the memory that training needs. In units of sizeof(Real) bytes, with P parameters, B =
// batch_size, T = block_size, C = embed_dim, L layers, H heads and V = vocab_size, the terms are:
//   weights      5 P: weights, gradients, 2 moments and the copy of 1 moment; saving copies both
//                moments, but one copy takes the memory of the gradients, which are freed before
//   activations  B T (18 C L + 10 C + 3 V) for GPT-2: in each layer, the outputs of two norms,
//   query,
//                key, value, heads, out and two residual additions (9 C), up and GELU (8 C), down
//                (1 C); with grouped queries, key and value are narrower, rotary positions add the
//                rotated query and key, SwiGLU has four outputs of its width; outside the layers,
//                embeddings, the final norm and temporary gradients (10 C), logits, probabilities
//                and their gradients (3 V)
//   with dropout, another B T L (7 H T + 11 C): attention weights and dropout masks
// With S shards, B is the size of a shard, and the sums of gradients take another P log2 S.
// The estimate is within 20 % of the measured memory of runs. The estimate excludes the text and
// about 11 MB for the program.
TrainingMemory training_memory(const nn::GptConfig& model, const TrainOptions& options);

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
//
// The unit of work is a shard: batch_size / shards windows. Each shard's gradient is computed by
// itself, the gradients are added by the tree of tree_sum.hpp and multiplied by 1 / shards. Each of
// P processes computes shards / P consecutive shards, so the number of processes changes no bit
// either. (Another number of shards does.) Dropout masks depend on the step and the shard.
class Trainer {
 public:
  // The corpus must outlive the trainer, and so must the communicator. Throws the errors of Gpt and
  // AdamW, and Error if the training or validation split is not longer than block_size, if
  // log_every, eval_every or eval_batches is below 1 or eval_batches above 1e9, if `shards` is not
  // a power of two that divides batch_size, if there are more processes than shards, or if the
  // model is not causal.
  Trainer(const Corpus& corpus, const nn::GptConfig& config, const TrainOptions& options,
          const Distribution& distribution = {});

  // Does one training step. With several processes, step(), validation_loss() and, with
  // Distribution::zero, state() are collective. Returns a new row of the loss history if a row is
  // due: after step 1, every log_every steps, at every evaluation and after the last step. Throws
  // Diverged with the step, its learning rate and gradient norm, and the first operation and
  // parameter with a value that is not finite.
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
  std::size_t processes() const { return communicator_->size(); }  // that share this run
  // Whether state() is collective, because every process has only a part of AdamW's moments.
  bool splits_optimizer() const { return !owners_.empty(); }
  // The signal that has asked one of the processes to stop, or 0. All processes agree on it at the
  // end of each step.
  int stop_signal() const { return stop_signal_; }
  // What was exchanged since the start, or null if there is one process.
  const ExchangeStatistics* exchange_statistics() const;

  // The current state, for restore(). Throws Diverged if a parameter or a moment is not finite.
  TrainerState state() const;
  // Sets this trainer to a saved state; the caller restores the parameters. If this run has more
  // steps than the saved run, removes the history row that was recorded only because the saved run
  // ended. Throws Error, and changes nothing, if the optimizer or generator states do not fit.
  void restore(const TrainerState& state);

 private:
  double compute_gradients();
  double sum_gradients();
  double agree_on_loss(double loss);
  Tensor shard_loss(const Batch& batch, std::size_t shard);
  void backward_of_last_shard(const Tensor& loss);
  std::size_t num_own_shards() const { return options_.shards / communicator_->size(); }
  std::vector<double> own_validation_losses() const;
  void gather_moments(optim::State& state) const;
  [[noreturn]] void throw_diverged(double loss, const std::function<Batch()>& same_batch);
  std::string first_text(const std::string& text) const;
  double checked_validation_loss() const;
  std::string step_description(std::int64_t step) const;  // a text such as " step 3, at ..."
  LogRow finish_row();
  bool row_is_due() const;

  TrainOptions options_;
  Generator init_generator_;     // the random generator of the initial weights
  Generator dropout_generator_;  // the random generator of the dropout masks
  SingleProcess alone_;          // the communicator of a run of one process
  Communicator* communicator_;   // the given one, or `alone_`
  std::function<int()> read_stop_signal_;
  Parameters parameters_;
  nn::Gpt model_;
  std::vector<std::size_t> owners_;  // with ZeRO, the rank that updates each parameter
  optim::AdamW optimizer_;           // with ZeRO, of the parameters that this rank owns
  optim::WarmupCosine schedule_;
  Batches batches_;
  Split validation_;

  std::int64_t step_ = 0;
  std::vector<LogRow> history_;
  double loss_sum_ = 0, ms_sum_ = 0;  // sums of loss and ms since the last row
  std::int64_t pending_ = 0;          // number of steps since the last row of the history
  double last_lr_ = 0, last_norm_ = 0;
  int stop_signal_ = 0;

  std::vector<TreeSum> shard_sums_;  // the sums of this process's shards, one for each parameter
  std::unique_ptr<GradientExchange> exchange_;  // null if there is one process
};

}  // namespace HEED_NAMESPACE
