// diverged_test.cpp: the errors of a training run with a value that is not finite.

#include "../src/train/diverged.hpp"

#include <iostream>
#include <random>

#include "catch.hpp"
#include "heed/debug/trace.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/reduce.hpp"
#include "near.hpp"
#include "scratch_folder.hpp"
#include "small_model.hpp"

namespace {

using namespace heed;
using namespace heed::test;
using heed_test::has;

std::string diverged(Trainer& trainer) {
  try {
    trainer.step();
  } catch (const Diverged& diverged_error) {
    return diverged_error.what();
  }
  return "";
}

// After a random number of steps, sets a random element of the parameter to this value. Returns the
// error of the next step.
std::string error_after_planting(Run& run, const std::string& name, Real value,
                                 std::mt19937& random) {
  run.steps(std::uniform_int_distribution<int>(0, 12)(random));
  Array& values = Tensor(run.trainer.parameters().at(name)).mutable_value();
  values.data()[random() % values.size()] = value;
  return diverged(run.trainer);
}

std::string state_error(const Trainer& trainer) {
  return heed::test::message_of([&] { trainer.state(); });
}

}  // namespace

TEST_CASE("NaN and infinity planted in any parameter at any step are found in that step",
          "[train][diverged]") {
  std::mt19937 random(5);
  int num_planted = 0, num_found = 0;
  const Run model(few_steps(20));
  for (const Tensor& parameter : model.trainer.parameters())
    for (const double bad : {not_a_number, infinity, -infinity}) {
      Run run(few_steps(20, 0.1));
      const std::string error =
          error_after_planting(run, parameter.name(), static_cast<Real>(bad), random);
      const std::string step = " in step " + std::to_string(run.trainer.steps_done() + 1) + ",";
      INFO(parameter.name() << " " << bad << ": " << error);
      const bool found =
          has(error, "the loss is ") && has(error, step + " at learning rate ") &&
          has(error, " and gradient norm ") &&
          has(error, "; parameter " + parameter.name() + " is not finite; first occurrence: ") &&
          has(error, " made at src/");
      CHECK(found);
      ++num_planted;
      num_found += found ? 1 : 0;
    }
  std::cout << "diverged: " << num_planted << " values planted, " << num_found
            << " found in their step\n";
}

TEST_CASE("the error contains the first operation with a value that is not finite",
          "[train][diverged]") {
  Run run(few_steps(20));
  std::mt19937 random(6);
  const auto error =
      error_after_planting(run, "blocks.1.norm2.weight", static_cast<Real>(not_a_number), random);
  INFO(error);
  CHECK(has(error, "; first occurrence: LayerNorm (4, 12, 16) made at src/nn/"));
  CHECK(has(error, "blocks.1.norm2.weight (16) with nan at ("));
}

TEST_CASE("a failed step is repeated with the same batch", "[train][diverged]") {
  const Text text;
  nn::GptConfig config = small_config(text);
  config.tied = false;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    TrainOptions options = few_steps(100);
    options.batch_size = 1;  // 12 tokens of the text; one character in 35 is 'u'
    options.eval_every = options.log_every = 1000;
    options.seed = seed;
    Trainer trainer(text.corpus, config, options);
    Array& embedding = Tensor(trainer.parameters().at("token.weight")).mutable_value();
    embedding(static_cast<std::size_t>(text.vocabulary.find('u')), 2) =
        static_cast<Real>(not_a_number);
    std::string error;
    while (error.empty()) error = diverged(trainer);
    INFO(error);
    CHECK(has(
        error,
        "; parameter token.weight is not finite; first occurrence: Embedding (1, 12, 16) made "));
  }
}

TEST_CASE("a failed step is repeated with the same dropout mask", "[train][diverged]") {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    TrainOptions options = few_steps(1000, 0.9);
    options.eval_every = options.log_every = 10'000;
    options.batch_size = 1;
    options.seed = seed;
    Run run(options);
    // Dropout divides kept values by 0.1, so this value overflows in one step out of ten.
    Tensor(run.trainer.parameters().at("position.weight")).mutable_value()(0, 2) = 3e38f;
    std::string error;
    while (error.empty()) error = diverged(run.trainer);
    INFO(error);
    CHECK(has(error, "; first occurrence: Dropout (1, 12, 16) made at src/nn/"));
  }
}

TEST_CASE("the first gradient that is not finite is the first of the backward pass",
          "[train][diverged]") {
  Parameters parameters;
  const Tensor deep = parameters.add("deep", array_of({1}, {0}));
  const Tensor shallow = parameters.add("shallow", array_of({1}, {0}));
  CHECK(first_nonfinite_parameter(parameters, [&] { return sum(sqrt(shallow + sqrt(deep))); }) ==
        "the first gradient that is not finite is that of shallow");
}

TEST_CASE("a gradient that is not finite is found with its operation when the loss is finite",
          "[train][diverged]") {
  Parameters parameters;
  const Tensor near = parameters.add("near", array_of({3}, {1, 0, 2}));
  const Tensor far = parameters.add("far", array_of({3}, {0, 1, 2}));
  const auto loss = [&] { return sum(sqrt(far * near) * near); };
  CHECK(loss().item() > 0);
  CHECK(first_nonfinite_value(parameters).empty());
  CHECK(first_nonfinite_parameter(parameters, loss) ==
        "the first gradient that is not finite is that of far");
  optim::zero_grad(parameters.tensors());
  const std::string error = first_nonfinite_operation([&] { backward(loss()); });
  INFO(error);
  CHECK(error.rfind("Sqrt (3) made at tests/train/diverged_test.cpp:", 0) == 0);
  CHECK(has(error, " has a finite gradient and passes Multiply (3) one with inf at (0)"));
}

TEST_CASE("without a value that is not finite the search returns nothing", "[train][diverged]") {
  Parameters parameters;
  const Tensor x = parameters.add("x", array_of({2}, {1, 2}));
  const auto loss = [&] { return sum(sqrt(x)); };
  CHECK(first_nonfinite_parameter(parameters, loss) == "");
  optim::zero_grad(parameters.tensors());
  CHECK(first_nonfinite_operation([&] { backward(loss()); }) == "");
}

TEST_CASE("weights or moments that are not finite cannot be saved", "[train][diverged]") {
  Run run(few_steps(20));
  run.steps(2);
  CHECK(state_error(run.trainer) == "");
  Array& values = Tensor(run.trainer.parameters().at("norm.weight")).mutable_value();
  values(3) = static_cast<Real>(infinity);
  CHECK(
      state_error(run.trainer).rfind("parameter norm.weight is not finite after step 2, at ", 0) ==
      0);
  TrainOptions unclipped = few_steps(20);
  unclipped.clip = 0;
  Run moments(unclipped);
  for (Real& v : Tensor(moments.trainer.parameters().at("norm.weight")).mutable_value()) v *= 1e25f;
  moments.steps(1);
  CHECK(state_error(moments.trainer).rfind("optimizer.", 0) == 0);
}

TEST_CASE("a failed step keeps the trace options", "[train][diverged]") {
  set_trace("provenance");
  Run run(few_steps(20));
  std::mt19937 random(7);
  CHECK(error_after_planting(run, "token.weight", static_cast<Real>(not_a_number), random) != "");
  CHECK(trace_options() == "provenance");
  set_trace("");
}
