// bench.hpp: declarations for `heed bench`: timing of training steps (StepTimer), the measured
// results, and their output as tables and JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "commands/bench/options.hpp"
#include "commands/terminal.hpp"
#include "gemm/measured_choice.hpp"
#include "heed/base/text.hpp"
#include "heed/train/trainer.hpp"

namespace heed::app {

int run(const BenchCommand& command);  // runs the command; returns the exit code

// The quantile of the values at `fraction` (0 to 1), interpolated linearly as in numpy.quantile
// (type 7 of Hyndman and Fan 1996). Throws Error if there are no values.
double percentile(std::vector<double> values, double fraction);

struct Percentiles {
  double median = 0, p10 = 0, p90 = 0;
};
Percentiles percentiles_of(const std::vector<double>& values);

// The number of multiplications and additions in the matrix products of a training step, for batch
// size B, block size T, embedding width C, L blocks and V tokens in the vocabulary:
//
//   6 B T (12 L C^2 + V C) + 12 L C B T (T + 1) / 2
//
// Per token, a matrix of n weights needs 2n operations in the forward pass and 4n in the backward
// pass (the gradients of its input and of its weights). Each block has 12 C^2 weights, the output
// layer has V C weights, and embedding lookups need no products. Causal attention has T (T + 1) / 2
// query-key pairs per window. Over all heads, a query-key pair needs 2 C operations for its score,
// 2 C for the weighted sum of values, and 8 C in backward (the gradients of query, key, value and
// attention weight). The FLOP count omits masked pairs and the scores that backward recomputes.
double flop_per_step(const Workload& workload);

// A table of the speeds for stdout, with the chosen library of each row.
std::string gemm_table(const std::vector<GemmSpeed>& speeds);

// Times matrix products of several sizes (256 to 1024 rows) on the calling thread for about 0.1 s.
// Returns the GFLOP/s of the fastest product, an estimate of the current peak of one core. With
// more threads, each does the same, and the result is their sum.
double peak_sgemm_gflops(int threads = 1);

// The GB/s (10^9 bytes per second) at which heed's threads read an array: sums its elements for
// about 0.1 s, and returns the speed of the fastest sum.
double read_gb_per_s(double bytes);

// The bytes of the weights that a token of one text is multiplied with, each read once.
double weight_bytes_per_token(const nn::GptConfig& model, std::size_t bytes_per_weight);

// Milliseconds for 1,000,000 nodes of scalars, x + x + ... + x: forward and backward. Beside them
// those of 1,000,000 blocks of memory of a node's size: allocating and writing them, and reading
// and freeing them.
struct NodeTimes {
  Percentiles forward = {}, backward = {}, blocks_written = {}, blocks_read = {};
};
NodeTimes measure_nodes(std::int64_t rounds);

struct OperationMs {
  std::string name;
  double forward, backward;  // milliseconds per step
};

// Trains a model and times each step. The corpus must outlive the StepTimer.
class StepTimer {
 public:
  StepTimer(const Corpus& corpus, const Workload& workload);

  void warm_up(std::int64_t steps);
  // Runs and times `steps` training steps. If `steps` is 0, trains for 0.4 s, but at least 3 steps.
  void measure(std::int64_t steps);

  const Workload& workload() const { return workload_; }
  Percentiles ms() const { return percentiles_of(ms_); }  // milliseconds per measured step

  // Runs `steps` training steps (at least one) and returns the time of each operation, longest
  // first. Measuring each operation slows these steps down, so they do not count in ms().
  // Clears the operation times collected so far for HEED_TRACE=time, and turns tracing off.
  std::vector<OperationMs> operations(std::int64_t steps);

  // Generates `tokens` tokens after a short warm-up, and returns the tokens per second.
  double generation_rate(std::size_t tokens, std::size_t samples = 1) const;
  // The same for one text and a model whose weights are rounded to BF16 or int8.
  double compact_generation_rate(WeightType type, std::size_t tokens) const;

 private:
  Workload workload_;
  Trainer trainer_;
  std::vector<double> ms_;
};

inline std::string thread_count(const Workload& w) {  // a text such as "2 threads"
  return counted(static_cast<std::size_t>(w.threads), "thread");
}

// The step time of one workload in a sweep (a list of workloads, such as 1, 2 and 4 threads).
struct StepResult {
  std::string sweep;  // the key in JSON, such as "threads_sweep"
  std::string label;  // the name in tables, such as "on 2 threads"
  Workload workload;
  Percentiles ms = {};     // milliseconds per step
  double peak_gflops = 0;  // GFLOP/s of sgemm on all threads of the workload; 0 if not measured

