// page.cpp: the Markdown page of heed bench --report: the machine, and each measurement beside a
// limit of the same run.

#include <sys/utsname.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/instructions.hpp"
#include "base/machine.hpp"
#include "commands/bench/bench.hpp"
#include "commands/commands.hpp"
#include "gemm/library_version.hpp"
#include "heed/array/blas.hpp"

namespace heed::app {
namespace {

namespace fs = std::filesystem;

// One line of a table, which begins and ends with a bar.
std::string row(const std::vector<std::string>& cells) {
  return "| " + joined(cells, " | ") + " |\n";
}

// ---- the machine

std::string first_line(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

// The caches of the first core, such as "L1 data 32K, L1 instruction 32K, L2 512K, L3 32768K".
std::string caches() {
  std::vector<std::string> found;
  for (int i = 0; i < 8; ++i) {
    const fs::path folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i);
    const std::string size = first_line(folder / "size"), type = first_line(folder / "type");
    if (size.empty()) continue;
    const bool is_split = type == "Data" || type == "Instruction";
    found.push_back("L" + first_line(folder / "level") +
                    (!is_split        ? " "
                     : type == "Data" ? " data "
                                      : " instruction ") +
                    size);
  }
  return found.empty() ? "unknown" : joined(found, ", ");
}

std::string operating_system() {
  utsname names{};
  std::string text = uname(&names) == 0 ? std::string(names.sysname) + " " + names.release : "";
  std::ifstream file("/etc/os-release");
  const std::string key = "PRETTY_NAME=";
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(key, 0) != 0) continue;
    line.erase(std::remove(line.begin(), line.end(), '"'), line.end());
    text += ", " + line.substr(key.size());
  }
  return text;
}

// The instructions for which heed was compiled.
std::string own_instructions() {
#if defined(__AVX512F__)
  return "AVX-512";
#elif defined(__AVX2__)
  return "AVX2";
#elif defined(__ARM_NEON)
  return "NEON";
#else
  return "those of every processor of this kind";
#endif
}

std::string date() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  char text[64] = "";
  gmtime_r(&now, &utc);
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &utc);
  return text;
}

std::string chosen_libraries() {
  std::vector<std::string> texts;
  for (const GemmLibrary library : all_gemm_libraries) {
    if (!uses(gemm_choice(), library)) continue;
    const std::string instructions = instructions_of(library);
    const bool is_openblas = library == GemmLibrary::openblas;  // whose version has its name
    texts.push_back((is_openblas ? blas_name() : name_and_version(library)) +
                    (instructions.empty() ? "" : " (" + instructions + ")"));
  }
  return joined(texts, "; ");
}

std::string machine_table(const BenchResults& r) {
  const nn::GptConfig& m = r.workload.model;
  const std::string isa = isa_setting();
  return row({"", ""}) + row({"---", "---"}) + row({"date", date()}) +
         row({"processor", processor_name()}) +
         row({"cores", std::to_string(std::thread::hardware_concurrency()) +
                           ", of which heed may use " + std::to_string(usable_cores())}) +
         row({"caches", caches()}) + row({"operating system", operating_system()}) +
         row({"heed", std::string(version) + ", compiled by " + compiler_name() + " for " +
                          own_instructions()}) +
         row({"libraries for products", chosen_libraries()}) +
         row({"HEED_ISA", isa.empty() ? "not set" : isa}) +
         row({"model", counted(m.layers, "layer") + ", " + counted(m.heads, "head") + ", width " +
                           std::to_string(m.embed_dim) + ", window " +
                           std::to_string(m.block_size) + ", batch " +
                           std::to_string(r.workload.batch_size) + ": " +
                           grouped(static_cast<double>(nn::parameter_count(m))) + " parameters"});
}

// ---- the measurements

// A row: the measurement, its median and its percentiles, if they were measured, the limit, the
// ratio of both, and what the limit is. The numbers have `unit`.
std::string measured_row(const std::string& name, const Percentiles& value, double limit,
                         const std::string& unit, const std::string& what) {
  const auto text = [&](double x) { return unit.empty() ? decimal(x, 2) : milliseconds(x) + unit; };
  const bool has_range = value.p10 != 0;
  return row({name, text(value.median),
              has_range ? milliseconds(value.p10) + " to " + text(value.p90) : "", text(limit),
              decimal(value.median / limit, 2), what});
}

std::string step_row(const std::string& name, const Workload& w, const Percentiles& ms,
                     double gflops) {
  const double flop = flop_per_step(w);
  return measured_row(name, ms, 1e-6 * flop / gflops, " ms",
                      decimal(1e-9 * flop, 2) + " GFLOP at sgemm's " + decimal(gflops, 1) +
                          " GFLOP/s on " + thread_count(w));
}

