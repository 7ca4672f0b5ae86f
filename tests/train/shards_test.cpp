// shards_test.cpp: training with shards, and with several processes that share them.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "base/hash.hpp"
#include "catch.hpp"
#include "heed/array/parallel.hpp"
#include "heed/autograd/backward.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/reduce.hpp"
#include "heed/parallel/gradient_ready.hpp"
#include "heed/train/data_parallel.hpp"
#include "message_of.hpp"
#include "near.hpp"
#include "parallel/threads_as_ranks.hpp"
#include "small_model.hpp"

using namespace heed;
using namespace heed::test;
using heed_test::run_ranks;

namespace {

TrainOptions sharded(std::size_t shards, double dropout) {
  TrainOptions options = few_steps(12, dropout);
  options.batch_size = 8;
  options.shards = shards;
  options.eval_batches = 3;
  return options;
}

void append_bytes(std::string& to, const Array& x) {
  to.append(reinterpret_cast<const char*>(x.data()), x.size() * sizeof(Real));
}

// The weights, AdamW's moments and the losses, as bytes. Collective with ZeRO.
std::string bytes_of(const Trainer& trainer) {
  std::string bytes;
  const TrainerState state = trainer.state();
  for (const Tensor& parameter : trainer.parameters()) append_bytes(bytes, parameter.value());
  for (const auto& [name, array] : state.optimizer.arrays) append_bytes(bytes += name, array);
  for (LogRow row : state.history) {
    row.ms = 0;
    bytes += csv(row);
  }
  return bytes;
}

// The result of rank 0 after 12 steps.
std::string trained(const TrainOptions& options, std::size_t processes, Distribution distribution) {
  const Text text;
  std::string result;
  run_ranks(processes, [&](Communicator& communicator) {
    Distribution own = distribution;
    own.communicator = &communicator;
    DataParallel trainer(text.corpus, small_config(text), options, own);
    while (!trainer.done()) trainer.step();
    const std::string bytes = bytes_of(trainer);
    if (communicator.rank() == 0) result = bytes;
  });
  return result;
}

}  // namespace

TEST_CASE("all processes throw the error of the one whose weight is not finite",
          "[train][processes][diverged]") {
  const int threads = num_threads();
  set_num_threads(1);
  const Text text;
  std::vector<std::string> errors(2);
  run_ranks(2, [&](Communicator& communicator) {
    Distribution distribution;
    distribution.communicator = &communicator;
    DataParallel trainer(text.corpus, small_config(text), sharded(2, 0), distribution);
    if (communicator.rank() == 1)
      Tensor(trainer.parameters().at("norm.weight")).mutable_value()(0) =
          static_cast<Real>(not_a_number);
    errors[communicator.rank()] = message_of([&] { trainer.step(); });
  });
  set_num_threads(threads);
  CHECK(errors[0].find("parameter norm.weight is not finite; first occurrence: LayerNorm") !=
        std::string::npos);
  CHECK(errors[1] == errors[0]);
}

TEST_CASE("all processes name the weight that is not finite in one of them after the update",
          "[train][processes][diverged]") {
  const int threads = num_threads();
  set_num_threads(1);
  const Text text;
  TrainOptions options = sharded(2, 0);
  options.eval_every = 1;
  std::vector<std::string> errors(2);
  run_ranks(2, [&](Communicator& communicator) {
    Distribution distribution;
    distribution.communicator = &communicator;
    std::function<void()> after_backward;
    distribution.stop_signal = [&] {
      after_backward();
      return 0;
    };
    DataParallel trainer(text.corpus, small_config(text), options, distribution);
    after_backward = [&] {
      if (communicator.rank() == 1)
        Tensor(trainer.parameters().at("norm.weight")).mutable_value()(0) =
            static_cast<Real>(not_a_number);
    };
    errors[communicator.rank()] = message_of([&] { trainer.step(); });
  });
  set_num_threads(threads);
  CHECK(errors[0].find("the validation loss is nan after step 1") == 0);
  CHECK(errors[0].find("; parameter norm.weight is not finite; first occurrence: LayerNorm") !=
        std::string::npos);
  CHECK(errors[1] == errors[0]);
}

TEST_CASE("any number of processes trains to the same bits", "[train][processes]") {
  // The ranks are threads here, and OpenMP's loops of several threads would mix their work.
  const int threads = num_threads();
  set_num_threads(1);
  for (const double dropout : {0.0, 0.2}) {
    const TrainOptions options = sharded(8, dropout);
    const Text text;
    DataParallel alone(text.corpus, small_config(text), options);
    while (!alone.done()) alone.step();
    const std::string expected = bytes_of(alone);
    for (const std::size_t processes : {1, 2, 4, 8}) {
      INFO(processes << " processes, dropout " << dropout);
      CHECK((trained(options, processes, {}) == expected));
      Distribution other;
      other.zero = true;
      other.exchange = {2000, false};
      CHECK((trained(options, processes, other) == expected));
    }
  }
  set_num_threads(threads);
}

TEST_CASE("with ZeRO, the optimizer is split between two or more processes", "[train][processes]") {
  const Text text;
  for (const std::size_t processes : {1u, 2u})
    run_ranks(processes, [&](Communicator& communicator) {
      Distribution own;
      own.zero = true;
      own.communicator = &communicator;
      const DataParallel trainer(text.corpus, small_config(text), sharded(8, 0), own);
      CHECK(trainer.splits_optimizer() == (processes == 2));
    });
}

