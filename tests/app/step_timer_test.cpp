// step_timer_test.cpp: what a step costs, counted by hand, and how times are summed up.

#include "heed/app/bench/step_timer.hpp"

#include "catch.hpp"
#include "heed/autograd/trace/timing.hpp"
#include "heed/autograd/trace/trace.hpp"
#include "near.hpp"
#include "train/small_run.hpp"

using namespace heed;
using namespace heed::test;

namespace {

Workload small_workload(const Text& text) {
  Workload workload;
  workload.model = small_model(text);
  workload.batch_size = 3;
  return workload;
}

}  // namespace

TEST_CASE("percentiles lie where NumPy puts them", "[app][benchmark]") {
  const std::vector<double> values{4, 1, 3, 2, 10};
  CHECK(percentile(values, 0) == 1);
  CHECK(percentile(values, 0.5) == 3);
  CHECK(percentile(values, 1) == 10);
  CHECK(std::abs(percentile(values, 0.1) - 1.4) < 1e-12);
  CHECK(std::abs(percentile(values, 0.9) - 7.6) < 1e-12);
  CHECK(percentile({7}, 0.9) == 7);
  CHECK(percentile({1, 2}, 0.5) == 1.5);
  CHECK_THROWS_AS(percentile({}, 0.5), Error);
  const Percentiles spread = percentiles_of(values);
  CHECK(spread.median == percentile(values, 0.5));
  CHECK(spread.p10 == percentile(values, 0.1));
  CHECK(spread.p90 == percentile(values, 0.9));
}

TEST_CASE("a step's operations are those counted by hand", "[app][benchmark]") {
  nn::GptConfig model;
  model.vocab_size = 5;
  model.block_size = 3;
  model.layers = 1;
  model.heads = 2;
  model.embed_dim = 4;
  // Query, key, value and out are 4 of 16 values, up and down 2 of 64, the head 20: 212. A window
  // has 1 + 2 + 3 pairs, each with 6 products of 2 heads x 2 numbers. Two windows.
  CHECK(step_operations(model, 2) == 6 * 6 * 212 + 2 * 6 * (6 * 2 * 4));
  // The model of nanoGPT's recipe on Shakespeare.
  model = {};
  model.vocab_size = 65;
  CHECK(step_operations(model, 12) == 6.0 * 768 * 794752 + 4.0 * 12 * 2080 * 6 * 2 * 128);
}

TEST_CASE("the matrices that are counted are those the model has", "[app][benchmark]") {
  Text text;
  const nn::GptConfig model = small_model(text);
  const Trainer trainer(text.corpus, model, few_steps(1));
  double values = 0;
  for (const Tensor& parameter : trainer.parameters())
    if (parameter.shape().size() == 2 && parameter.name().find("position") == std::string::npos)
      values += static_cast<double>(parameter.value().size());
  const double linear = 6 * 3 * 12 * values, attention = 2 * 3 * 78 * 6 * 2 * 16;
  CHECK(step_operations(model, 3) == linear + attention);
}

TEST_CASE("steps are timed as many as asked for, warm-up aside", "[app][benchmark]") {
  Text text;
  StepTimer timer(text.corpus, small_workload(text));
  timer.warm_up(2);
  CHECK_THROWS_AS(timer.ms(), Error);
  timer.measure(1);
  CHECK(timer.ms().p10 == timer.ms().p90);
  timer.measure(5);
  CHECK(timer.ms().p10 > 0);
  CHECK(timer.ms().p10 <= timer.ms().median);
  CHECK(timer.ms().median <= timer.ms().p90);
  CHECK(timer.workload().symbols() == 36);
  CHECK(timer.generation_rate(5) > 0);
}

TEST_CASE("operations are told forward and backward, and leave no trace", "[app][benchmark]") {
  Text text;
  StepTimer timer(text.corpus, small_workload(text));
  timer.measure(3);
  const double before = timer.ms().median;
  const std::vector<OperationMs> operations = timer.operations(2);
  CHECK(timer.ms().median == before);
  bool found = false;
  for (const OperationMs& each : operations) {
    CHECK(each.forward + each.backward >= 0);
    if (each.name == "Attention") found = each.forward > 0 && each.backward > 0;
  }
  CHECK(found);
  CHECK_FALSE(trace_enabled(TraceOption::time));
  CHECK(operation_times().empty());
  CHECK(timed_passes() == 0);
}

TEST_CASE("matrix products run at some speed", "[app][benchmark]") {
  CHECK(best_product_gflops() > 0);
}