// The ratios of the steps with several threads to the step with one.
std::string thread_rows(const BenchResults& r) {
  std::string rows;
  const StepResult* one = nullptr;
  for (const StepResult& each : r.sweeps) {
    if (each.sweep != "threads_sweep") continue;
    if (one == nullptr) one = &each;
    if (one == &each) continue;
    rows +=
        measured_row(thread_count(each.workload) + " / 1 thread", {each.ms.median / one->ms.median},
                     one->peak_gflops / each.peak_gflops, "", "the same ratio of sgemm");
  }
  return rows;
}

// The GFLOP/s of sgemm on the threads of a workload: those that the sweep of threads measured or,
// without one, those of one thread times their number.
double peak_of(const BenchResults& r, const Workload& w) {
  for (const StepResult& each : r.sweeps)
    if (each.peak_gflops != 0 && each.workload.threads == w.threads) return each.peak_gflops;
  return *r.sgemm_gflops * w.threads;
}

std::string step_rows(const BenchResults& r) {
  if (!r.sgemm_gflops) return "";
  std::string rows;
  if (r.step)
    rows += step_row("a step, " + thread_count(r.workload), r.workload, *r.step,
                     peak_of(r, r.workload));
  for (const StepResult& each : r.sweeps)
    if (!r.step || each.workload.sizes() != r.workload.sizes())
      rows += step_row("a step, " + each.label, each.workload, each.ms, peak_of(r, each.workload));
  return rows + thread_rows(r);
}

std::string token_row(const BenchResults& r, const std::string& type, std::size_t bytes_per_weight,
                      double tokens_per_s, double gb_per_s) {
  const double bytes = weight_bytes_per_token(r.workload.model, bytes_per_weight);
  return measured_row("a token of one text, " + type, {1e3 / tokens_per_s}, 1e-6 * bytes / gb_per_s,
                      " ms",
                      "reading the weights, " + decimal(1e-6 * bytes, 2) + " MB, at " +
                          decimal(gb_per_s, 1) + " GB/s");
}

std::string other_rows(const BenchResults& r) {
  std::string rows;
  if (r.generate_tokens_per_s && r.read_gb_per_s)
    rows += token_row(r, "F32", sizeof(Real), *r.generate_tokens_per_s, *r.read_gb_per_s);
  if (r.bf16_tokens_per_s && r.read_bf16_gb_per_s)
    rows += token_row(r, "BF16", 2, *r.bf16_tokens_per_s, *r.read_bf16_gb_per_s);
  if (r.int8_tokens_per_s && r.read_int8_gb_per_s)
    rows += token_row(r, "int8", 1, *r.int8_tokens_per_s, *r.read_int8_gb_per_s);
  if (r.peak_mb && r.array_mb)
    rows += measured_row("memory of training", {*r.peak_mb}, *r.array_mb, " MB",
                         "all arrays at their peak");
  if (r.start_ms && r.help_ms)
    rows += measured_row("start to the end of the first step", {*r.start_ms}, *r.help_ms, " ms",
                         "the same program with --help");
  if (!r.nodes) return rows;
  const std::string blocks =
      "1,000,000 blocks of a node's " + std::to_string(sizeof(Node)) + " bytes, ";
  return rows +
         measured_row("1,000,000 scalar nodes, forward", r.nodes->forward,
                      r.nodes->blocks_written.median, " ms", blocks + "allocated and written") +
         measured_row("1,000,000 scalar nodes, backward", r.nodes->backward,
                      r.nodes->blocks_read.median, " ms", blocks + "read and freed");
}

std::string warning(double load) {
  if (load < quiet_load) return "";
  return "**This machine was not quiet:** its load average of one minute was " + decimal(load, 2) +
         " at the start, and a report needs less than " + decimal(quiet_load, 2) +
         ". Times are too long, by an unknown factor.\n\n";
}

}  // namespace

std::string bench_page(const BenchResults& r, double load) {
  return "# Speed of heed on " + processor_name() + "\n\n" + warning(load) + machine_table(r) +
         "\nEach limit was measured in the same run. The times of steps are medians over all steps "
         "of "
         "all rounds; p10 and p90 stand where a row has several.\n\n" +
         row({"measurement", "median", "p10 to p90", "limit", "median / limit",
              "what the limit is"}) +
         row({"---", "---", "---", "---", "---", "---"}) + step_rows(r) + other_rows(r) +
         "\nAll measurements:\n\n```\n" + bench_table(r) + "```\n";
}

}  // namespace heed::app