TEST_CASE("one shard is the whole batch, and more shards change only the last digits",
          "[train][processes]") {
  const auto losses = [](std::size_t shards) {
    const Text text;
    const auto trainer = make_trainer(text.corpus, small_config(text), sharded(shards, 0));
    while (!trainer->done()) trainer->step();
    return trainer->history();
  };
  const std::vector<LogRow> whole = losses(1);
  for (const std::size_t shards : {2, 8}) {
    const std::vector<LogRow> rows = losses(shards);
    REQUIRE(rows.size() == whole.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      CHECK(close(rows[i].train_loss, whole[i].train_loss, 1e-4));
      CHECK(close(rows[i].grad_norm, whole[i].grad_norm, 1e-2));
    }
  }
}

TEST_CASE("dropout masks differ between shards and steps", "[train][processes]") {
  const Text text;
  TrainOptions options = sharded(2, 0.5);
  options.lr = options.min_lr = 1e-30;  // the weights stay as they are
  options.log_every = 1;
  DataParallel trainer(text.corpus, small_config(text), options);
  const double first = trainer.step()->grad_norm, second = trainer.step()->grad_norm;
  CHECK(first != second);
}

TEST_CASE("the dropout masks of a shard follow from the seed, the step and the shard",
          "[train][processes]") {
  const std::size_t shards = 8;
  const Text text;
  TrainOptions options = sharded(shards, 0.3);
  options.log_every = 1;
  const nn::GptConfig config = small_config(text);
  DataParallel trainer(text.corpus, config, options);
  Batches batches(text.corpus.training(), options.batch_size, config.block_size, options.seed);
  for (int step = 0; step < 3; ++step) {
    const Batch batch = batches.next();
    std::vector<double> losses;
    for (std::size_t shard = 0; shard < shards; ++shard) {
      Generator generator(hash64("dropout " + std::to_string(step) + " " + std::to_string(shard),
                                 options.seed + 3));
      const nn::TrainingMode mode{options.dropout, &generator};
      const std::size_t T = config.block_size;
      Batch row{Indices::from_shape(Shape{1, T}), Indices::from_shape(Shape{1, T})};
      std::copy_n(batch.inputs.data() + shard * T, T, row.inputs.data());
      std::copy_n(batch.targets.data() + shard * T, T, row.targets.data());
      losses.push_back(
          static_cast<double>(trainer.model().loss(row.inputs, row.targets, &mode).item()));
    }
    CHECK(trainer.step()->train_loss == tree_sum(losses) / shards);
  }
}

// Without the embedding of the last token, u, a shard that contains a u fails. The shards before it
// have added their gradients by then.
TEST_CASE("a step that failed leaves no gradients and no sums for the next step",
          "[train][processes]") {
  const Text text;
  const nn::GptConfig config = small_config(text);
  DataParallel trainer(text.corpus, config, sharded(8, 0)),
      other(text.corpus, config, sharded(8, 0));
  Tensor embedding = trainer.parameters().at("token.weight");
  int failures = 0;
  for (int i = 0; i < 4; ++i) {
    const Array whole = embedding.value();
    embedding.node()->value = zeros({config.vocab_size - 1, config.embed_dim});
    failures += message_of([&] { trainer.step(); }).empty() ? 0 : 1;
    embedding.node()->value = whole;
    other.restore(trainer.state());  // the same batches, and no sums
    trainer.step();
    other.step();
    CHECK(same_parameters(trainer, other));
    for (std::size_t j = 0; j < trainer.parameters().size(); ++j)
      other.parameters().tensors()[j].mutable_value() = trainer.parameters().tensors()[j].value();
  }
  CHECK(failures > 0);
}

TEST_CASE("the trainer rejects shards and processes that do not fit", "[train][processes]") {
  const Text text;
  const auto rejected = [&](std::size_t shards, std::size_t batch_size,
                            Communicator* communicator) {
    TrainOptions options = sharded(shards, 0);
    options.batch_size = batch_size;
    Distribution distribution;
    distribution.communicator = communicator;
    return message_of(
        [&] { DataParallel(text.corpus, small_config(text), options, distribution); });
  };
  CHECK(rejected(3, 9, nullptr) ==
        "Trainer: 3 shards: give a power of two that divides batch_size 9");
  CHECK(rejected(8, 12, nullptr) ==
        "Trainer: 8 shards: give a power of two that divides batch_size 12");
  CHECK(rejected(1, 8, nullptr) == "DataParallel: 1 shard: use Trainer");
  SharedMemory memory(4);
  SharedMemoryCommunicator communicator(memory, 0);
  CHECK(rejected(2, 8, &communicator) ==
        "Trainer: 4 processes: give a power of two up to 2, the number of shards");
  TrainOptions one = sharded(1, 0);
  Distribution distribution;
  distribution.communicator = &communicator;
  CHECK(message_of([&] { make_trainer(text.corpus, small_config(text), one, distribution); }) ==
        "Trainer: 4 processes: give a power of two up to 1, the number of shards");
}

TEST_CASE("backward reports each leaf once, when its gradient is complete", "[train][processes]") {
  const Tensor a = Tensor(ones({2}), true).set_name("a"), b = Tensor(ones({2}), true).set_name("b");
  const Tensor constant(ones({2}));
  const Tensor loss = sum((a * b + a * constant) * b);  // a and b are used twice
  std::string order;
  std::vector<Real> seen;
  GradientReady ready([&](Node& leaf) {
    order += leaf.name;
    seen.push_back(leaf.grad(0));
  });
  BackwardOptions options;
  options.observer = &ready;
  backward(loss, options);
  CHECK((order == "ab" || order == "ba"));
  for (std::size_t i = 0; i < 2; ++i)
    CHECK(seen[i] == (order[i] == 'a' ? a.grad()(0) : b.grad()(0)));
  CHECK(a.grad()(0) == 2);  // d (ab + a) b / da = b b + b
  CHECK(b.grad()(0) == 3);  // d (ab + a) b / db = 2 a b + a
}
