// trainer_test.cpp: tests of Trainer: loss, history, determinism, memory and errors.

#include "heed/train/trainer.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>

#include "catch.hpp"
#include "heed/array/parallel.hpp"
#include "heed/train/data_parallel.hpp"
#include "near.hpp"
#include "scratch_folder.hpp"
#include "small_model.hpp"

namespace {

using namespace heed;
using namespace heed::test;
using heed_test::has;

}  // namespace

TEST_CASE("twenty steps lower the loss", "[train][trainer]") {
  Run run(few_steps(20));
  const double before = run.trainer.validation_loss();
  run.steps(20);
  const double after = run.trainer.validation_loss();
  CHECK(std::abs(before / std::log(static_cast<double>(run.text.vocabulary.size())) - 1) < 0.03);
  CHECK(after < before - 0.5);
  CHECK(run.trainer.done());
}

TEST_CASE("rows are written after the first step, every log_every, every evaluation and the last",
          "[train][trainer]") {
  TrainOptions options = few_steps(23);
  options.eval_every = 8;
  Run run(options);
  std::string steps;
  while (!run.trainer.done())
    if (const auto row = run.trainer.step())
      steps += std::to_string(row->step) + (row->val_loss ? "v " : " ");
  CHECK(steps == "1 5 8v 10 15 16v 20 23v ");
  CHECK(run.trainer.history().size() == 8);
  CHECK(run.trainer.steps_done() == 23);
}

TEST_CASE("a step uses gradients of the norm clip, if theirs is larger", "[train][trainer]") {
  for (const double clip : {0.25, 1.0}) {
    TrainOptions options = few_steps(1);
    options.clip = clip / 16;  // the first gradients are larger
    Run run(options);
    run.steps(1);
    double squares = 0;  // of AdamW's first moments: (1 - beta1) times the gradients
    for (const auto& [name, array] : run.trainer.state().optimizer.arrays)
      if (name.find(".exp_avg_sq") == name.npos)
        for (const Real m : array) squares += double(m) * double(m);
    CHECK(close(std::sqrt(squares), (1 - options.beta1) * options.clip, 1e-4 * options.clip));
  }
}

TEST_CASE("a row's loss is the mean over the steps since the previous row", "[train][trainer]") {
  TrainOptions every = few_steps(5), fifth = few_steps(5);
  every.log_every = 1;
  Run one(every), other(fifth);
  one.steps(5);
  other.steps(5);
  const std::vector<LogRow>& rows = one.trainer.history();
  double sum = 0;
  for (std::size_t i = 1; i < 5; ++i) sum += rows[i].train_loss;
  CHECK(close(other.trainer.history()[1].train_loss, sum / 4, 1e-12));
  CHECK(other.trainer.history()[1].learning_rate == rows[4].learning_rate);
  CHECK(other.trainer.history()[1].grad_norm == rows[4].grad_norm);
}

TEST_CASE("the first loss is that of the initial weights, in any number of shards",
          "[train][trainer]") {
  for (const std::size_t shards : {1u, 2u, 4u}) {
    TrainOptions options = few_steps(1);
    options.batch_size = 4, options.shards = shards;
    const Text text;
    const auto trainer = make_trainer(text.corpus, small_config(text), options);
    const double uniform = std::log(static_cast<double>(text.vocabulary.size()));
    trainer->step();
    CHECK(std::abs(trainer->history()[0].train_loss / uniform - 1) < 0.05);
  }
}

TEST_CASE("the learning rate follows its schedule from the first step", "[train][trainer]") {
  Run run(few_steps(10));
  CHECK(close(run.trainer.step()->learning_rate, 1e-2 / 5, 1e-12));
  run.steps(4);
  CHECK(close(run.trainer.history().back().learning_rate, 1e-2, 1e-12));
}

TEST_CASE("validation_loss uses the same windows every time and does not affect training",
          "[train][trainer]") {
  Run run(few_steps(20)), other(few_steps(20));
  run.steps(3);
  other.steps(3);
  const double loss = run.trainer.validation_loss();
  CHECK(run.trainer.validation_loss() == loss);
  run.steps(3);
  other.steps(3);
  CHECK(same_parameters(run.trainer, other.trainer));
}

TEST_CASE("the validation windows are drawn with the run's seed plus 2", "[train][trainer]") {
  Run run(few_steps(20));
  const TrainOptions& options = run.trainer.options();
  Batches windows(run.text.corpus.validation(), options.batch_size,
                  run.trainer.model().config.block_size, options.seed + 2);
  double sum = 0;
  for (std::size_t i = 0; i < options.eval_batches; ++i) {
    const Batch batch = windows.next();
    sum += static_cast<double>(run.trainer.model().loss(batch.inputs, batch.targets).item());
  }
  CHECK(run.trainer.validation_loss() == sum / static_cast<double>(options.eval_batches));
}

TEST_CASE("with a learning rate of 0 the validation loss does not change", "[train][trainer]") {
  TrainOptions options = few_steps(20);
  options.lr = options.min_lr = 0;
  Run run(options);
  const double before = run.trainer.validation_loss();
  run.steps(3);
  CHECK(run.trainer.validation_loss() == before);
}

TEST_CASE("the seed determines the run", "[train][trainer]") {
  TrainOptions other_seed = few_steps(10, 0.1);
  other_seed.seed = 7;
  Run one(few_steps(10, 0.1)), same(few_steps(10, 0.1)), other(other_seed);
  for (Run* run : {&one, &same, &other}) run->steps(10);
  CHECK(same_parameters(one.trainer, same.trainer));
  CHECK(history(one.trainer) == history(same.trainer));
  CHECK_FALSE(same_parameters(one.trainer, other.trainer));
}

