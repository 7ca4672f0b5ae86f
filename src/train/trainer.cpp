// trainer.cpp: the training loop (forward, backward, gradient clipping, AdamW, evaluation) and the
// memory estimate.

#include "heed/train/trainer.hpp"

#include <chrono>
#include <cmath>
#include <limits>
#include <sstream>

#include "heed/array/reduce.hpp"
#include "heed/autograd/backward.hpp"
#include "train/first_nonfinite.hpp"

namespace HEED_NAMESPACE {
namespace {

const TrainOptions& checked(const TrainOptions& options) {
  if (options.log_every < 1) throw_error("Trainer: log_every must be at least 1");
  if (options.eval_every < 1) throw_error("Trainer: eval_every must be at least 1");
  if (options.eval_batches < 1) throw_error("Trainer: eval_batches must be at least 1");
  return options;
}

// Rejects a model that is not causal: it could copy the next token instead of predicting it.
const nn::GptConfig& checked(const nn::GptConfig& config) {
  if (!config.causal)
    throw_error("Trainer: the model is not causal: it would see the tokens that it must predict");
  return config;
}

optim::AdamWOptions optimizer_options(const TrainOptions& options) {
  optim::AdamWOptions adamw{options.lr, options.beta1, options.beta2};
  adamw.weight_decay = options.weight_decay;
  adamw.decay_vectors = false;
  return adamw;
}

// Formats a value with six significant digits, and NaN without its meaningless sign.
std::string short_number(double value) {
  std::ostringstream text;
  text << (std::isnan(value) ? std::abs(value) : value);
  return text.str();
}

std::string clause(const std::string& before, const std::string& text) {
  return text.empty() ? "" : before + text;
}

}  // namespace

optim::WarmupCosine schedule_of(const TrainOptions& o) {
  return {o.lr, o.min_lr, o.warmup, o.decay_steps == 0 ? o.steps : o.decay_steps};
}

TrainingMemory training_memory(const nn::GptConfig& model, const TrainOptions& options) {
  const auto C = static_cast<double>(model.embed_dim), L = static_cast<double>(model.layers);
  const auto KV = static_cast<double>(model.kv_width());
  const auto V = static_cast<double>(model.vocab_size), H = static_cast<double>(model.heads);
  const auto B = static_cast<double>(options.batch_size), T = static_cast<double>(model.block_size);
  const bool swiglu = model.mlp == nn::MlpKind::swiglu;
  const double mlp = (swiglu ? 4 : 2) * nn::mlp_width<double>(model.embed_dim, model.mlp);
  const double rotated = model.positions == nn::PositionKind::rotary ? C + KV : 0;
  double per_token = L * (8 * C + 2 * KV + rotated + mlp) + 10 * C + 3 * V;
  if (options.dropout > 0) per_token += L * (7 * H * T + 11 * C);
  return {sizeof(Real) * 5 * nn::parameter_count<double>(model), sizeof(Real) * B * T * per_token};
}

Trainer::Trainer(const Corpus& corpus, const nn::GptConfig& config, const TrainOptions& options)
    : options_(checked(options)),
      init_generator_(options.seed),
      dropout_generator_(options.seed + 3),
      model_(Scope(parameters_, init_generator_), checked(config)),
      optimizer_(parameters_.tensors(), optimizer_options(options)),
      schedule_(schedule_of(options)),
      batches_(corpus.training(), options.batch_size, config.block_size, options.seed),
      validation_(corpus.validation()) {
  // This temporary object throws Error if the validation split is too short.
  Batches(validation_, options.batch_size, config.block_size, options.seed);
}

Tensor Trainer::batch_loss() {
  const Batch batch = batches_.next();
  const nn::TrainingMode training{options_.dropout, &dropout_generator_};
  return model_.loss(batch.inputs, batch.targets, &training);
}

std::optional<LogRow> Trainer::step() {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  const double loss = compute_gradients();
  optimizer_.set_lr(last_lr_);
  optimizer_.step();
  optim::zero_grad(parameters_.tensors());
  ++step_;
  ++pending_;
  loss_sum_ += loss;
  ms_sum_ += std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  if (!row_is_due() && !done()) return {};
  history_.push_back(finish_row());
  return history_.back();
}

// Computes and clips the gradients of the next batch, and returns the loss of the batch.
double Trainer::compute_gradients() {
  const Batches batches = batches_;
  const Generator dropout_generator = dropout_generator_;
  optim::zero_grad(parameters_.tensors());  // a failed step may have left gradients behind
  const Tensor loss = batch_loss();
  backward(loss);
  const double unclipped = std::numeric_limits<double>::infinity();
  const double clip = options_.clip > 0 ? options_.clip : unclipped;
  last_norm_ = optim::clip_grad_norm(parameters_.tensors(), clip);
  last_lr_ = schedule_.at(step_);
  const auto loss_value = static_cast<double>(loss.item());
  if (std::isfinite(loss_value) && std::isfinite(last_norm_)) return loss_value;
  throw_diverged(loss_value, [&] {
    batches_ = batches;
    dropout_generator_ = dropout_generator;
    return batch_loss();
  });
}

std::string Trainer::step_description(std::int64_t step) const {
  return " step " + std::to_string(step) + ", at learning rate " + short_number(last_lr_) +
         " and gradient norm " + short_number(last_norm_);
}

// Repeats the failed step twice to find the first parameter, and then the first operation, with a
// value that is not finite. recompute_loss() repeats the forward pass with the same batch.
void Trainer::throw_diverged(double loss, const std::function<Tensor()>& recompute_loss) {
  const std::string parameter = first_nonfinite_parameter(parameters_, recompute_loss);
  optim::zero_grad(parameters_.tensors());
  const std::string operation = first_nonfinite_operation([&] { backward(recompute_loss()); });
  throw Diverged("the loss is " + short_number(loss) + " in" + step_description(step_ + 1) +
                 clause("; ", parameter) + clause("; first occurrence: ", operation));
}

// Throws Diverged if the validation loss is not finite, as after an overflow in the last update.
double Trainer::checked_validation_loss() const {
  const double loss = validation_loss();
  if (!std::isfinite(loss))
    throw Diverged(
        "the validation loss is " + short_number(loss) + " after" + step_description(step_) +
        clause("; ", first_nonfinite_value(parameters_)) +
        clause("; first occurrence: ", first_nonfinite_operation([&] { validation_loss(); })));
  return loss;
}

TrainerState Trainer::state() const {
  TrainerState state{options_,          step_,   history_,         pending_,
                     loss_sum_,         ms_sum_, batches_.state(), dropout_generator_.state(),
                     optimizer_.state()};
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
  history_ = state.history;
  if (done() || history_.empty() || history_.back().step != step_) return;
  if (pending_ > 0)
    history_.pop_back();
  else if (step_ % options_.eval_every != 0)
    history_.back().val_loss.reset();
}

bool Trainer::row_is_due() const {
  return step_ == 1 || step_ % options_.log_every == 0 || step_ % options_.eval_every == 0;
}

LogRow Trainer::finish_row() {
  const auto n = static_cast<double>(pending_);
  LogRow row{step_, loss_sum_ / n, {}, last_lr_, last_norm_, ms_sum_ / n};
  if (step_ % options_.eval_every == 0 || done()) row.val_loss = checked_validation_loss();
  if (!row_is_due()) return row;  // the sums are not reset: a resumed run replaces this row
  loss_sum_ = ms_sum_ = 0;
  pending_ = 0;
  return row;
}

double Trainer::validation_loss() const {
  const NoGrad no_grad;
  Batches windows(validation_, options_.batch_size, model_.config.block_size, options_.seed + 2);
  double sum = 0;
  for (std::size_t i = 0; i < options_.eval_batches; ++i) {
    const Batch batch = windows.next();
    sum += static_cast<double>(model_.loss(batch.inputs, batch.targets).item());
  }
  return sum / static_cast<double>(options_.eval_batches);
}

}  // namespace HEED_NAMESPACE
