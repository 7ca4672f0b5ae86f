// step_timer.cpp: timing of training steps, matrix products and operations.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <future>
#include <limits>

#include "commands/bench/bench.hpp"
#include "heed/array/blas.hpp"
#include "heed/array/parallel.hpp"
#include "heed/base/error.hpp"
#include "heed/debug/timer.hpp"
#include "heed/debug/trace.hpp"
#include "heed/train/generate.hpp"

namespace heed::app {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Options for training without a step limit or validation, with nanoGPT's hyperparameters.
TrainOptions endless_training(std::size_t batch_size) {
  TrainOptions options;
  options.batch_size = batch_size;
  options.steps = options.eval_every = options.log_every = std::numeric_limits<std::int64_t>::max();
  return options;
}

// Repeats a matrix product (m, k) x (k, n) for 0.02 s and returns the highest GFLOP/s. The first
// products warm up the cache.
double product_gflops(std::size_t m, std::size_t n, std::size_t k) {
  Generator generator(1);
  const Array a = generator.uniform({m, k}, -1, 1), b = generator.uniform({k, n}, -1, 1);
  Array c = zeros({m, n});
  const double flop = 2 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  double fastest = std::numeric_limits<double>::infinity();
  for (const auto start = Clock::now(); seconds_since(start) < 0.02 || std::isinf(fastest);) {
    const auto begin = Clock::now();
    gemm({a.data(), m, k, k}, {b.data(), k, n, n}, {c.data(), m, n, n});
    fastest = std::min(fastest, seconds_since(begin));
  }
  return flop / fastest * 1e-9;
}

}  // namespace

double percentile(std::vector<double> values, double fraction) {
  if (values.empty()) throw_error("percentile: there are no values");
  std::sort(values.begin(), values.end());
  const double position = fraction * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (position - static_cast<double>(below)) * (values[above] - values[below]);
}

Percentiles percentiles_of(const std::vector<double>& values) {
  return {percentile(values, 0.5), percentile(values, 0.1), percentile(values, 0.9)};
}

double flop_per_step(const Workload& workload) {
  const nn::GptConfig& model = workload.model;
  const auto real = [](std::size_t n) { return static_cast<double>(n); };
  const double B = real(workload.batch_size), T = real(model.block_size), C = real(model.embed_dim);
  const double L = real(model.layers), V = real(model.vocab_size);
  return 6 * B * T * (12 * L * C * C + V * C) + 12 * L * C * B * T * (T + 1) / 2;
}

static double peak_of_this_thread() {
  return std::max({product_gflops(1024, 1024, 1024), product_gflops(512, 512, 512),
                   product_gflops(768, 512, 128), product_gflops(768, 128, 512),
                   product_gflops(256, 256, 256)});
}

double peak_sgemm_gflops(int threads) {
  std::vector<std::future<double>> others;
  for (int i = 1; i < threads; ++i)
    others.push_back(std::async(std::launch::async, peak_of_this_thread));
  double sum = peak_of_this_thread();
  for (std::future<double>& each : others) sum += each.get();
  return sum;
}

StepTimer::StepTimer(const Corpus& corpus, const Workload& workload)
    : workload_(workload),
      trainer_(corpus, workload.model, endless_training(workload.batch_size)) {}

void StepTimer::warm_up(std::int64_t steps) {
  set_num_threads(workload_.threads);
  for (std::int64_t i = 0; i < steps; ++i) trainer_.step();
}

void StepTimer::measure(std::int64_t steps) {
  set_num_threads(workload_.threads);
  const auto start = Clock::now();
  for (std::int64_t i = 0; steps > 0 ? i < steps : i < 3 || seconds_since(start) < 0.4; ++i) {
    const auto begin = Clock::now();
    trainer_.step();
    ms_.push_back(1e3 * seconds_since(begin));
  }
}

std::vector<OperationMs> StepTimer::operations(std::int64_t steps) {
  set_trace("time");
  clear_operation_times();
  warm_up(steps);
  set_trace("");
  std::vector<OperationMs> result;
  const double ms = 1e3 / static_cast<double>(timed_passes());
  for (const OperationTime& each : operation_times())
    result.push_back(
        {std::string(each.name), each.forward.seconds * ms, each.backward.seconds * ms});
  clear_operation_times();
  return result;
}

static double generation_rate_of(const nn::Gpt& model, std::size_t tokens, std::size_t samples) {
  std::vector<Generator> generators;
  for (std::size_t i = 0; i < samples; ++i) generators.emplace_back(i);
  GenerateOptions options;
  options.tokens = std::min<std::size_t>(tokens, 20);
  generate(model, {0}, options, generators);
  options.tokens = tokens;
  const auto start = Clock::now();
  generate(model, {0}, options, generators);
  return static_cast<double>(tokens * samples) / seconds_since(start);
}

double StepTimer::generation_rate(std::size_t tokens, std::size_t samples) const {
  set_num_threads(workload_.threads);
  return generation_rate_of(trainer_.model(), tokens, samples);
}

double StepTimer::compact_generation_rate(WeightType type, std::size_t tokens) const {
  set_num_threads(workload_.threads);
  Parameters parameters;
  CompactMatrices matrices;
  matrices.type = type;
  const nn::Gpt model = nn::without_values(parameters, matrices, trainer_.model().config);
  for (const Tensor& each : trainer_.parameters())
    if (const auto matrix = matrices.find(each.name()); matrix != matrices.end())
      matrix->second->set(0, each.value().data(), each.value().size());
    else
      parameters.at(each.name()).mutable_value() = each.value();
  return generation_rate_of(model, tokens, 1);
}

}  // namespace heed::app
