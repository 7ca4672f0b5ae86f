// results.hpp: what heed bench found out, and how it is told.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heed/app/bench/step_timer.hpp"

namespace heed::app {

struct StepResult {
  Workload workload;
  Percentiles ms;  // of a step
};

// heed against PyTorch: medians over the rounds, and the ratio heed / PyTorch of each round.
struct Comparison {
  std::string name;  // "1 thread"
  Workload workload;
  std::size_t rounds = 0;
  double ms = 0, peer_ms = 0;
  Percentiles ratio;
  double peak_mb = 0, peer_peak_mb = 0;
  double generate_tokens_per_s = 0, peer_generate_tokens_per_s = 0;  // 0: not asked for
};

// Only what was asked for is there.
struct BenchResults {
  Workload workload;
  std::optional<Percentiles> step;  // milliseconds
  std::optional<double> sgemm_gflops;
  std::vector<StepResult> threads, context, width, small;
  std::vector<OperationMs> operations;
  std::optional<double> generate_tokens_per_s;
  std::optional<double> peak_mb;                 // 1 MB = 2^20 bytes
  std::optional<double> start_ms;                // from start to the end of the first step
  std::optional<std::int64_t> first_step_clock;  // when it ended, by this machine's steady clock
  std::vector<Comparison> compared;
};

// What a step's time comes to.
double gflops(const StepResult& step);
double tokens_per_s(const StepResult& step);
// Of as many times the best product as there are threads.
double share_of_peak(const StepResult& step, double sgemm_gflops);

std::string cpu_name();       // "unknown" where the system does not say
std::string compiler_name();  // "g++ 12.2.0"

// The tables a person reads.
std::string bench_table(const BenchResults& results);

// One JSON object on one line. Always: heed, cpu, cores, compiler, blas, threads, block_size,
// batch_size, layers, heads, embed_dim, vocab_size, parameters, flop_per_step. As measured:
//   ms_per_step, p10, p90, tokens_per_s, gflops, share_of_peak, sgemm_gflops
//   peak_mb, generate_tokens_per_s, start_to_first_step_ms
//   threads_sweep, context_sweep, width_sweep, small_model: lists of steps with their own threads,
//     sizes and times, under the names above
//   operations: a list of name, forward_ms, backward_ms
//   compared: a list of name, rounds, threads and sizes, ratio, ratio_p10, ratio_p90, ms_per_step,
//     peak_mb, generate_tokens_per_s, and PyTorch's as peer_ms_per_step and so on
//   first_step_clock_ns: of --only run, when its first step ended, by the steady clock
std::string bench_json(const BenchResults& results);

// What a child program printed.
struct ChildNumbers {
  double ms_per_step = 0, peak_mb = 0, generate_tokens_per_s = 0;
  std::int64_t first_step_clock_ns = 0;  // heed's only
};
// Reads the last line of the output. Throws Error, beginning with `who`, when it is not what a
// child prints.
ChildNumbers child_numbers(const std::string& who, const std::string& output);

}  // namespace heed::app
