// results.hpp: the results of heed bench, printed as tables or as JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heed/app/bench/step_timer.hpp"

namespace heed::app {

struct StepResult {
  Workload workload;
  Percentiles ms;  // per step
};

// heed against PyTorch: medians over the rounds, and percentiles of each round's ratio heed /
// PyTorch.
struct Comparison {
  std::string name;  // "1 thread"
  Workload workload;
  std::size_t rounds = 0;
  double ms = 0, peer_ms = 0;
  Percentiles ratio;
  double peak_mb = 0, peer_peak_mb = 0;
  double generate_tokens_per_s = 0, peer_generate_tokens_per_s = 0;  // 0: not measured
};

// A part that was not measured is absent or empty.
struct BenchResults {
  Workload workload;
  std::optional<Percentiles> step;  // milliseconds
  std::optional<double> sgemm_gflops;
  std::vector<StepResult> threads, context, width, small;
  std::vector<OperationMs> operations;
  std::optional<double> generate_tokens_per_s;
  std::optional<double> peak_mb;                 // 1 MB = 2^20 bytes
  std::optional<double> start_ms;                // from program start to the end of the first step
  std::optional<std::int64_t> first_step_clock;  // the steady clock at the end of the first step
  std::vector<Comparison> compared;
};

double gflops(const StepResult& step);  // GFLOP/s
double tokens_per_s(const StepResult& step);
// The step's GFLOP/s divided by sgemm_gflops times the number of threads.
double fraction_of_peak(const StepResult& step, double sgemm_gflops);

std::string cpu_name();       // "unknown" if the system does not tell
std::string compiler_name();  // "g++ 12.2.0"

std::string bench_table(const BenchResults& results);

// One JSON object on one line. Always present: heed, cpu, cores, compiler, blas, threads,
// block_size, batch_size, layers, heads, embed_dim, vocab_size, parameters, flop_per_step. If
// measured:
//   ms_per_step, p10, p90, tokens_per_s, gflops, share_of_peak, sgemm_gflops
//   peak_mb, generate_tokens_per_s, start_to_first_step_ms
//   threads_sweep, context_sweep, width_sweep, small_model: lists of steps, each with its threads,
//     sizes and times under the names above
//   operations: a list of name, forward_ms, backward_ms
//   compared: a list of name, rounds, threads and sizes, ratio, ratio_p10, ratio_p90, ms_per_step,
//     peak_mb, generate_tokens_per_s, and PyTorch's numbers as peer_ms_per_step and so on
//   first_step_clock_ns: for --only run, the steady clock at the end of the first step
std::string bench_json(const BenchResults& results);

// The measurements that a child program prints as JSON.
struct ChildMeasurements {
  double ms_per_step = 0, peak_mb = 0, generate_tokens_per_s = 0;
  std::int64_t first_step_clock_ns = 0;  // printed by heed only
};
// Parses the last line of the output. Throws Error "PROGRAM: ..." when it has no such measurements.
ChildMeasurements parse_child_output(const std::string& program, const std::string& output);

}  // namespace heed::app