  double tokens_per_s() const { return 1e3 * static_cast<double>(workload.tokens()) / ms.median; }
  double gflops() const { return 1e-6 * flop_per_step(workload) / ms.median; }  // speed in GFLOP/s
  // gflops() divided by the peak of all threads, which is sgemm_gflops * the number of threads.
  double fraction_of_peak(double sgemm_gflops) const {
    return gflops() / (sgemm_gflops * workload.threads);
  }
};

// The measurements that a child program prints as JSON.
struct ChildMeasurements {
  double ms_per_step = 0, peak_mb = 0;
  double generate_tokens_per_s = 0;      // 0 if generation was not measured
  std::int64_t first_step_clock_ns = 0;  // clock (ns) at the end of the first step; 0 for PyTorch
  double array_mb = 0;                   // maximum memory of all arrays; 0 for PyTorch
  std::string peer = {};                 // the other program's name and version, if it gives them
};

// A comparison of heed with another program, such as PyTorch, on one workload: the medians over all
// rounds, and percentiles of the ratio of step times, which is computed for each round.
struct Comparison {
  std::string name;  // a name such as "1 thread"
  Workload workload;
  bool generates = false;  // whether text generation is measured too
  std::int64_t rounds = 0;
  ChildMeasurements heed = {}, torch = {};
  Percentiles ratio = {};  // ratio of step times: heed's / the peer's
};

inline constexpr std::size_t bench_samples = 8;  // number of texts generated together

// All results of heed bench. If a measurement was not made, its member is empty.
struct BenchResults {
  Workload workload;
  std::optional<Percentiles> step;  // milliseconds per step
  std::optional<double> sgemm_gflops;
  std::vector<StepResult> sweeps;
  std::vector<GemmSpeed> gemm;
  std::vector<OperationMs> operations;
  std::optional<double> generate_tokens_per_s;
  std::optional<double> samples_tokens_per_s;  // speed of bench_samples texts generated together
  std::optional<double> bf16_tokens_per_s;     // speed of one text with weights in BF16
  std::optional<double> int8_tokens_per_s;     // speed of one text with weights in int8
  std::optional<double> read_gb_per_s;         // GB/s of reading weight_bytes_per_token() bytes
  std::optional<double> read_bf16_gb_per_s;    // the same for weights in BF16
  std::optional<double> read_int8_gb_per_s;    // the same for weights in int8
  std::optional<double> peak_mb;               // maximum memory; 1 MB = 2^20 bytes
  std::optional<double> array_mb;              // maximum memory of all arrays
  std::optional<NodeTimes> nodes;
  std::optional<double> start_ms;                // ms from program start to end of the first step
  std::optional<double> help_ms;                 // ms of the whole program with --help
  std::optional<std::int64_t> first_step_clock;  // steady clock (ns) at the end of the first step
  std::vector<Comparison> compared;
};

std::string bench_table(const BenchResults& results);
std::string milliseconds(double ms);  // a time with about three significant digits
std::string compiler_name();          // such as "g++ 12.2.0"

// The page of --report: the machine, and a row for each measurement and its limit. `load` is the
// load average of one minute before the measurements; from quiet_load on, the page warns.
inline constexpr double quiet_load = 0.3;
std::string bench_page(const BenchResults& results, double load);

// Returns one JSON object on one line. These keys are always present: heed, cpu, cores, compiler,
// blas, products_by, threads, block_size, batch_size, layers, heads, embed_dim, vocab_size,
// parameters, flop_per_step. These keys are present only if their values were measured:
//   ms_per_step, p10, p90, tokens_per_s, gflops, share_of_peak: the training step
//   sgemm_gflops, peak_mb, array_mb, generate_tokens_per_s, samples_tokens_per_s,
//     bf16_tokens_per_s, int8_tokens_per_s, read_gb_per_s, read_bf16_gb_per_s,
//     read_int8_gb_per_s, start_to_first_step_ms, help_ms: one number each
//   nodes: an object with the keys forward_ms, backward_ms, blocks_written_ms, blocks_read_ms
//   threads_sweep, context_sweep, width_sweep, small_model: each a list with one object per
//     workload, with the keys from threads to flop_per_step and from ms_per_step to share_of_peak
//   gemm: a list of objects with the keys form, m, n, k and the name of each installed library,
//     whose value is in GFLOP/s
//   operations: a list of objects with the keys name, forward_ms, backward_ms
//   compared: a list of objects with the keys name, rounds, peer (the other program's name and
//     version), threads to flop_per_step, ratio (heed's ms_per_step / the peer's), ratio_p10,
//     ratio_p90, ms_per_step, peak_mb, generate_tokens_per_s, and the peer's values of the last
//     three as peer_ms_per_step and so on
//   first_step_clock_ns: with --only run, the steady clock at the end of the first step
std::string bench_json(const BenchResults& results);

// Parses the measurements in the last line of a program's output. Throws Error "PROGRAM: ..." if
// the line has no measurements.
ChildMeasurements parse_child_output(const std::string& program, const std::string& output);

// Runs `heed bench --only run` as a new process. If the exit code of the process is not 0, throws
// Error with the last line of the standard error of the process.
ChildMeasurements run_in_child(const std::string& text, const Workload& workload,
                               std::int64_t steps);

// Runs this program with --help, and returns the milliseconds that it takes.
double help_ms();

// Runs heed and the peer alternately, each as a new process. Throws the errors of run_in_child().
std::vector<Comparison> compare_with_peer(const BenchCommand& command, const std::string& text,
                                          LiveLine& line);

}  // namespace heed::app
