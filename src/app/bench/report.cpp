// report.cpp: what heed bench found out, as tables a person reads.

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

std::string number(std::size_t n) { return std::to_string(n); }

std::string counted(std::size_t n, const std::string& what) {
  return number(n) + " " + what + (n == 1 ? "" : "s");
}

std::string on_threads(int n) { return counted(static_cast<std::size_t>(n), "thread"); }

// Three digits that matter.
std::string milliseconds(double ms) { return decimal(ms, ms < 10 ? 2 : ms < 100 ? 1 : 0); }

std::string columns(const std::vector<std::string>& cells, std::size_t width) {
  std::string line;
  for (const std::string& cell : cells) line += pad_left(cell, width);
  return line;
}

std::string percent(double share) { return decimal(100 * share, 0) + " %"; }

std::string header(const BenchResults& r) {
  const nn::GptConfig& m = r.workload.model;
  return std::string(version) + " on " + cpu_name() + ", " +
         counted(std::thread::hardware_concurrency(), "core") + "; " + compiler_name() + "\n" +
         blas_name() + "\n" + counted(m.layers, "layer") + ", " + counted(m.heads, "head") +
         ", width " + number(m.embed_dim) + ", " + number(m.vocab_size) +
         " distinct symbols: " + grouped(static_cast<double>(nn::parameter_count(m))) +
         " parameters\na step is " + number(r.workload.batch_size) + " x " + number(m.block_size) +
         " symbols, " + decimal(1e-9 * step_operations(m, r.workload.batch_size), 2) + " GFLOP\n";
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
      row("window " + number(each.workload.model.block_size) + ", batch " +
              number(each.workload.batch_size),
          each);
    for (const StepResult& each : r_.width)
      row("width " + number(each.workload.model.embed_dim), each);
    for (const StepResult& each : r_.small) row("small: 32 x 8, width 32", each);
    if (rows_.empty()) return "";
    return "\n" + pad_right("", label_width) + columns({"ms", "p10", "p90"}, 8) +
           columns({"tokens/s", "GFLOP/s"}, 11) + (r_.sgemm_gflops ? "  of peak" : "") + "\n" +
           rows_;
  }

 private:
  std::string ratio(double ms, const StepResult& one) const {
    if (ms == one.ms.median) return "";
    return "  " + decimal(ms / one.ms.median, 2) + " of " + on_threads(one.workload.threads);
  }
  void row(const std::string& label, const StepResult& step, const std::string& more = "") {
    rows_ += pad_right(label, label_width) +
             columns({milliseconds(step.ms.median), milliseconds(step.ms.p10),
                      milliseconds(step.ms.p90)},
                     8) +
             columns({grouped(tokens_per_s(step)), decimal(gflops(step), 1)}, 11) +
             (r_.sgemm_gflops ? pad_left(percent(share_of_peak(step, *r_.sgemm_gflops)), 9) : "") +
             more + "\n";
  }

  const BenchResults& r_;
  std::string rows_;
};

std::string single_measures(const BenchResults& r) {
  std::string text;
  const auto line = [&](const std::string& label, const std::string& value) {
    text += pad_right(label, label_width) + pad_left(value, 8) + "\n";
  };
  const std::string on = " on " + on_threads(r.workload.threads);
  if (r.sgemm_gflops)
    line("peak of sgemm", decimal(*r.sgemm_gflops, 1) + " GFLOP/s on 1 thread, in the same run");
  if (r.generate_tokens_per_s)
    line("writing", grouped(*r.generate_tokens_per_s) + " tokens/s" + on);
  if (r.peak_mb) line("memory at its peak", decimal(*r.peak_mb, 1) + " MB in training" + on);
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
  return text + pad_right("all of these", label_width) + pad_left(decimal(sum, 3), 13) +
         " ms a step, watched\n";
}

std::string against(double ours, double theirs, int decimals) {
  if (ours == 0 || theirs == 0) return columns({"", ""}, 11);
  return columns({decimal(ours, decimals), decimal(theirs, decimals)}, 11);
}

std::string comparison_table(const BenchResults& r) {
  if (r.compared.empty()) return "";
  std::string text = "\n" + pad_right("heed / PyTorch", label_width) +
                     columns({"ratio", "p10", "p90"}, 7) + columns({"ms", "its ms"}, 9) +
                     columns({"MB", "its MB"}, 8) + columns({"tokens/s", "its"}, 11) + "\n";
  for (const Comparison& c : r.compared)
    text +=
        pad_right(c.name, label_width) +
        columns({decimal(c.ratio.median, 3), decimal(c.ratio.p10, 3), decimal(c.ratio.p90, 3)}, 7) +
        columns({milliseconds(c.ms), milliseconds(c.peer_ms)}, 9) +
        columns({decimal(c.peak_mb, 0), decimal(c.peer_peak_mb, 0)}, 8) +
        against(c.generate_tokens_per_s, c.peer_generate_tokens_per_s, 0) + "\n";
  return text + counted(r.compared.front().rounds, "round") +
         " in turn, after one that does not count; tokens/s: writing\n";
}

}  // namespace

double gflops(const StepResult& step) {
  return 1e-6 * step_operations(step.workload.model, step.workload.batch_size) / step.ms.median;
}

double tokens_per_s(const StepResult& step) {
  return 1e3 * static_cast<double>(step.workload.symbols()) / step.ms.median;
}

double share_of_peak(const StepResult& step, double sgemm_gflops) {
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
  return header(results) + StepTable(results).text() + single_measures(results) +
         operation_table(results) + comparison_table(results);
}

}  // namespace heed::app
