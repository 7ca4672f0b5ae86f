// trainer.cpp: the training loop of a Trainer, its evaluation and its state.

#include "heed/train/trainer.hpp"

#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "array/reduce.hpp"
#include "heed/autograd/backward.hpp"
#include "train/diverged.hpp"

namespace HEED_NAMESPACE {
namespace {

const TrainOptions& checked(const TrainOptions& options) {
  if (options.log_every < 1) throw_error("Trainer: log_every must be at least 1");
  if (options.eval_every < 1) throw_error("Trainer: eval_every must be at least 1");
  if (options.eval_batches < 1 || options.eval_batches > 1'000'000'000)
    throw_error("Trainer: eval_batches ", options.eval_batches, " must be from 1 to 1000000000");
  if (!(options.clip >= 0)) throw_error("Trainer: clip ", options.clip, " must be 0 or more");
  if (options.warmup < 0) throw_error("Trainer: warmup ", options.warmup, " must be 0 or more");
  if (options.decay_steps < 0)
    throw_error("Trainer: decay_steps ", options.decay_steps, " must be 0 or more");
  return options;
}

const TrainOptions& checked_one_shard(const TrainOptions& options) {
  if (options.shards != 1)
    throw_error("Trainer: ", options.shards, " shards: use DataParallel for more than 1");
  return options;
}

// Rejects a model that is not causal: it could copy the next token instead of predicting it.
const nn::GptConfig& checked(const nn::GptConfig& config) {
  if (!config.causal)
    throw_error("Trainer: the model is not causal: it would see the tokens that it must predict");
  return config;
}

void check_sums(const TrainerState& state) {
  if (state.step < 0 || state.pending < 0 || state.pending > state.step)
    throw_error("Trainer: the state has ", state.step, " steps and ", state.pending,
                " pending ones; give 0 <= pending <= step");
  if (!(state.pending_loss >= 0 && state.pending_ms >= 0) || std::isinf(state.pending_loss) ||
      std::isinf(state.pending_ms))
    throw_error("Trainer: the state has the sums pending_loss = ", state.pending_loss,
                " and pending_ms = ", state.pending_ms, "; give finite ones of at least 0");
}

nn::Gpt new_model(Parameters& parameters, const nn::GptConfig& config, std::uint64_t seed) {
  Generator generator(seed);
  return nn::Gpt(Scope(parameters, generator), config);
}

optim::AdamWOptions optimizer_options(const TrainOptions& options) {
  optim::AdamWOptions adamw{options.lr, options.beta1, options.beta2};
  adamw.weight_decay = options.weight_decay;
  adamw.decay_vectors = false;
  return adamw;
}

}  // namespace

optim::WarmupCosine schedule_of(const TrainOptions& o) {
  return {o.lr, o.min_lr, o.warmup, o.decay_steps == 0 ? o.steps : o.decay_steps};
}

Trainer::Trainer(const Corpus& corpus, const nn::GptConfig& config, const TrainOptions& options)
    : Trainer(corpus, config, checked_one_shard(options),
              [](const Parameters& parameters) { return parameters.tensors(); }) {}

Trainer::Trainer(const Corpus& corpus, const nn::GptConfig& config, const TrainOptions& options,
                 const Selection& updated)
    : options_(checked(options)),
      model_(new_model(parameters_, checked(config), options.seed)),
      optimizer_(updated(parameters_), optimizer_options(options)),
      batches_(corpus.training(), options.batch_size, config.block_size, options.seed),
      validation_(corpus.validation()),
      dropout_generator_(options.seed + 3),
      step_generator_(dropout_generator_) {
  // This temporary object throws Error if the validation split is too short.
  Batches(validation_, options.batch_size, config.block_size, options.seed);
}

// ---- a step

double Trainer::train_on(const Batch& batch) {
  if (options_.dropout > 0) step_generator_ = dropout_generator_;
  const Tensor loss = loss_of(batch, dropout_generator_);
  backward(loss);
  clip_gradients(loss.item(), batch);
  optimizer_.step();
  return loss.item();
}

Tensor Trainer::loss_of(const Batch& batch, Generator& dropout) const {
  const nn::TrainingMode training{options_.dropout, &dropout};
  return model_.loss(batch.inputs, batch.targets, &training);
}

void Trainer::clip_gradients(double loss, const Batch& batch) {
  if (gradient_hook_) gradient_hook_(batch, loss);
  const double unclipped = std::numeric_limits<double>::infinity();
  grad_norm_ =
      optim::clip_grad_norm(parameters_.tensors(), options_.clip > 0 ? options_.clip : unclipped);
  if (!std::isfinite(loss) || !std::isfinite(grad_norm_))
    throw Diverged("the loss is " + short_number(loss) + " in" + description_of(step_ + 1) +
                   agreed_cause(cause_of_failure(batch)));
}

// Repeats the step with the same dropout masks.
std::string Trainer::cause_of_failure(const Batch& batch) const {
  return cause_in_step(parameters_, [&] {
    Generator dropout = step_generator_;
    return loss_of(batch, dropout);
  });
}

std::string Trainer::description_of(std::int64_t step) const {
  return " step " + std::to_string(step) + ", at learning rate " + short_number(optimizer_.lr()) +
         " and gradient norm " + short_number(grad_norm_);
}

std::optional<LogRow> Trainer::step() {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  optim::zero_grad(parameters_.tensors());  // a failed step may have left gradients
  optimizer_.set_lr(schedule_of(options_).at(step_));
  const double loss = train_on(batches_.next());
  optim::zero_grad(parameters_.tensors());  // frees the memory of the gradients
  ++step_;
  ++pending_;
  loss_sum_ += loss;
  ms_sum_ += std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  if (!row_is_due() && !done()) return {};
  history_.push_back(finish_row());
  return history_.back();
}

// ---- the loss history and the validation loss

bool Trainer::row_is_due() const {
  return step_ == 1 || step_ % options_.log_every == 0 || step_ % options_.eval_every == 0;
}

LogRow Trainer::finish_row() {
  const auto n = static_cast<double>(pending_);
  LogRow row{step_, loss_sum_ / n, {}, optimizer_.lr(), grad_norm_, ms_sum_ / n};
  if (step_ % options_.eval_every == 0 || done()) row.val_loss = checked_validation_loss();
  if (!row_is_due()) return row;  // the sums are not reset: a resumed run replaces this row
  loss_sum_ = ms_sum_ = 0;
  pending_ = 0;
  return row;
}

// Throws Diverged if the validation loss is not finite, as after an overflow in the last update.
double Trainer::checked_validation_loss() const {
  const double loss = validation_loss();
  if (!std::isfinite(loss))
    throw Diverged(
        "the validation loss is " + short_number(loss) + " after" + description_of(step_) +
        agreed_cause(cause_of(first_nonfinite_value(parameters_),
                              first_nonfinite_operation([&] { own_validation_losses(); }))));
  return loss;
}

double Trainer::validation_loss() const {
  double sum = 0;
  for (const double loss : all_validation_losses()) sum += loss;
  return sum / static_cast<double>(options_.eval_batches);
}

std::vector<double> Trainer::validation_losses(std::size_t first, std::size_t stride) const {
  const NoGrad no_grad;
  Batches windows(validation_, options_.batch_size, model_.config.block_size, options_.seed + 2);
  std::vector<double> losses;
  for (std::size_t i = 0; i < options_.eval_batches; ++i) {
    const Batch batch = windows.next();
    if (i % stride != first) continue;
    losses.push_back(static_cast<double>(model_.loss(batch.inputs, batch.targets).item()));
  }
  return losses;
}

// ---- the state

TrainerState Trainer::state() const {
  TrainerState state{options_,         step_,   history_,         pending_,
                     loss_sum_,        ms_sum_, batches_.state(), dropout_generator_.state(),
                     optimizer_state()};
  std::string message = first_nonfinite_value(parameters_);
  for (const auto& [name, moment] : state.optimizer.arrays)
    if (message.empty() && !all_finite(moment)) message = "optimizer." + name + " is not finite";
  if (!message.empty()) throw Diverged(message + " after" + description_of(step_));
  return state;
}

// Restores copies first, so that an error leaves the trainer unchanged. A run records a history row
// and a validation loss at its last step even if they are not due. If the restored run continues
// after this step, restore() removes the row or the loss that was not due.
void Trainer::restore(TrainerState state) {
  check_sums(state);
  optim::AdamW optimizer = optimizer_;
  Batches batches = batches_;
  Generator dropout_generator = dropout_generator_;
  optimizer.set_state(state.optimizer);
  batches.set_state(state.batch_generator);
  dropout_generator.set_state(state.dropout_generator);
  optimizer_ = std::move(optimizer);
  batches_ = batches;
  dropout_generator_ = dropout_generator;
  step_ = state.step;
  pending_ = state.pending;
  loss_sum_ = state.pending_loss;
  ms_sum_ = state.pending_ms;
  history_ = std::move(state.history);
  if (done() || history_.empty() || history_.back().step != step_) return;
  if (pending_ > 0)
    history_.pop_back();
  else if (step_ % options_.eval_every != 0)
    history_.back().val_loss.reset();
}

}  // namespace HEED_NAMESPACE
