// diverged_test.cpp: a number that is not finite is found in its step, and named.

#include <iostream>
#include <random>

#include "../src/train/first_nonfinite.hpp"
#include "catch.hpp"
#include "heed/autograd/trace/trace.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/reduce.hpp"
#include "io/file_tests.hpp"
#include "near.hpp"
#include "train/small_run.hpp"

namespace {

using namespace heed;
using namespace heed::test;
using heed_test::has;

std::string diverged(Trainer& trainer) {
  try {
    trainer.step();
  } catch (const Diverged& error) {
    return error.what();
  }
  return "";
}

// After some steps a value somewhere in the parameter becomes another; what the next step says.
std::string planted(Run& run, const std::string& name, Real value, std::mt19937& random) {
  run.steps(std::uniform_int_distribution<int>(0, 12)(random));
  Array& values = Tensor(run.trainer.parameters().at(name)).mutable_value();
  values.data()[random() % values.size()] = value;
  return diverged(run.trainer);
}

std::string saved(const Trainer& trainer) {
  return heed_test::refusal([&] { trainer.state(); });
}

}  // namespace

TEST_CASE("NaN and infinity planted in any parameter at any step are found in that very step",
          "[train][diverged]") {
  std::mt19937 random(5);
  int tried = 0, found = 0;
  const Run names(few_steps(20));
  for (const Tensor& parameter : names.trainer.parameters())
    for (const double bad : {not_a_number, infinity, -infinity}) {
      Run run(few_steps(20, 0.1));
      const std::string said = planted(run, parameter.name(), static_cast<Real>(bad), random);
      const std::string step = " in step " + std::to_string(run.trainer.steps_done() + 1) + ",";
      INFO(parameter.name() << " " << bad << ": " << said);
      const bool all = has(said, "the loss is ") && has(said, step + " at learning rate ") &&
                       has(said, " and gradient norm ") &&
                       has(said, "; parameter " + parameter.name() + " is not finite; first, ") &&
                       has(said, " made at src/");
      CHECK(all);
      ++tried;
      found += all ? 1 : 0;
    }
  std::cout << "diverged: " << tried << " values planted, " << found << " found in their step\n";
}

TEST_CASE("the operation named first is the one that made the value", "[train][diverged]") {
  Run run(few_steps(20));
  std::mt19937 random(6);
  const auto said = planted(run, "blocks.1.norm2.weight", static_cast<Real>(not_a_number), random);
  INFO(said);
  CHECK(has(said, "; first, LayerNorm (4, 12, 16) made at src/nn/"));
  CHECK(has(said, "blocks.1.norm2.weight (16) with nan at ("));
}

TEST_CASE("the step that failed is done again with its own batch", "[train][diverged]") {
  const Text text;
  nn::GptConfig config = small_model(text);
  config.tied = false;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    TrainOptions options = few_steps(100);
    options.batch_size = 1;  // 12 of the text's symbols: 'u' is one in 35
    options.eval_every = options.log_every = 1000;
    options.seed = seed;
    Trainer trainer(text.corpus, config, options);
    Array& rows = Tensor(trainer.parameters().at("token.weight")).mutable_value();
    rows(static_cast<std::size_t>(text.vocabulary.find('u')), 2) = static_cast<Real>(not_a_number);
    std::string said;
    while (said.empty()) said = diverged(trainer);
    INFO(said);
    CHECK(has(said, "; parameter token.weight is not finite; first, Embedding (1, 12, 16) made "));
  }
}

TEST_CASE("a gradient that goes wrong though the loss is finite is named, with its operation",
          "[train][diverged]") {
  Parameters parameters;
  const Tensor near = parameters.add("near", array_of({3}, {1, 0, 2}));
  const Tensor far = parameters.add("far", array_of({3}, {0, 1, 2}));
  const auto loss = [&] { return sum(sqrt(far * near) * near); };
  CHECK(loss().item() > 0);
  CHECK(first_nonfinite_value(parameters).empty());
  CHECK(first_nonfinite_parameter(parameters, loss) ==
        "the first gradient to go wrong is that of far");
  optim::zero_grad(parameters.tensors());
  const std::string said = first_nonfinite_operation([&] { backward(loss()); });
  INFO(said);
  CHECK(said.rfind("Sqrt (3) made at tests/train/diverged_test.cpp:", 0) == 0);
  CHECK(has(said, " got a finite gradient and sends Multiply (3) one with inf at (0)"));
}

TEST_CASE("where nothing goes wrong there is nothing to name", "[train][diverged]") {
  Parameters parameters;
  const Tensor x = parameters.add("x", array_of({2}, {1, 2}));
  const auto loss = [&] { return sum(sqrt(x)); };
  CHECK(first_nonfinite_parameter(parameters, loss) == "");
  optim::zero_grad(parameters.tensors());
  CHECK(first_nonfinite_operation([&] { backward(loss()); }) == "");
}

TEST_CASE("weights or moments that are not finite are never saved", "[train][diverged]") {
  Run run(few_steps(20));
  run.steps(2);
  CHECK(saved(run.trainer) == "");
  Array& values = Tensor(run.trainer.parameters().at("norm.weight")).mutable_value();
  values(3) = static_cast<Real>(infinity);
  CHECK(saved(run.trainer).rfind("parameter norm.weight is not finite after step 2, at ", 0) == 0);
  TrainOptions steep = few_steps(20);
  steep.clip = 0;
  Run moments(steep);
  for (Real& v : Tensor(moments.trainer.parameters().at("norm.weight")).mutable_value()) v *= 1e25f;
  moments.steps(1);
  CHECK(saved(moments.trainer).rfind("optimizer.", 0) == 0);
}

TEST_CASE("what was traced before a step failed is traced after it", "[train][diverged]") {
  set_trace("provenance");
  Run run(few_steps(20));
  std::mt19937 random(7);
  CHECK(planted(run, "token.weight", static_cast<Real>(not_a_number), random) != "");
  CHECK(trace_options() == "provenance");
  set_trace("");
}
