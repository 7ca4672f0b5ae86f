// json.cpp: the results of heed bench as JSON, and parsing the JSON of its child programs.

#include <nlohmann/json.hpp>
#include <thread>

#include "heed/app/bench/results.hpp"
#include "heed/app/version.hpp"
#include "heed/array/matmul.hpp"
#include "heed/base/error.hpp"
#include "heed/nn/gpt.hpp"

namespace heed::app {
namespace {

using Json = nlohmann::ordered_json;

void put_workload(Json& json, const Workload& w) {
  json["threads"] = w.threads;
  json["block_size"] = w.model.block_size;
  json["batch_size"] = w.batch_size;
  json["layers"] = w.model.layers;
  json["heads"] = w.model.heads;
  json["embed_dim"] = w.model.embed_dim;
  json["vocab_size"] = w.model.vocab_size;
  json["parameters"] = nn::parameter_count(w.model);
  json["flop_per_step"] = flop_per_step(w.model, w.batch_size);
}

void put_step(Json& json, const StepResult& step, const std::optional<double>& sgemm) {
  json["ms_per_step"] = step.ms.median;
  json["p10"] = step.ms.p10;
  json["p90"] = step.ms.p90;
  json["tokens_per_s"] = tokens_per_s(step);
  json["gflops"] = gflops(step);
  if (sgemm) json["share_of_peak"] = fraction_of_peak(step, *sgemm);
}

void put_sweep(Json& json, const char* key, const std::vector<StepResult>& steps,
               const std::optional<double>& sgemm) {
  for (const StepResult& step : steps) {
    Json entry;
    put_workload(entry, step.workload);
    put_step(entry, step, sgemm);
    json[key].push_back(entry);
  }
}

template <class T>
void put(Json& json, const char* key, const std::optional<T>& value) {
  if (value) json[key] = *value;
}

Json comparison_json(const Comparison& c) {
  Json json{{"name", c.name}, {"rounds", c.rounds}};
  put_workload(json, c.workload);
  json["ratio"] = c.ratio.median;
  json["ratio_p10"] = c.ratio.p10;
  json["ratio_p90"] = c.ratio.p90;
  json["ms_per_step"] = c.ms;
  json["peer_ms_per_step"] = c.peer_ms;
  json["peak_mb"] = c.peak_mb;
  json["peer_peak_mb"] = c.peer_peak_mb;
  if (c.peer_generate_tokens_per_s > 0) {
    json["generate_tokens_per_s"] = c.generate_tokens_per_s;
    json["peer_generate_tokens_per_s"] = c.peer_generate_tokens_per_s;
  }
  return json;
}

std::string last_line(std::string text) {
  text.erase(text.find_last_not_of(" \n") + 1);
  return text.substr(text.find_last_of('\n') + 1);
}

}  // namespace

std::string bench_json(const BenchResults& r) {
  Json json{{"heed", version},
            {"cpu", cpu_name()},
            {"cores", std::thread::hardware_concurrency()},
            {"compiler", compiler_name()},
            {"blas", blas_name()}};
  put_workload(json, r.workload);
  if (r.step) put_step(json, {r.workload, *r.step}, r.sgemm_gflops);
  put(json, "sgemm_gflops", r.sgemm_gflops);
  put(json, "peak_mb", r.peak_mb);
  put(json, "generate_tokens_per_s", r.generate_tokens_per_s);
  put(json, "start_to_first_step_ms", r.start_ms);
  put(json, "first_step_clock_ns", r.first_step_clock);
  put_sweep(json, "threads_sweep", r.threads, r.sgemm_gflops);
  put_sweep(json, "context_sweep", r.context, r.sgemm_gflops);
  put_sweep(json, "width_sweep", r.width, r.sgemm_gflops);
  put_sweep(json, "small_model", r.small, r.sgemm_gflops);
  for (const OperationMs& each : r.operations)
    json["operations"].push_back(
        {{"name", each.name}, {"forward_ms", each.forward}, {"backward_ms", each.backward}});
  for (const Comparison& each : r.compared) json["compared"].push_back(comparison_json(each));
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

ChildMeasurements parse_child_output(const std::string& program, const std::string& output) {
  try {
    const Json json = Json::parse(last_line(output));
    ChildMeasurements result;
    result.ms_per_step = json.at("ms_per_step").get<double>();
    result.peak_mb = json.at("peak_mb").get<double>();
    result.generate_tokens_per_s = json.value("generate_tokens_per_s", 0.0);
    result.first_step_clock_ns = json.value("first_step_clock_ns", std::int64_t{0});
    return result;
  } catch (const Json::exception&) {
    throw_error(program, ": its last line is not a JSON object with ms_per_step and peak_mb");
  }
}

}  // namespace heed::app
