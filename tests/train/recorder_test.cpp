// recorder_test.cpp: Recorder goes back to any step of a training loop, with the same bits.

#include "heed/train/recorder.hpp"

#include <set>

#include "catch.hpp"
#include "heed/autograd/backward.hpp"
#include "heed/nn/layers.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/reduce.hpp"
#include "heed/optim/adamw.hpp"
#include "message_of.hpp"

using namespace heed;

namespace {

// A layer that learns to double random inputs.
struct Loop {
  Parameters parameters;
  Generator generator{7};
  nn::Linear layer{Scope(parameters, generator), 3, 3};
  optim::AdamW optimizer{parameters, {0.05}};
  Recorder recorder{parameters, optimizer, generator, 4};

  Array train() {
    const Tensor x(generator.randn({4, 3}));
    const Tensor error = layer(x) - x * 2;
    const Tensor loss = sum(error * error);
    optimizer.zero_grad();
    backward(loss);
    optimizer.set_lr(0.05 / static_cast<double>(recorder.steps() + 1));
    optimizer.step();
    recorder.step();
    return loss.value();
  }
};

}  // namespace

TEST_CASE("a record has at most nine states, and the latest is never far", "[train][recorder]") {
  for (const std::int64_t every : {1, 7, 50}) {
    std::set<std::int64_t> kept;
    for (std::int64_t step = 0; step <= 4000; ++step) {
      if (!is_recorded(every, step)) continue;
      const std::int64_t spacing = record_spacing(every, step);
      for (auto i = kept.begin(); i != kept.end();)
        i = *i % spacing != 0 ? kept.erase(i) : std::next(i);
      kept.insert(step);
      REQUIRE(kept.size() <= max_recorded);
      REQUIRE((step < 8 * every || kept.size() >= 5));
      REQUIRE(*kept.begin() == 0);
    }
  }
  CHECK_FALSE(is_recorded(0, 0));
}

TEST_CASE("a recorder goes back to any step, from which the loop has the same bits",
          "[train][recorder]") {
  Loop loop;
  std::vector<Array> losses;
  for (int i = 0; i < 50; ++i) losses.push_back(loop.train());
  const Array last = loop.layer.weight.value();
  for (const std::int64_t step : {0, 3, 17, 49, 50}) {
    loop.recorder.go_back(step);
    REQUIRE(loop.recorder.steps() <= step);
    CHECK(step - loop.recorder.steps() < 8);  // the distance of states after 50 steps
    while (loop.recorder.steps() < 50) {
      const auto done = static_cast<std::size_t>(loop.recorder.steps());
      REQUIRE((loop.train() == losses[done]));
    }
    CHECK((loop.layer.weight.value() == last));
  }
}

TEST_CASE("a recorder rejects steps that were not done", "[train][recorder]") {
  Loop loop;
  for (int i = 0; i < 5; ++i) loop.train();
  CHECK(test::message_of([&] { loop.recorder.go_back(6); }) ==
        "Recorder: step 6 must be from 0 to 5, the steps that were done");
  CHECK(test::message_of([&] { loop.recorder.go_back(-1); }) != "");
  CHECK(test::message_of([&] { Recorder(loop.parameters, loop.optimizer, loop.generator, 0); }) ==
        "Recorder: every 0 must be at least 1");
}
