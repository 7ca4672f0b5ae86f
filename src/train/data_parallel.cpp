// data_parallel.cpp: sums of gradients over shards and processes, and AdamW's moments split over
// processes (ZeRO stage 1: Rajbhandari et al. 2020, section 5).

#include "heed/train/data_parallel.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "base/hash.hpp"
#include "heed/autograd/backward.hpp"
#include "heed/parallel/gradient_ready.hpp"
#include "train/batch_rows.hpp"
#include "train/diverged.hpp"

namespace HEED_NAMESPACE {
namespace {

const TrainOptions& checked(const TrainOptions& options, const Communicator* communicator) {
  if (!is_power_of_two(options.shards) || options.batch_size % options.shards != 0)
    throw_error("Trainer: ", options.shards,
                " shards: give a power of two that divides batch_size ", options.batch_size);
  const std::size_t processes = communicator == nullptr ? 1 : communicator->size();
  if (!is_power_of_two(processes) || processes > options.shards)
    throw_error("Trainer: ", processes, " processes: give a power of two up to ", options.shards,
                ", the number of shards");
  if (options.shards == 1) throw_error("DataParallel: 1 shard: use Trainer");
  return options;
}

// The owner of each parameter: from the largest parameter to the smallest, the rank that owns the
// fewest elements so far. Without ZeRO, there are no owners.
std::vector<std::size_t> balanced_owners(const Parameters& parameters,
                                         const Distribution& distribution) {
  if (!distribution.zero || distribution.communicator == nullptr) return {};
  const std::size_t processes = distribution.communicator->size();
  if (processes == 1) return {};
  if (parameters.size() < processes)
    throw_error("Trainer: ZeRO needs a parameter for each of the ", processes,
                " processes; the model has ", parameters.size());
  const auto size = [&](std::size_t i) { return parameters.tensors()[i].value().size(); };
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

// The parameters that this rank updates: all of them if there are no owners.
std::vector<Tensor> own_parameters(const Parameters& parameters, const Distribution& distribution) {
  const std::vector<std::size_t> owners = balanced_owners(parameters, distribution);
  std::vector<Tensor> own;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (owners.empty() || owners[i] == distribution.communicator->rank())
      own.push_back(parameters.tensors()[i]);
  return own;
}

// Collective: the text of the first rank whose text is not empty.
std::string first_nonempty_text(Communicator& communicator, const std::string& text) {
  for (const std::string& each : gather_texts(communicator, text))
    if (!each.empty()) return each;
  return "";
}

std::string bytes_of(const void* data, std::size_t bytes) {
  return {static_cast<const char*>(data), bytes};
}

}  // namespace

DataParallel::DataParallel(const Corpus& corpus, const nn::GptConfig& config,
                           const TrainOptions& options, const Distribution& distribution)
    : Trainer(
          corpus, config, checked(options, distribution.communicator),
          [&](const Parameters& parameters) { return own_parameters(parameters, distribution); }),
      communicator_(distribution.communicator ? *distribution.communicator : alone_),
      read_stop_signal_(distribution.stop_signal),
      owners_(balanced_owners(parameters_, distribution)) {
  if (communicator_.size() > 1)
    exchange_ = std::make_unique<GradientExchange>(parameters_.tensors(), communicator_,
                                                   distribution.exchange);
}

ExchangeStatistics DataParallel::exchange_statistics() const {
  return exchange_ ? exchange_->statistics() : ExchangeStatistics();
}

double DataParallel::train_on(const Batch& batch) {
  const double loss = agree_on_loss(sum_gradients(batch));
  clip_gradients(loss, batch);
  optimizer_.step();
  if (splits_optimizer()) exchange_->share_values(owners_);
  return loss;
}

// Computes the gradients of a batch; returns the sum of the losses of this process's shards.
double DataParallel::sum_gradients(const Batch& batch) {
  const std::size_t first = first_own_shard(), last = first + num_own_shards() - 1;
  std::vector<TreeSum> sums(parameters_.size());  // one sum for each parameter
  std::vector<double> losses;
  for (std::size_t shard = first; shard < last; ++shard) {
    const Tensor loss = shard_loss(batch, shard);
    backward(loss);
    losses.push_back(loss.item());
    for (std::size_t i = 0; i < parameters_.size(); ++i)
      sums[i].push(std::move(parameters_.tensors()[i].mutable_grad()));
    optim::zero_grad(parameters_.tensors());
  }
  const Tensor loss = shard_loss(batch, last);
  losses.push_back(loss.item());
  backward_of_last_shard(loss, sums);
  return tree_sum(losses);
}

// The mean loss over the windows of one shard.
Tensor DataParallel::shard_loss(const Batch& batch, std::size_t shard) const {
  const std::size_t size = options_.batch_size / options_.shards;
  Generator dropout(
      hash64("dropout " + std::to_string(step_) + " " + std::to_string(shard), options_.seed + 3));
  return loss_of(rows_of(batch, shard * size, size), dropout);
}

// Adds the other shards' gradients to each gradient of the last shard, and sends it, as soon as it
// is complete.
void DataParallel::backward_of_last_shard(const Tensor& loss, std::vector<TreeSum>& sums) {
  std::unordered_map<const Node*, std::size_t> index;
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    index[parameters_.tensors()[i].node().get()] = i;
  if (exchange_) exchange_->begin();
  const Real scale = Real{1} / static_cast<Real>(options_.shards);
  GradientReady ready([&](Node& leaf) {
    const std::size_t i = index.at(&leaf);
    leaf.grad = sums[i].finish(std::move(leaf.grad));
    if (exchange_) return exchange_->ready(i);
    for (std::size_t j = 0; j < leaf.grad.size(); ++j) leaf.grad.data()[j] *= scale;
  });
  BackwardOptions backward_options;
  backward_options.observer = &ready;
  backward(loss, backward_options);
  if (exchange_) exchange_->finish(scale);
}

// The mean loss over all shards. The processes also agree on the signal that stops them.
double DataParallel::agree_on_loss(double loss) {
  int signal = read_stop_signal_ ? read_stop_signal_() : 0;
  for (std::size_t distance = 1; distance < communicator_.size(); distance *= 2) {
    const double own[] = {loss, static_cast<double>(signal)};
    double other[] = {0, 0};
    communicator_.exchange(communicator_.rank() ^ distance, own, sizeof own, other, sizeof other);
    loss += other[0];
    signal = std::max(signal, static_cast<int>(other[1]));
  }
  stop_signal_ = signal;
  return loss / static_cast<double>(options_.shards);
}

// Each process searches its own shards.
std::string DataParallel::cause_of_failure(const Batch& batch) const {
  std::string cause;
  for (std::size_t i = 0; i < num_own_shards() && cause.empty(); ++i)
    cause = cause_in_step(parameters_, [&] { return shard_loss(batch, first_own_shard() + i); });
  return cause;
}

std::string DataParallel::agreed_cause(const std::string& own) const {
  return first_nonempty_text(communicator_, own);
}

// Rank r computes the batches r, r + P, r + 2 P, ...
std::vector<double> DataParallel::own_validation_losses() const {
  return validation_losses(communicator_.rank(), communicator_.size());
}

// The losses in the order of the batches, so that their sum has the same bits for any number of
// processes.
std::vector<double> DataParallel::all_validation_losses() const {
  const std::vector<double> own = own_validation_losses();
  const std::vector<std::string> parts =
      gather_texts(communicator_, bytes_of(own.data(), own.size() * sizeof(double)));
  std::vector<double> all(options_.eval_batches);
  for (std::size_t i = 0; i < all.size(); ++i)
    std::memcpy(&all[i], parts[i % parts.size()].data() + i / parts.size() * sizeof(double),
                sizeof(double));
  return all;
}

// The moments of all parameters, in their usual order. Only rank 0 keeps them.
optim::State DataParallel::optimizer_state() const {
  optim::State own = optimizer_.state();
  if (!splits_optimizer()) return own;
  std::unordered_map<std::string, const Array*> own_arrays;
  for (const auto& [name, array] : own.arrays) own_arrays[name] = &array;
  optim::State all{{}, own.step};
  for (const char* kind : {".exp_avg", ".exp_avg_sq"})
    for (const Tensor& parameter : parameters_) {
      const std::string name = parameter.name() + kind;
      const auto found = own_arrays.find(name);
      const std::string bytes = first_nonempty_text(
          communicator_,
          found == own_arrays.end()
              ? ""
              : bytes_of(found->second->data(), found->second->size() * sizeof(Real)));
      if (communicator_.rank() != 0) continue;
      Array moment = zeros(parameter.shape());
      std::memcpy(moment.data(), bytes.data(), bytes.size());
      all.arrays.emplace_back(name, std::move(moment));
    }
  return all;
}

// Keeps only the moments that this rank updates.
void DataParallel::restore(TrainerState state) {
  auto& arrays = state.optimizer.arrays;
  const auto is_foreign = [&](const auto& named) {
    const std::vector<Tensor>& own = optimizer_.parameters();
    return std::none_of(own.begin(), own.end(), [&](const Tensor& parameter) {
      return named.first.rfind(parameter.name() + ".exp_avg", 0) == 0;
    });
  };
  if (splits_optimizer())
    arrays.erase(std::remove_if(arrays.begin(), arrays.end(), is_foreign), arrays.end());
  Trainer::restore(std::move(state));
}

std::unique_ptr<Trainer> make_trainer(const Corpus& corpus, const nn::GptConfig& config,
                                      const TrainOptions& options,
                                      const Distribution& distribution) {
  const bool is_alone = !distribution.communicator || distribution.communicator->size() == 1;
  if (options.shards == 1 && is_alone) return std::make_unique<Trainer>(corpus, config, options);
  return std::make_unique<DataParallel>(corpus, config, options, distribution);
}

}  // namespace HEED_NAMESPACE
