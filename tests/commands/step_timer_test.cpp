// step_timer_test.cpp: the FLOP count of a step against counts by hand, percentiles, and StepTimer.

#include <chrono>

#include "catch.hpp"
#include "commands/bench/bench.hpp"
#include "heed/debug/timer.hpp"
#include "heed/debug/trace.hpp"
#include "heed/gemm/gemm.hpp"
#include "small_model.hpp"

using namespace heed;
using namespace heed::app;
using namespace heed::test;

namespace {

Workload small_workload(const Text& text) {
  Workload workload;
  workload.model = small_config(text);
  workload.batch_size = 3;
  return workload;
}

}  // namespace

TEST_CASE("percentiles equal numpy.percentile", "[commands][benchmark]") {
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

TEST_CASE("flop_per_step equals a count by hand", "[commands][benchmark]") {
  nn::GptConfig model = small_config(5, {3, 4, 1});
  // The weights: 4 x 16 for query, key, value and out, 2 x 64 for up and down, 20 for the head. The
  // 2 windows have 1 + 2 + 3 query-key pairs each, with 6 products of 2 heads x 2 numbers.
  CHECK(flop_per_step({model, 2}) == 6 * 6 * 212 + 2 * 6 * (6 * 2 * 4));
  // nanoGPT's model for the works of Shakespeare on a CPU.
  model = {};
  model.vocab_size = 65;
  CHECK(flop_per_step({model, 12}) == 6.0 * 768 * 794752 + 4.0 * 12 * 2080 * 6 * 2 * 128);
}

TEST_CASE("flop_per_step counts all matrices of the model but the position embedding",
          "[commands][benchmark]") {
  Text text;
  const nn::GptConfig model = small_config(text);
  const Trainer trainer(text.corpus, model, few_steps(1));
  double values = 0;
  for (const Tensor& parameter : trainer.parameters())
    if (parameter.shape().size() == 2 && parameter.name().find("position") == std::string::npos)
      values += static_cast<double>(parameter.value().size());
  const double linear = 6 * 3 * 12 * values, attention = 2 * 3 * 78 * 6 * 2 * 16;
  CHECK(flop_per_step({model, 3}) == linear + attention);
}

TEST_CASE("measure times the given number of steps, without the warm-up", "[commands][benchmark]") {
  Text text;
  StepTimer timer(text.corpus, small_workload(text));
  timer.warm_up(2);
  CHECK_THROWS_AS(timer.ms(), Error);
  const auto start = std::chrono::steady_clock::now();
  timer.measure(1);
  const std::chrono::duration<double, std::milli> whole = std::chrono::steady_clock::now() - start;
  CHECK(timer.ms().median <= whole.count());
  CHECK(timer.ms().p10 == timer.ms().p90);
  timer.measure(5);
  CHECK(timer.ms().p10 > 0);
  CHECK(timer.ms().p10 <= timer.ms().median);
  CHECK(timer.ms().median <= timer.ms().p90);
  CHECK(timer.workload().tokens() == 36);
  CHECK(timer.generation_rate(5) > 0);
}

TEST_CASE("operations returns forward and backward times and turns the trace off",
          "[commands][benchmark]") {
  Text text;
  StepTimer timer(text.corpus, small_workload(text));
  timer.measure(3);
  const double before = timer.ms().median;
  const std::vector<OperationMs> operations = timer.operations(2);
  CHECK(timer.ms().median == before);
  bool has_attention = false;
  for (const OperationMs& each : operations) {
    CHECK(each.forward + each.backward >= 0);
    if (each.name == "Attention") has_attention = each.forward > 0 && each.backward > 0;
  }
  CHECK(has_attention);
  CHECK_FALSE(trace_enabled(TraceOption::time));
  CHECK(operation_times().empty());
  CHECK(timed_passes() == 0);
}

// The factor 100 leaves room for a machine whose speed changes meanwhile.
TEST_CASE("peak_sgemm_gflops is not far below the speed of a product", "[commands][benchmark]") {
  const std::size_t n = 512;
  const Array a = ones({n, n});
  matrix_product(a, Transpose::no, a, Transpose::no);
  const auto start = std::chrono::steady_clock::now();
  matrix_product(a, Transpose::no, a, Transpose::no);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  const double gflops = 2e-9 * n * n * n / seconds.count();
  CHECK(peak_sgemm_gflops() > gflops / 100);
}
