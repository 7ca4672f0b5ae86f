// two_threads_test.cpp: two models, each trained by a thread of its own.

#include <thread>
#include <vector>

#include "catch.hpp"
#include "heed/autograd/backward.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/optim/adamw.hpp"
#include "small_model.hpp"

namespace heed::test {

// The parameters of a small model after ten steps.
static std::vector<Array> trained_parameters(std::uint64_t seed) {
  SmallModel model(small_config(5), seed);
  optim::AdamWOptions options;
  options.lr = 0.01;
  optim::AdamW optimizer(model.parameters, options);
  nn::TrainingMode training{0.1, &model.generator};
  for (int step = 0; step < 10; ++step) {
    const Indices tokens = model.generator.randint(0, 5, {4, 12});
    const Indices targets = model.generator.randint(0, 5, {4, 12});
    const Tensor loss = model.gpt.loss(tokens, targets, &training);
    optimizer.zero_grad();
    backward(loss);
    optim::clip_grad_norm(model.parameters, 1);
    optimizer.step();
  }
  std::vector<Array> values;
  for (const Tensor& parameter : model.parameters) values.push_back(parameter.value());
  return values;
}

TEST_CASE("two models trained in two threads at once have the bits of one after the other",
          "[optim][two_threads]") {
  const std::vector<Array> first = trained_parameters(1), second = trained_parameters(2);
  std::vector<Array> first_at_once, second_at_once;
  std::thread one([&] { first_at_once = trained_parameters(1); });
  std::thread two([&] { second_at_once = trained_parameters(2); });
  one.join();
  two.join();
  CHECK((first_at_once == first));
  CHECK((second_at_once == second));
  CHECK_FALSE((first == second));
}

TEST_CASE("NoGrad in one thread does not stop recording in another", "[optim][two_threads]") {
  const NoGrad no_grad;
  bool recorded = false;
  std::thread other([&] { recorded = (Tensor(ones({2}), true) * 2.0).requires_grad(); });
  other.join();
  CHECK(recorded);
  CHECK_FALSE((Tensor(ones({2}), true) * 2.0).requires_grad());
}

}  // namespace heed::test
