// trainer.cpp: the training loop (forward, backward, gradient clipping, AdamW, evaluation) and the
// memory estimate.

#include "heed/train/trainer.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <sstream>
#include <unordered_map>

#include "heed/array/reduce.hpp"
#include "heed/autograd/backward.hpp"
#include "heed/base/file.hpp"
#include "train/first_nonfinite.hpp"

namespace HEED_NAMESPACE {
namespace {

const TrainOptions& checked(const TrainOptions& options) {
  if (options.log_every < 1) throw_error("Trainer: log_every must be at least 1");
  if (options.eval_every < 1) throw_error("Trainer: eval_every must be at least 1");
  if (options.eval_batches < 1) throw_error("Trainer: eval_batches must be at least 1");
  if (!is_power_of_two(options.shards) || options.batch_size % options.shards != 0)
    throw_error("Trainer: ", options.shards,
                " shards: give a power of two that divides batch_size ", options.batch_size);
  return options;
}

Communicator* checked(Communicator* communicator, SingleProcess& alone, std::size_t shards) {
  if (communicator == nullptr) return &alone;
  if (!is_power_of_two(communicator->size()) || communicator->size() > shards)
    throw_error("Trainer: ", communicator->size(), " processes: give a power of two up to ", shards,
                ", the number of shards");
  return communicator;
}

// The owner of each parameter: from the largest parameter to the smallest, the rank that owns the
// fewest elements so far.
std::vector<std::size_t> balanced_owners(const Parameters& parameters, std::size_t processes) {
  const auto size = [&](std::size_t i) { return parameters.tensors()[i].value().size(); };
  if (parameters.size() < processes)
    throw_error("Trainer: ZeRO needs a parameter for each of the ", processes,
                " processes; the model has ", parameters.size());
  std::vector<std::size_t> order(parameters.size()), owners(parameters.size()), load(processes);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return size(a) > size(b); });
  for (const std::size_t i : order) {
    const auto smallest = std::min_element(load.begin(), load.end());
    owners[i] = static_cast<std::size_t>(smallest - load.begin());
    *smallest += size(i);
  }
  return owners;
}

// The parameters that `rank` updates: all of them if `owners` is empty.
std::vector<Tensor> updated_parameters(const Parameters& parameters,
                                       const std::vector<std::size_t>& owners, std::size_t rank) {
  std::vector<Tensor> own;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (owners.empty() || owners[i] == rank) own.push_back(parameters.tensors()[i]);
  return own;
}

// The arrays of the state that belong to the parameters.
optim::State part_of(const optim::State& state, const std::vector<Tensor>& parameters) {
  optim::State part{{}, state.step};
  for (const auto& [name, array] : state.arrays)
    for (const Tensor& parameter : parameters)
      if (name.rfind(parameter.name() + ".exp_avg", 0) == 0) part.arrays.emplace_back(name, array);
  return part;
}

// Rows `begin` to `begin + count - 1` of a batch.
Batch rows_of(const Batch& batch, std::size_t begin, std::size_t count) {
  const std::size_t T = batch.inputs.shape()[1];
  const Shape shape = {count, T};
  Batch rows{Indices::from_shape(shape), Indices::from_shape(shape)};
  std::copy_n(batch.inputs.data() + begin * T, count * T, rows.inputs.data());
  std::copy_n(batch.targets.data() + begin * T, count * T, rows.targets.data());
  return rows;
}

// The generator of the dropout masks of one shard in one step.
Generator shard_generator(std::uint64_t seed, std::int64_t step, std::size_t shard) {
  return Generator(hash64("dropout " + std::to_string(step) + " " + std::to_string(shard), seed));
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
  const auto S = static_cast<double>(options.shards);
  return {sizeof(Real) * (5 + std::log2(S)) * nn::parameter_count<double>(model),
          sizeof(Real) * B / S * T * per_token};
}

