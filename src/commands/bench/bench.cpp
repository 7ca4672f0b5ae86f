// bench.cpp: the command heed bench, which measures training speed.

#include "commands/bench/bench.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <list>

#include "base/machine.hpp"
#include "commands/bench/processes.hpp"
#include "commands/gemm_setting.hpp"
#include "commands/output_file.hpp"
#include "commands/run_folder.hpp"
#include "commands/thread_check.hpp"
#include "heed/array/parallel.hpp"
#include "heed/base/atomic_file.hpp"
#include "heed/base/error.hpp"
#include "heed/base/file.hpp"
#include "heed/base/text.hpp"
#include "heed/debug/timer.hpp"
#include "heed/debug/trace.hpp"

namespace heed::app {
namespace {

std::int64_t clock_ns() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Returns the peak memory of this process in MB. Reads /proc, because getrusage() also counts the
// memory that the process had before exec(), when it was a copy of its parent process.
double peak_mb() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "VmHWM:" && status >> word) return std::stod(word) / 1024;
  return 0;
}

std::int64_t warm_up_steps(std::int64_t timed_steps) { return timed_steps / 5 + 2; }

// Runs all measurements of heed bench except --compare. Each round of measure_steps() times every
// workload once, so that a slowdown of the machine affects all workloads alike.
struct Bench {
  const BenchCommand& command;
  const std::string& path;
  const Corpus& corpus;
  LiveLine& line;
  BenchResults& results;
  const std::int64_t rounds = command.rounds.value_or(3);
  std::list<StepTimer> timers = {};

  void run() {
    if (command.only == "run") return measure_steps_only();
    if (wants("start")) measure_start();  // first: a large process takes long to start another one
    plan();
    if (!timers.empty()) measure_steps();
    if (wants("gemm")) {
      show("matrix products");
      results.gemm = measure_gemm();
    }
    if (wants("operations")) measure_operations();
    if (wants("generate")) measure_generation();
    if (wants("memory")) measure_memory();
    if (wants("nodes")) measure_nodes_if_they_fit();
  }

  bool wants(const char* part) const { return command.only.empty() || command.only == part; }

  void show(const std::string& what) { line.show("measuring " + what); }

  // Returns the StepTimer of the workload. Equal workloads use the same StepTimer.
  StepTimer& timer(const Workload& w) {
    for (StepTimer& each : timers)
      if (each.workload().sizes() == w.sizes()) return each;
    return timers.emplace_back(corpus, w);
  }

  void plan() {
    const Workload& given = command.workload;
    if (wants("step")) timer(given);
    if (wants("threads")) plan_threads(given);
    if (wants("context")) plan_context(given);
    if (wants("width")) plan_width(given);
    if (wants("small")) plan_small(given);
  }
  void add(const char* sweep, const std::string& label, const Workload& w) {
    timer(w);
    results.sweeps.push_back({sweep, label, w});
  }
  void plan_threads(Workload w) {
    const int cores = num_threads();
    for (int threads = 1; threads < 2 * cores; threads *= 2) {
      w.threads = std::min(threads, cores);
      add("threads_sweep", "on " + thread_count(w), w);
    }
  }
  void plan_context(Workload w) {
    for (const std::size_t window : {64u, 256u, 1024u, 4096u}) {
      w.model.block_size = window;
      w.batch_size = std::max<std::size_t>(3072 / window, 1);
      if (window == 4096 && command.report.empty()) continue;  // takes half of the whole time
      if (window < corpus.validation().size)
        add("context_sweep",
            "window " + std::to_string(window) + ", batch " + std::to_string(w.batch_size), w);
    }
  }
  void plan_width(Workload w) {
    for (const std::size_t width : {32u, 64u, 128u, 256u}) {
      w.model.embed_dim = width;
      if (width % w.model.heads == 0) add("width_sweep", "width " + std::to_string(width), w);
    }
  }
  void plan_small(Workload w) {
    w.model.layers = w.model.heads = 4;
    w.model.embed_dim = 32;
    w.model.block_size = 8;
    w.batch_size = 32;
    add("small_model", "small: 32 x 8, width 32", w);
  }

  void measure_steps() {
    const std::int64_t steps = command.steps.value_or(0);
    std::vector<double> peaks;  // GFLOP/s of sgemm in each round: the larger of two measurements
    for (std::int64_t round = 0; round < rounds; ++round)
      for (StepTimer& each : timers) {
        const Workload& w = each.workload();
        show("round " + std::to_string(round + 1) + " of " + std::to_string(rounds) +
             ": a step of " + std::to_string(w.batch_size) + " x " +
             std::to_string(w.model.block_size) + ", width " + std::to_string(w.model.embed_dim) +
             ", threads " + std::to_string(w.threads));
        each.warm_up(round == 0 ? warm_up_steps(steps) + 2 : 1);
        const bool first = &each == &timers.front();
        const double before = first ? peak_sgemm_gflops() : 0;
        each.measure(steps);
        if (first) peaks.push_back(std::max(before, peak_sgemm_gflops()));
      }
    results.sgemm_gflops = percentile(peaks, 0.5);
    if (wants("step")) results.step = timer(command.workload).ms();
    for (StepResult& each : results.sweeps) {
      each.ms = timer(each.workload).ms();
      if (each.sweep == "threads_sweep")
        each.peak_gflops = median([&] { return peak_sgemm_gflops(each.workload.threads); });
    }
  }