TEST_CASE("training has the same bits on 1, 2 and 4 threads", "[train][trainer][threads]") {
  const int before = num_threads();
  Run one(few_steps(8, 0.1)), two(few_steps(8, 0.1)), four(few_steps(8, 0.1));
  set_num_threads(1);
  one.steps(8);
  set_num_threads(2);
  two.steps(8);
  set_num_threads(4);
  four.steps(8);
  set_num_threads(before);
  CHECK(same_parameters(one.trainer, two.trainer));
  CHECK(same_parameters(one.trainer, four.trainer));
  CHECK(history(one.trainer) == history(four.trainer));
}

TEST_CASE("a training step frees every array and node that it made", "[train][trainer]") {
  const int before = num_threads();
  set_num_threads(1);
  TrainOptions options = few_steps(1000, 0.1);
  options.eval_every = 1000;
  Run run(options);
  run.steps(3);
  const std::size_t in_use = allocated_bytes(), nodes = live_nodes();
  run.steps(20);
  set_num_threads(before);
  CHECK(allocated_bytes() == in_use);
  CHECK(live_nodes() == nodes);
  CHECK(nodes >= run.trainer.parameters().size());
}

#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__)  // AddressSanitizer delays freeing
TEST_CASE("ten thousand steps need less than 1 MB more memory than a hundred", "[train][trainer]") {
  const auto resident = [] {
    std::size_t program = 0, pages = 0;
    std::ifstream("/proc/self/statm") >> program >> pages;
    return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  };
  const int threads = num_threads();
  set_num_threads(1);
  Run run(few_steps(10000, 0.1));
  run.steps(100);
  const std::size_t before = resident(), nodes = live_nodes();
  std::size_t leaked_nodes = 0;
  for (int i = 100; i < 10000; ++i) {
    run.trainer.step();
    leaked_nodes = std::max(leaked_nodes, live_nodes() - nodes);
  }
  set_num_threads(threads);
  CHECK(resident() < before + 1'000'000);
  CHECK(leaked_nodes == 0);
}
#endif

TEST_CASE("a loss of NaN throws Diverged and leaves the weights unchanged", "[train][trainer]") {
  Run run(few_steps(10));
  run.steps(2);
  Tensor weight = run.trainer.parameters().at("norm.weight");
  weight.mutable_value()(0) = static_cast<Real>(not_a_number);
  const Array other = run.trainer.parameters().at("token.weight").value();
  std::string message;
  try {
    run.trainer.step();
  } catch (const Diverged& error) {
    message = error.what();
  }
  CHECK(has(message, "the loss is nan in step 3, at learning rate 0.006 and gradient norm nan; "));
  CHECK(same_bits(run.trainer.parameters().at("token.weight").value(), other));
  CHECK(run.trainer.steps_done() == 2);
}

TEST_CASE("the constructor of Trainer throws for invalid options", "[train][trainer]") {
  const Text text;
  const auto rejected = [&](const TrainOptions& options, std::size_t block_size = 12) {
    nn::GptConfig config = small_config(text);
    config.block_size = block_size;
    return message_of([&] { Trainer(text.corpus, config, options); });
  };
  TrainOptions options = few_steps(10);
  options.log_every = 0;
  CHECK(rejected(options) == "Trainer: log_every must be at least 1");
  options = few_steps(10);
  options.eval_every = 0;
  CHECK(rejected(options) == "Trainer: eval_every must be at least 1");
  options = few_steps(10);
  options.eval_batches = 0;
  CHECK(rejected(options) == "Trainer: eval_batches 0 must be from 1 to 1000000000");
  options.eval_batches = static_cast<std::size_t>(-1);
  CHECK(rejected(options) == "Trainer: eval_batches -1 must be from 1 to 1000000000");
  options = few_steps(10);
  options.clip = -1;
  CHECK(rejected(options) == "Trainer: clip -1 must be 0 or more");
  options = few_steps(10);
  options.warmup = -1;
  CHECK(rejected(options) == "Trainer: warmup -1 must be 0 or more");
  options = few_steps(10);
  options.decay_steps = -1;
  CHECK(rejected(options) == "Trainer: decay_steps -1 must be 0 or more");
  options = few_steps(10);
  options.shards = 2;
  CHECK(rejected(options) == "Trainer: 2 shards: use DataParallel for more than 1");
  options = few_steps(10);
  options.beta1 = 1;
  CHECK(rejected(options) == "AdamW: beta1 1 must be in [0, 1)");
  CHECK(has(rejected(few_steps(10), 200), "validation"));  // the smaller of the two splits
}

TEST_CASE("restore rejects impossible counts and sums", "[train][trainer]") {
  Run run(few_steps(10));
  run.steps(3);
  const auto error_with = [&](const auto& change) {
    TrainerState state = run.trainer.state();
    change(state);
    return message_of([&] { run.trainer.restore(state); });
  };
  CHECK(has(error_with([](TrainerState& s) { s.step = -5; }), "Trainer: the state has -5 steps"));
  CHECK(error_with([](TrainerState& s) { s.pending = 4; }) ==
        "Trainer: the state has 3 steps and 4 pending ones; give 0 <= pending <= step");
  CHECK(error_with([](TrainerState& s) {
          s.pending_loss = std::nan("");
        }).rfind("Trainer: the state has the sums pending_loss = nan and ", 0) == 0);
  CHECK(run.trainer.steps_done() == 3);
}
