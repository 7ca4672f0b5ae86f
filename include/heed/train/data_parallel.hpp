// data_parallel.hpp: DataParallel, a Trainer that computes the gradients of a batch in parts
// (shards), in one or several processes.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "heed/parallel/exchange.hpp"
#include "heed/train/trainer.hpp"

namespace HEED_NAMESPACE {

// How the work of a DataParallel is divided among the processes of a run. No member changes a bit
// of the result.
struct Distribution {
  Communicator* communicator = nullptr;  // null: the trainer is the only process of its run
  ExchangeOptions exchange = {};         // how gradients are sent
  bool zero = false;                     // split AdamW's moments over the processes (ZeRO stage 1)
  // The number of the signal that has asked this process to stop, or 0. Called once in each step.
  std::function<int()> stop_signal = {};
};

// The unit of work is a shard: batch_size / shards windows. Each shard's gradient is computed by
// itself, the gradients are added by the tree of exchange.hpp and multiplied by 1 / shards. Each of
// P processes computes shards / P consecutive shards, so the number of processes changes no bit.
// (Another number of shards does.) Dropout masks depend on the step and the shard.
//
// With several processes, step(), validation_loss() and, if splits_optimizer(), state() are
// collective. step() throws the same Diverged in all processes. With ZeRO, only rank 0 has all
// moments, so only there state() throws Diverged for one of them.
class DataParallel final : public Trainer {
 public:
  // The corpus must outlive the trainer, and so must the communicator. Throws the errors of
  // Trainer, and Error if `shards` is not a power of two of at least 2 that divides batch_size, or
  // if there are more processes than shards.
  DataParallel(const Corpus& corpus, const nn::GptConfig& config, const TrainOptions& options,
               const Distribution& distribution = {});

  void restore(TrainerState state) override;

  std::size_t processes() const { return communicator_.size(); }  // number of processes of the run
  // Whether state() is collective, because every process has only a part of AdamW's moments.
  bool splits_optimizer() const { return !owners_.empty(); }
  // The signal that has asked one of the processes to stop, or 0. All processes agree on it at the
  // end of each step.
  int stop_signal() const { return stop_signal_; }
  // The bytes and times of all exchanges since the start; 0 with one process.
  ExchangeStatistics exchange_statistics() const;

 private:
  double train_on(const Batch& batch) override;
  optim::State optimizer_state() const override;
  std::string cause_of_failure(const Batch& batch) const override;
  std::string agreed_cause(const std::string& own) const override;
  std::vector<double> own_validation_losses() const override;
  std::vector<double> all_validation_losses() const override;
  double sum_gradients(const Batch& batch);
  double agree_on_loss(double loss);
  Tensor shard_loss(const Batch& batch, std::size_t shard) const;
  void backward_of_last_shard(const Tensor& loss, std::vector<TreeSum>& sums);
  std::size_t num_own_shards() const { return options_.shards / communicator_.size(); }
  std::size_t first_own_shard() const { return communicator_.rank() * num_own_shards(); }

  SingleProcess alone_;         // the communicator of a run of one process
  Communicator& communicator_;  // the run's, or `alone_`
  std::function<int()> read_stop_signal_;
  int stop_signal_ = 0;
  std::vector<std::size_t> owners_;             // with ZeRO, the rank that updates each parameter
  std::unique_ptr<GradientExchange> exchange_;  // null if there is one process
};

// A Trainer if there is one shard, otherwise a DataParallel.
std::unique_ptr<Trainer> make_trainer(const Corpus& corpus, const nn::GptConfig& config,
                                      const TrainOptions& options,
                                      const Distribution& distribution = {});

}  // namespace HEED_NAMESPACE
