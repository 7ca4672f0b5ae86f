// report.cpp: the results of heed bench as tables.

#include <algorithm>
#include <fstream>
#include <thread>

#include "heed/app/bench/results.hpp"
#include "heed/app/version.hpp"
#include "heed/array/matmul.hpp"
#include "heed/base/text.hpp"
#include "heed/nn/gpt.hpp"

namespace heed::app {
namespace {

constexpr std::size_t label_width = 25;

std::string on_threads(int n) { return counted(static_cast<std::size_t>(n), "thread"); }

// With about three significant digits.
std::string milliseconds(double ms) { return decimal(ms, ms < 10 ? 2 : ms < 100 ? 1 : 0); }

std::string columns(const std::vector<std::string>& cells, std::size_t width) {
  std::string line;
  for (const std::string& cell : cells) line += pad_left(cell, width);
  return line;
}

std::string percent(double fraction) { return decimal(100 * fraction, 0) + " %"; }

std::string header(const BenchResults& r) {
  const nn::GptConfig& m = r.workload.model;
  return std::string(version) + " on " + cpu_name() + ", " +
         counted(std::thread::hardware_concurrency(), "core") + "; " + compiler_name() + "\n" +
         blas_name() + "\n" + counted(m.layers, "layer") + ", " + counted(m.heads, "head") +
         ", width " + std::to_string(m.embed_dim) + ", " + std::to_string(m.vocab_size) +
         " tokens in the vocabulary: " + grouped(static_cast<double>(nn::parameter_count(m))) +
         " parameters\na step is " + std::to_string(r.workload.batch_size) + " x " +
         std::to_string(m.block_size) + " tokens, " +
         decimal(1e-9 * flop_per_step(m, r.workload.batch_size), 2) + " GFLOP\n";
}

class StepTable {
 public:
  explicit StepTable(const BenchResults& results) : r_(results) {}

  std::string text() {
    if (r_.step) row("a step, " + on_threads(r_.workload.threads), {r_.workload, *r_.step});
    for (const StepResult& each : r_.threads)
      row("on " + on_threads(each.workload.threads), each,
          ratio(each.ms.median, r_.threads.front()));
    for (const StepResult& each : r_.context)
      row("window " + std::to_string(each.workload.model.block_size) + ", batch " +
              std::to_string(each.workload.batch_size),
          each);
    for (const StepResult& each : r_.width)
      row("width " + std::to_string(each.workload.model.embed_dim), each);
    for (const StepResult& each : r_.small) row("small: 32 x 8, width 32", each);
    if (rows_.empty()) return "";
    return "\n" + pad_right("", label_width) + columns({"ms", "p10", "p90"}, 8) +
           columns({"tokens/s", "GFLOP/s"}, 11) + (r_.sgemm_gflops ? "  of peak" : "") + "\n" +
           rows_;
  }

 private:
  static std::string ratio(double ms, const StepResult& base) {
    if (ms == base.ms.median) return "";
    return "  " + decimal(ms / base.ms.median, 2) + " of " + on_threads(base.workload.threads);
  }
  void row(const std::string& label, const StepResult& step, const std::string& suffix = "") {
    rows_ +=
        pad_right(label, label_width) +
        columns(
            {milliseconds(step.ms.median), milliseconds(step.ms.p10), milliseconds(step.ms.p90)},
            8) +
        columns({grouped(tokens_per_s(step)), decimal(gflops(step), 1)}, 11) +
        (r_.sgemm_gflops ? pad_left(percent(fraction_of_peak(step, *r_.sgemm_gflops)), 9) : "") +
        suffix + "\n";
  }

  const BenchResults& r_;
  std::string rows_;
};

std::string single_results(const BenchResults& r) {
  std::string text;
  const auto line = [&](const std::string& label, const std::string& value) {
    text += pad_right(label, label_width) + pad_left(value, 8) + "\n";
  };
  const std::string threads = " on " + on_threads(r.workload.threads);
  if (r.sgemm_gflops)
    line("peak of sgemm", decimal(*r.sgemm_gflops, 1) + " GFLOP/s on 1 thread, in the same run");
  if (r.generate_tokens_per_s)
    line("generation", grouped(*r.generate_tokens_per_s) + " tokens/s" + threads);
  if (r.peak_mb) line("peak memory", decimal(*r.peak_mb, 1) + " MB in training" + threads);
  if (r.start_ms) line("first step done", decimal(*r.start_ms, 0) + " ms after the start");
  return text.empty() ? "" : "\n" + text;
}

std::string operation_table(const BenchResults& r) {
  if (r.operations.empty()) return "";
  double sum = 0;
  for (const OperationMs& each : r.operations) sum += each.forward + each.backward;
  std::string text = "\n" + pad_right("operation", label_width) +
                     columns({"forward ms", "backward ms", "share"}, 13) + "\n";
  for (const OperationMs& each : r.operations)
    text += pad_right(each.name, label_width) +
            columns({decimal(each.forward, 3), decimal(each.backward, 3),
                     decimal(100 * (each.forward + each.backward) / sum, 1) + " %"},
                    13) +
            "\n";
  return text + pad_right("total", label_width) + pad_left(decimal(sum, 3), 13) +
         " ms per step, while operations are timed\n";
}

std::string generation_columns(double heed, double torch) {
  if (heed == 0 || torch == 0) return columns({"", ""}, 11);
  return columns({decimal(heed, 0), decimal(torch, 0)}, 11);
}

std::string comparison_table(const BenchResults& r) {
  if (r.compared.empty()) return "";
  std::string text = "\n" + pad_right("heed / PyTorch", label_width) +
                     columns({"ratio", "p10", "p90"}, 7) + columns({"ms", "peer ms"}, 9) +
                     columns({"MB", "peer MB"}, 8) + columns({"tokens/s", "peer"}, 11) + "\n";
  for (const Comparison& c : r.compared)
    text +=
        pad_right(c.name, label_width) +
        columns({decimal(c.ratio.median, 3), decimal(c.ratio.p10, 3), decimal(c.ratio.p90, 3)}, 7) +
        columns({milliseconds(c.ms), milliseconds(c.peer_ms)}, 9) +
        columns({decimal(c.peak_mb, 0), decimal(c.peer_peak_mb, 0)}, 8) +
        generation_columns(c.generate_tokens_per_s, c.peer_generate_tokens_per_s) + "\n";
  return text + counted(r.compared.front().rounds, "round") +
         " after a warm-up round; peer: PyTorch; tokens/s: text generation\n";
}

}  // namespace

double gflops(const StepResult& step) {
  return 1e-6 * flop_per_step(step.workload.model, step.workload.batch_size) / step.ms.median;
}

double tokens_per_s(const StepResult& step) {
  return 1e3 * static_cast<double>(step.workload.tokens()) / step.ms.median;
}

double fraction_of_peak(const StepResult& step, double sgemm_gflops) {
  return gflops(step) / (sgemm_gflops * step.workload.threads);
}

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.rfind("model name", 0) == 0 && line.find(": ") != line.npos)
      return line.substr(line.find(": ") + 2);
  return "unknown";
}

std::string compiler_name() {
#ifdef __clang__
  return "clang++ " __clang_version__;
#else
  return "g++ " __VERSION__;
#endif
}

std::string bench_table(const BenchResults& results) {
  return header(results) + StepTable(results).text() + single_results(results) +
         operation_table(results) + comparison_table(results);
}

}  // namespace heed::app
