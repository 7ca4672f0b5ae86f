// report.cpp: writes the results of heed bench as tables or JSON, and parses the JSON that child
// programs print.

#include <thread>

#include "base/json.hpp"
#include "base/machine.hpp"
#include "commands/bench/bench.hpp"
#include "commands/commands.hpp"
#include "heed/array/blas.hpp"
#include "heed/base/error.hpp"

namespace heed::app {

std::string compiler_name() {
#ifdef __clang__
  return "clang++ " __clang_version__;
#else
  return "g++ " __VERSION__;
#endif
}

std::string milliseconds(double ms) {
  return decimal(ms, ms < 1 ? 3 : ms < 10 ? 2 : ms < 100 ? 1 : 0);
}

namespace {

// ---- tables

using Cells = std::vector<std::string>;
using Widths = std::vector<std::size_t>;

// Returns one line of a table: the label, the right-aligned cells, and the text `end`.
std::string row(const std::string& label, const Cells& cells, const Widths& widths,
                const std::string& end = "") {
  std::string line = pad_right(label, 25);
  for (std::size_t i = 0; i < cells.size(); ++i) line += pad_left(cells[i], widths[i]);
  return line + end + "\n";
}

std::string header(const BenchResults& r) {
  const nn::GptConfig& m = r.workload.model;
  return std::string(version) + " on " + processor_name() + ", " +
         counted(std::thread::hardware_concurrency(), "core") + "; " + compiler_name() + "\n" +
         blas_name() + "\nmatrix products by " + gemm_choice().text() + "\n" +
         counted(m.layers, "layer") + ", " + counted(m.heads, "head") + ", width " +
         std::to_string(m.embed_dim) + ", " + std::to_string(m.vocab_size) +
         " tokens in the vocabulary: " + grouped(static_cast<double>(nn::parameter_count(m))) +
         " parameters\na step is " + std::to_string(r.workload.batch_size) + " x " +
         std::to_string(m.block_size) + " tokens, " + decimal(1e-9 * flop_per_step(r.workload), 2) +
         " GFLOP\n";
}

const Widths step_widths{8, 8, 8, 11, 11, 9};

std::string step_row(const StepResult& step, const BenchResults& r) {
  Cells cells{milliseconds(step.ms.median), milliseconds(step.ms.p10), milliseconds(step.ms.p90),
              grouped(step.tokens_per_s()), decimal(step.gflops(), 1)};
  if (r.sgemm_gflops)
    cells.push_back(decimal(100 * step.fraction_of_peak(*r.sgemm_gflops), 0) + " %");
  std::string ratio;
  if (step.sweep == "threads_sweep" && step.ms.median != r.sweeps.front().ms.median)
    ratio = "  " + decimal(step.ms.median / r.sweeps.front().ms.median, 2) + " of " +
            thread_count(r.sweeps.front().workload);
  return row(step.label, cells, step_widths, ratio);
}

std::string step_table(const BenchResults& r) {
  std::string rows;
  if (r.step) rows += step_row({"", "a step, " + thread_count(r.workload), r.workload, *r.step}, r);
  for (const StepResult& each : r.sweeps) rows += step_row(each, r);
  if (rows.empty()) return "";
  Cells titles{"ms", "p10", "p90", "tokens/s", "GFLOP/s"};
  if (r.sgemm_gflops) titles.push_back("of peak");
  return "\n" + row("", titles, step_widths) + rows;
}

std::string single_results(const BenchResults& r) {
  std::string text;
  const auto line = [&](const std::string& label, const std::string& value) {
    text += row(label, {}, {}, value);
  };
  const std::string threads = " on " + thread_count(r.workload);
  if (r.sgemm_gflops)
    line("peak of sgemm", decimal(*r.sgemm_gflops, 1) + " GFLOP/s on 1 thread, in the same run");
  if (r.generate_tokens_per_s)
    line("generation", grouped(*r.generate_tokens_per_s) + " tokens/s" + threads);
  if (r.bf16_tokens_per_s)
    line("with weights in BF16", grouped(*r.bf16_tokens_per_s) + " tokens/s" + threads);
  if (r.int8_tokens_per_s)
    line("with weights in int8", grouped(*r.int8_tokens_per_s) + " tokens/s" + threads);
  if (r.samples_tokens_per_s)
    line(std::to_string(bench_samples) + " texts at once",
         grouped(*r.samples_tokens_per_s) + " tokens/s" + threads);
  if (r.peak_mb) line("peak memory", decimal(*r.peak_mb, 1) + " MB in training" + threads);
  if (r.nodes)
    line("1,000,000 scalar nodes", milliseconds(r.nodes->forward.median) + " ms forward, " +
                                       milliseconds(r.nodes->backward.median) + " ms backward");
  if (r.start_ms) line("first step done", decimal(*r.start_ms, 0) + " ms after the start");
  return text.empty() ? "" : "\n" + text;
}

std::string operation_table(const BenchResults& r) {
  if (r.operations.empty()) return "";
  const Widths widths{13, 13, 13};
  double sum = 0;
  for (const OperationMs& each : r.operations) sum += each.forward + each.backward;
  std::string text = "\n" + row("operation", {"forward ms", "backward ms", "share"}, widths);
  for (const auto& [name, forward, backward] : r.operations) {
    const std::string share = decimal(100 * (forward + backward) / sum, 1) + " %";
    text += row(name, {decimal(forward, 3), decimal(backward, 3), share}, widths);
  }
  return text + row("total", {decimal(sum, 3)}, widths, " ms per step, while operations are timed");
}

std::string comparison_table(const BenchResults& r) {
  if (r.compared.empty()) return "";
  const Widths widths{7, 7, 7, 9, 9, 8, 8, 11, 11};
  std::string text =
      "\n" + row("heed / peer",
                 {"ratio", "p10", "p90", "ms", "peer ms", "MB", "peer MB", "tokens/s", "peer"},
                 widths);
  for (const Comparison& c : r.compared) {
    const double own_rate = c.heed.generate_tokens_per_s, peer_rate = c.torch.generate_tokens_per_s;
    const bool has_rates = own_rate != 0 && peer_rate != 0;
    text += row(c.name,
                {decimal(c.ratio.median, 3), decimal(c.ratio.p10, 3), decimal(c.ratio.p90, 3),
                 milliseconds(c.heed.ms_per_step), milliseconds(c.torch.ms_per_step),
                 decimal(c.heed.peak_mb, 0), decimal(c.torch.peak_mb, 0),
                 has_rates ? decimal(own_rate, 0) : "", has_rates ? decimal(peer_rate, 0) : ""},
                widths);
  }
  const Comparison& first = r.compared.front();
  return text + counted(static_cast<std::size_t>(first.rounds), "round") +
         " after a warm-up round; peer: " +
         (first.torch.peer.empty() ? "the script" : printable(first.torch.peer)) +
         "; tokens/s: text generation\n";
}

// ---- JSON

void put_workload(Json& json, const Workload& w) {
  for (const auto& [key, size] : w.sizes()) json[key] = size;
  json["vocab_size"] = w.model.vocab_size;
  json["parameters"] = nn::parameter_count(w.model);
  json["flop_per_step"] = flop_per_step(w);
}

void put_step(Json& json, const StepResult& step, const std::optional<double>& sgemm) {
  json["ms_per_step"] = step.ms.median;
  json["p10"] = step.ms.p10;
  json["p90"] = step.ms.p90;
  json["tokens_per_s"] = step.tokens_per_s();
  json["gflops"] = step.gflops();
  if (sgemm) json["share_of_peak"] = step.fraction_of_peak(*sgemm);
}

Json gemm_json(const GemmSpeed& speed) {
  const char* const forms[] = {"nn", "nt", "tn"};
  Json json{{"form", forms[static_cast<std::size_t>(speed.form)]},
            {"m", speed.m},
            {"n", speed.n},
            {"k", speed.k}};
  for (std::size_t i = 0; i < all_gemm_libraries.size(); ++i)
    if (speed.gflops[i] != 0) json[std::string(name_of(all_gemm_libraries[i]))] = speed.gflops[i];
  return json;
}

Json comparison_json(const Comparison& c) {
  Json json{{"name", c.name}, {"rounds", c.rounds}, {"peer", c.torch.peer}};
  put_workload(json, c.workload);
  json["ratio"] = c.ratio.median;
  json["ratio_p10"] = c.ratio.p10;
  json["ratio_p90"] = c.ratio.p90;
  const auto put = [&](const std::string& key, double ChildMeasurements::*member) {
    json[key] = c.heed.*member;
    json["peer_" + key] = c.torch.*member;
  };
  put("ms_per_step", &ChildMeasurements::ms_per_step);
  put("peak_mb", &ChildMeasurements::peak_mb);
  if (c.torch.generate_tokens_per_s > 0)
    put("generate_tokens_per_s", &ChildMeasurements::generate_tokens_per_s);
  return json;
}

}  // namespace

std::string gemm_table(const std::vector<GemmSpeed>& speeds) {
  const GemmChoice choice = fastest(speeds);
  const std::string forms[] = {"a b", "a b^T", "a^T b"};
  std::string text = "GFLOP/s on 1 thread";
  for (const GemmLibrary library : all_gemm_libraries)
    text += pad_left(std::string(name_of(library)), library == GemmLibrary::openblas ? 21 : 10);
  text += "   chosen\n";
  for (const GemmSpeed& each : speeds) {
    const std::string sizes =
        std::to_string(each.m) + " x " + std::to_string(each.n) + " x " + std::to_string(each.k);
    text += pad_right(forms[static_cast<std::size_t>(each.form)], 8) + pad_right(sizes, 22);
    for (const double gflops : each.gflops)
      text += pad_left(gflops == 0 ? "-" : decimal(gflops, 1), 10);
    text += "   " + std::string(name_of(choice.at(each.form, each.size()))) + "\n";
  }
  return text;
}

std::string bench_table(const BenchResults& results) {
  return header(results) + step_table(results) + single_results(results) +
         (results.gemm.empty() ? "" : "\n" + gemm_table(results.gemm)) + operation_table(results) +
         comparison_table(results);
}

std::string bench_json(const BenchResults& r) {
  Json json{{"heed", version},
            {"cpu", processor_name()},
            {"cores", std::thread::hardware_concurrency()},
            {"compiler", compiler_name()},
            {"blas", blas_name()},
            {"products_by", gemm_choice().text()}};
  put_workload(json, r.workload);
  if (r.step) put_step(json, {"", "", r.workload, *r.step}, r.sgemm_gflops);
  const auto put = [&](const char* key, const auto& value) {
    if (value) json[key] = *value;
  };
  put("sgemm_gflops", r.sgemm_gflops);
  put("peak_mb", r.peak_mb);
  put("array_mb", r.array_mb);
  put("generate_tokens_per_s", r.generate_tokens_per_s);
  put("samples_tokens_per_s", r.samples_tokens_per_s);
  put("bf16_tokens_per_s", r.bf16_tokens_per_s);
  put("int8_tokens_per_s", r.int8_tokens_per_s);
  put("read_gb_per_s", r.read_gb_per_s);
  put("read_bf16_gb_per_s", r.read_bf16_gb_per_s);
  put("read_int8_gb_per_s", r.read_int8_gb_per_s);
  put("start_to_first_step_ms", r.start_ms);
  put("help_ms", r.help_ms);
  put("first_step_clock_ns", r.first_step_clock);
  if (r.nodes)
    json["nodes"] = {{"forward_ms", r.nodes->forward.median},
                     {"backward_ms", r.nodes->backward.median},
                     {"blocks_written_ms", r.nodes->blocks_written.median},
                     {"blocks_read_ms", r.nodes->blocks_read.median}};
  for (const StepResult& each : r.sweeps) {
    Json step;
    put_workload(step, each.workload);
    put_step(step, each, r.sgemm_gflops);
    json[each.sweep].push_back(step);
  }
  for (const GemmSpeed& each : r.gemm) json["gemm"].push_back(gemm_json(each));
  for (const auto& [name, forward, backward] : r.operations)
    json["operations"].push_back(
        {{"name", name}, {"forward_ms", forward}, {"backward_ms", backward}});
  for (const Comparison& each : r.compared) json["compared"].push_back(comparison_json(each));
  return json.dump() + "\n";
}

ChildMeasurements parse_child_output(const std::string& program, const std::string& output) {
  std::string last_line = output.substr(0, output.find_last_not_of(" \n") + 1);
  last_line.erase(0, last_line.find_last_of('\n') + 1);
  try {
    const Json json = Json::parse(last_line);
    const auto number = [&](const char* key) {
      return json.contains(key) ? json.at(key).number() : 0;
    };
    return {json.at("ms_per_step").number(),
            json.at("peak_mb").number(),
            number("generate_tokens_per_s"),
            static_cast<std::int64_t>(number("first_step_clock_ns")),
            number("array_mb"),
            json.contains("peer") ? json.at("peer").get<std::string>() : ""};
  } catch (const Error&) {
    throw_error(program, ": its last line is not a JSON object with ms_per_step and peak_mb");
  }
}

}  // namespace heed::app