  void measure_operations() {
    show("operations");
    StepTimer& steps = timer(command.workload);
    steps.warm_up(3);
    results.operations = steps.operations(command.steps.value_or(20));
  }
  void measure_generation() {
    show("generation");
    const StepTimer& steps = timer(command.workload);
    results.generate_tokens_per_s = median([&] { return steps.generation_rate(500); });
    const auto rate = [&](WeightType type) {
      return median([&] { return steps.compact_generation_rate(type, 500); });
    };
    results.bf16_tokens_per_s = rate(WeightType::bf16);
    results.int8_tokens_per_s = rate(WeightType::int8);
    const auto read = [&](std::size_t bytes) {
      return median(
          [&] { return read_gb_per_s(weight_bytes_per_token(command.workload.model, bytes)); });
    };
    results.read_gb_per_s = read(sizeof(Real));
    results.read_bf16_gb_per_s = read(2);
    results.read_int8_gb_per_s = read(1);
    results.samples_tokens_per_s =
        median([&] { return steps.generation_rate(500, bench_samples); });
  }
  void measure_memory() {
    const ChildMeasurements child = run_child("memory", 20);
    results.peak_mb = child.peak_mb;
    results.array_mb = child.array_mb;
  }
  void measure_nodes_if_they_fit() {
    constexpr double bytes = 1.6e9;  // of the nodes and of the blocks of memory
    if (!command.only.empty()) check_memory(bytes, "--only nodes: 1,000,000 nodes and blocks need");
    if (static_cast<double>(usable_memory()) < bytes)
      return note("1,000,000 nodes are not timed: they need 1.6 GB of memory");
    show("nodes");
    results.nodes = measure_nodes(rounds);
  }
  void measure_start() {
    results.help_ms = median(help_ms);
    results.start_ms = median([&] {
      const std::int64_t begin = clock_ns();
      return 1e-6 * static_cast<double>(run_child("start", 1).first_step_clock_ns - begin);
    });
  }
  ChildMeasurements run_child(const std::string& part, std::int64_t steps) {
    show(part);
    return run_in_child(path, command.workload, steps);
  }
  template <class Measure>
  double median(const Measure& measure) const {  // the median over all rounds
    std::vector<double> values;
    for (std::int64_t round = 0; round < rounds; ++round) values.push_back(measure());
    return percentile(values, 0.5);
  }

  // Measures training steps, the peak memory of training and then the speed of text generation.
  void measure_steps_only() {
    const std::int64_t steps = command.steps.value_or(40);
    StepTimer& step_timer = timer(command.workload);
    step_timer.warm_up(1);
    results.first_step_clock = clock_ns();
    step_timer.warm_up(warm_up_steps(steps) - 1);
    step_timer.measure(steps);
    results.step = step_timer.ms();
    results.peak_mb = peak_mb();
    results.array_mb = static_cast<double>(peak_allocated_bytes()) / 0x1p20;
    results.generate_tokens_per_s = step_timer.generation_rate(200);
  }
};

Vocabulary vocabulary_of(const std::string& text, const std::string& path) {
  try {
    return Vocabulary::of_text(text);
  } catch (const Error&) {
    throw_error(path, ": is not UTF-8; convert it, or give another text");
  }
}

// The load average of the last minute; 0 if unknown.
double load_average() {
  double load = 0;
  return getloadavg(&load, 1) == 1 ? load : 0;
}

void prepare_report(const std::string& file, double load) {
  check_output_file(file, "--report");
  if (load >= quiet_load)
    note("the load average of the last minute is " + decimal(load, 2) +
         ": other programs make the measurements slower; for a report, wait until it is below " +
         decimal(quiet_load, 2));
}

}  // namespace

int run(const BenchCommand& given) {
  set_trace("");  // turns off tracing (HEED_TRACE), which would slow the training steps down
  BenchCommand command = given;
  const double load = load_average();
  if (!command.report.empty()) prepare_report(command.report, load);
  const std::string path = command.text.empty() ? default_text() : command.text;
  std::string text = read_text(path);
  if (has_byte_order_mark(text)) text.erase(0, 3);
  if (text.empty()) throw_error(path, ": is empty; give a text to train on");
  const Vocabulary vocabulary = vocabulary_of(text, path);
  const Corpus corpus(std::move(text), vocabulary);
  command.workload.model.vocab_size = vocabulary.size();

  check_blas_buffers();
  check_threads(std::max(num_threads(), command.workload.threads));
  exit_at_interrupt();
  set_gemm_from_environment();
  if (const auto libraries = start_gemm_libraries(); libraries.valid()) libraries.wait();
  LiveLine line;
  if (command.processes) {
    std::function<double(std::int64_t)> peer_ms;
    if (!command.compare.empty())
      peer_ms = [&](std::int64_t steps) { return ddp_ms(command, path, steps); };
    bench_processes(command, corpus, line, peer_ms);
    return 0;
  }
  BenchResults results;
  results.workload = command.workload;
  if (command.compare.empty())
    Bench{command, path, corpus, line, results}.run();
  else
    results.compared = compare_with_peer(command, path, line);
  line.wipe();
  std::cout << (command.json ? bench_json(results) : bench_table(results));
  if (command.report.empty()) return 0;
  write_file_atomically(command.report, bench_page(results, load));
  if (!command.json) std::cout << printable(command.report) << " is the report\n";
  return 0;
}

}  // namespace heed::app