Trainer::Trainer(const Corpus& corpus, const nn::GptConfig& config, const TrainOptions& options,
                 const Distribution& distribution)
    : options_(checked(options)),
      init_generator_(options.seed),
      dropout_generator_(options.seed + 3),
      communicator_(checked(distribution.communicator, alone_, options.shards)),
      read_stop_signal_(distribution.stop_signal),
      model_(Scope(parameters_, init_generator_), checked(config)),
      owners_(distribution.zero && communicator_->size() > 1
                  ? balanced_owners(parameters_, communicator_->size())
                  : std::vector<std::size_t>()),
      optimizer_(updated_parameters(parameters_, owners_, communicator_->rank()),
                 optimizer_options(options)),
      schedule_(schedule_of(options)),
      batches_(corpus.training(), options.batch_size, config.block_size, options.seed),
      validation_(corpus.validation()) {
  // This temporary object throws Error if the validation split is too short.
  Batches(validation_, options.batch_size, config.block_size, options.seed);
  shard_sums_.resize(parameters_.size());
  if (communicator_->size() > 1)
    exchange_ = std::make_unique<GradientExchange>(parameters_.tensors(), *communicator_,
                                                   distribution.exchange);
}

const ExchangeStatistics* Trainer::exchange_statistics() const {
  return exchange_ ? &exchange_->statistics() : nullptr;
}

// The mean loss over the windows of one shard. The only shard of a run uses one generator for all
// steps.
Tensor Trainer::shard_loss(const Batch& batch, std::size_t shard) {
  if (options_.shards == 1) {
    const nn::TrainingMode training{options_.dropout, &dropout_generator_};
    return model_.loss(batch.inputs, batch.targets, &training);
  }
  const std::size_t size = options_.batch_size / options_.shards;
  const Batch rows = rows_of(batch, shard * size, size);
  Generator generator = shard_generator(options_.seed + 3, step_, shard);
  const nn::TrainingMode training{options_.dropout, &generator};
  return model_.loss(rows.inputs, rows.targets, &training);
}

std::optional<LogRow> Trainer::step() {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  const double loss = compute_gradients();
  optimizer_.set_lr(last_lr_);
  optimizer_.step();
  if (splits_optimizer()) exchange_->share_values(owners_);
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
  optim::zero_grad(parameters_.tensors());  // a failed step may have left gradients and sums
  for (TreeSum& sum : shard_sums_) sum.clear();
  const double loss = agree_on_loss(sum_gradients());
  const double unclipped = std::numeric_limits<double>::infinity();
  const double clip = options_.clip > 0 ? options_.clip : unclipped;
  last_norm_ = optim::clip_grad_norm(parameters_.tensors(), clip);
  last_lr_ = schedule_.at(step_);
  if (std::isfinite(loss) && std::isfinite(last_norm_)) return loss;
  throw_diverged(loss, [&] {
    batches_ = batches;
    dropout_generator_ = dropout_generator;
    return batches_.next();
  });
}

// Computes the gradients of the next batch, and returns the sum of the losses of its own shards.
double Trainer::sum_gradients() {
  const Batch batch = batches_.next();
  const std::size_t first = communicator_->rank() * num_own_shards();
  const std::size_t last = first + num_own_shards() - 1;
  std::vector<double> losses;
  for (std::size_t shard = first; shard < last; ++shard) {
    const Tensor loss = shard_loss(batch, shard);
    backward(loss);
    losses.push_back(static_cast<double>(loss.item()));
    for (std::size_t i = 0; i < parameters_.size(); ++i)
      shard_sums_[i].push(std::move(parameters_.tensors()[i].mutable_grad()));
    optim::zero_grad(parameters_.tensors());
  }
  const Tensor loss = shard_loss(batch, last);
  losses.push_back(static_cast<double>(loss.item()));
  backward_of_last_shard(loss);
  return tree_sum(losses);
}

// Adds the other shards' gradients to each gradient of the last shard, and sends it, as soon as it
// is complete.
void Trainer::backward_of_last_shard(const Tensor& loss) {
  if (options_.shards == 1) return backward(loss);
  std::unordered_map<const Node*, std::size_t> index;
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    index[parameters_.tensors()[i].node().get()] = i;
  if (exchange_) exchange_->begin();
  const Real scale = Real{1} / static_cast<Real>(options_.shards);
  const std::function<void(Node&)> ready = [&](Node& leaf) {
    const std::size_t i = index.at(&leaf);
    leaf.grad = shard_sums_[i].finish(std::move(leaf.grad));
    if (exchange_) return exchange_->ready(i);
    for (std::size_t j = 0; j < leaf.grad.size(); ++j) leaf.grad.data()[j] *= scale;
  };
  BackwardOptions backward_options;
  backward_options.ready = &ready;
  backward(loss, backward_options);
  if (exchange_) exchange_->finish(scale);
}

