// trainer.cpp: the training loop of a Trainer: forward, backward, gradient clipping and AdamW.

#include "heed/train/trainer.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <unordered_map>

#include "base/hash.hpp"
#include "heed/autograd/backward.hpp"

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

}  // namespace

optim::WarmupCosine schedule_of(const TrainOptions& o) {
  return {o.lr, o.min_lr, o.warmup, o.decay_steps == 0 ? o.steps : o.decay_steps};
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

}  // namespace HEED_NAMESPACE