// The mean over all shards. The processes also agree on the signal that stops them.
double Trainer::agree_on_loss(double loss) {
  int signal = read_stop_signal_ ? read_stop_signal_() : 0;
  for (std::size_t distance = 1; distance < communicator_->size(); distance *= 2) {
    const double own[] = {loss, static_cast<double>(signal)};
    double other[] = {0, 0};
    communicator_->exchange(communicator_->rank() ^ distance, own, sizeof own, other, sizeof other);
    loss += other[0];
    signal = std::max(signal, static_cast<int>(other[1]));
  }
  stop_signal_ = signal;
  return loss / static_cast<double>(options_.shards);
}

std::string Trainer::step_description(std::int64_t step) const {
  return " step " + std::to_string(step) + ", at learning rate " + short_number(last_lr_) +
         " and gradient norm " + short_number(last_norm_);
}

// Repeats the failed step twice to find the first parameter, and then the first operation, with a
// value that is not finite. Each process searches in its own shards.
void Trainer::throw_diverged(double loss, const std::function<Batch()>& same_batch) {
  std::string parameter, operation;
  const std::size_t first = communicator_->rank() * num_own_shards();
  for (std::size_t j = 0; j < num_own_shards() && parameter.empty() && operation.empty(); ++j) {
    const auto recompute = [&] { return shard_loss(same_batch(), first + j); };
    optim::zero_grad(parameters_.tensors());
    parameter = first_nonfinite_parameter(parameters_, recompute);
    optim::zero_grad(parameters_.tensors());
    operation = first_nonfinite_operation([&] { backward(recompute()); });
  }
  throw Diverged("the loss is " + short_number(loss) + " in" + step_description(step_ + 1) +
                 first_text(clause("; ", parameter) + clause("; first occurrence: ", operation)));
}

// The text of the first rank whose text is not empty, so that all ranks throw the same error.
std::string Trainer::first_text(const std::string& text) const {
  for (const std::string& each : gather_texts(*communicator_, text))
    if (!each.empty()) return each;
  return "";
}

// Throws Diverged if the validation loss is not finite, as after an overflow in the last update.
double Trainer::checked_validation_loss() const {
  const double loss = validation_loss();
  if (!std::isfinite(loss))
    throw Diverged("the validation loss is " + short_number(loss) + " after" +
                   step_description(step_) +
                   first_text(clause("; ", first_nonfinite_value(parameters_)) +
                              clause("; first occurrence: ",
                                     first_nonfinite_operation([&] { own_validation_losses(); }))));
  return loss;
}

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

// Rank r computes the batches r, r + P, r + 2 P, ...
std::vector<double> Trainer::own_validation_losses() const {
  const NoGrad no_grad;
  Batches windows(validation_, options_.batch_size, model_.config.block_size, options_.seed + 2);
  std::vector<double> losses;
  for (std::size_t i = 0; i < options_.eval_batches; ++i) {
    const Batch batch = windows.next();
    if (i % communicator_->size() != communicator_->rank()) continue;
    losses.push_back(static_cast<double>(model_.loss(batch.inputs, batch.targets).item()));
  }
  return losses;
}

// Adds the losses of all ranks in the order of the batches, so that the sum has the same bits for
// any number of processes.
double Trainer::validation_loss() const {
  const std::vector<double> own = own_validation_losses();
  const std::vector<std::string> parts = gather_texts(
      *communicator_, {reinterpret_cast<const char*>(own.data()), own.size() * sizeof(double)});
  double sum = 0;
  for (std::size_t i = 0; i < options_.eval_batches; ++i) {
    double loss = 0;
    std::memcpy(&loss, parts[i % parts.size()].data() + i / parts.size() * sizeof loss,
                sizeof loss);
    sum += loss;
  }
  return sum / static_cast<double>(options_.eval_batches);
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
