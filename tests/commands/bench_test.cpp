// bench_test.cpp: heed bench: its output, its errors, and the environment of the PyTorch script.

#include "commands/bench/bench.hpp"

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <set>
#include <sstream>

#include "catch.hpp"
#include "commands/command_line.hpp"
#include "commands/heed_program.hpp"
#include "heed/base/error.hpp"
#include "heed/gemm/gemm.hpp"
#include "python.hpp"
#include "readme.hpp"

using namespace heed_test;
using namespace heed::app;

namespace {

using Json = nlohmann::json;

const Arguments model_flags = {"--layers",     "1",  "--embed-dim",  "16", "--heads", "2",
                               "--block-size", "16", "--batch-size", "4"};
const Arguments quick = Arguments{"bench", "in.txt", "--rounds", "1", "--steps", "2"} + model_flags;

Json bench(const Sandbox& sandbox, const Arguments& more) {
  const Finished run = sandbox.heed(quick + Arguments{"--json"} + more);
  INFO(run.err);
  REQUIRE(run.code == 0);
  CHECK(run.err == "");
  CHECK(run.out.find('\n') == run.out.size() - 1);
  return Json::parse(run.out);
}

std::set<std::string> keys(const Json& json) {
  std::set<std::string> result;
  for (const auto& [key, value] : json.items()) result.insert(key);
  return result;
}

using Set = std::set<std::string>;
using heed_test::operator+;

Set operator+(Set a, const Set& b) {
  a.insert(b.begin(), b.end());
  return a;
}

const Set workload_keys = {"threads",   "block_size", "batch_size", "layers",       "heads",
                           "embed_dim", "vocab_size", "parameters", "flop_per_step"};
const Set always = workload_keys + Set{"heed", "cpu", "cores", "compiler", "blas", "products_by"};
const Set step_keys = {"ms_per_step", "p10", "p90", "tokens_per_s", "gflops", "share_of_peak"};

std::vector<int> each(const Json& list, const char* key) {
  std::vector<int> result;
  for (const Json& entry : list) result.push_back(entry.at(key));
  return result;
}

std::string rejected(const Arguments& arguments, int code) {
  const Finished run = Sandbox().heed(Arguments{"bench"} + arguments);
  CHECK(run.code == code);
  CHECK(run.out == "");
  return run.err;
}

// A folder with a fake python3, which logs its environment and arguments.
struct PeerSandbox : Sandbox {
  explicit PeerSandbox(const std::string& script) {
    std::filesystem::create_directory(path / "bin");
    put(path / "bin/python3",
        "#!/bin/sh\n[ \"$1\" = -c ] && exit 0\n"
        "echo \"$OMP_NUM_THREADS $OPENBLAS_NUM_THREADS spin$GOMP_SPINCOUNT pad$MALLOC_TOP_PAD_ "
        "path$LD_LIBRARY_PATH bind$OMP_PROC_BIND: $*\" >>log\n" +
            script + "\n");
    std::filesystem::permissions(path / "bin/python3", std::filesystem::perms::owner_all);
    put(path / "peer.py", "import torch");
    std::filesystem::create_directory(path / "blas");
  }
  Call compare_call(const Arguments& more, const Arguments& arguments = quick) const {
    Call call = this->call(arguments + Arguments{"--compare", "peer.py"} + more);
    call.environment["PATH"] = (path / "bin").string();
    call.environment["OMP_PROC_BIND"] = "true";
    return call;
  }
  Finished compare(const Arguments& more, const Arguments& arguments = quick) const {
    return run(compare_call(more, arguments));
  }
  std::string log() const { return content(path / "log"); }
};

// The first column of each line of a table; of a line without a label, all its words.
std::vector<std::string> labels(const std::string& table) {
  std::vector<std::string> result;
  for (const std::string& line : heed::lines_of(table))
    result.push_back(one_line(line.empty() || line[0] == ' ' ? line : line.substr(0, 25)));
  return result;
}

// Results in which every measurement was made.
BenchResults all_results() {
  BenchResults results;
  results.workload.model.vocab_size = 65;
  results.step = Percentiles{10, 9, 11};
  for (const char* sweep : {"threads_sweep", "context_sweep", "width_sweep", "small_model"})
    results.sweeps.push_back({sweep, "", results.workload, *results.step});
  results.sgemm_gflops = results.generate_tokens_per_s = results.samples_tokens_per_s =
      results.bf16_tokens_per_s = results.int8_tokens_per_s = results.read_gb_per_s =
          results.read_bf16_gb_per_s = results.read_int8_gb_per_s = results.peak_mb =
              results.array_mb = results.start_ms = results.help_ms = 1;
  results.nodes = NodeTimes();
  results.first_step_clock = 1;
  results.gemm.resize(1);
  results.operations.push_back({"Linear", 1, 1});
  results.compared.resize(1);
  results.compared[0].workload = results.workload;
  results.compared[0].torch.generate_tokens_per_s = 1;
  return results;
}

// The keys of an object and of all objects in it.
Set all_keys(const Json& json) {
  Set result = json.is_object() ? keys(json) : Set{};
  for (const auto& value : json)
    if (value.is_structured()) result = result + all_keys(value);
  return result;
}

const std::string slow_peer =
    "echo talk; echo '{\"ms_per_step\": 1e6, \"peak_mb\": 300, \"generate_tokens_per_s\": 9, "
    "\"peer\": \"Slow 1\"}'";

// The JSON of 60 steps of a script of tests/bench, or nothing without PyTorch.
std::optional<Json> torch_peer(const std::string& script, const Arguments& more) {
  const std::string program = python_with_torch();
  if (program.empty()) return {};
  const Sandbox sandbox;
  const Arguments call = {HEED_TESTS_DIR "/bench/" + script, "in.txt", "--steps", "60"};
  const Finished run = python(program, call + model_flags + more, sandbox.path);
  INFO(run.err);
  REQUIRE(run.code == 0);
  return Json::parse(run.out);
}

const std::optional<Json>& trained_by_torch() {
  static const std::optional<Json> json = torch_peer("torch_peer.py", {"--generate", "3"});
  return json;
}

bool has_openmp_blas() {
  std::error_code ignored;
  for (const auto& folder : std::filesystem::directory_iterator("/usr/lib", ignored))
    if (std::filesystem::is_directory(folder.path() / "openblas-openmp", ignored)) return true;
  return false;
}

}  // namespace

TEST_CASE("the keys of a step have consistent values", "[commands][bench]") {
  const Sandbox sandbox;
  const Json json = bench(sandbox, {"--only", "step", "--threads", "1"});
  CHECK(keys(json) == always + step_keys + Set{"sgemm_gflops"});
  CHECK(json["threads"] == 1);
  CHECK(json["block_size"] == 16);
  CHECK(json["batch_size"] == 4);
  CHECK(json["layers"] == 1);
  CHECK(json["heads"] == 2);
  CHECK(json["embed_dim"] == 16);
  const double ms = json["ms_per_step"], gflops = json["gflops"], peak = json["sgemm_gflops"];
  CHECK(ms > 0);
  CHECK(json["p10"] <= ms);
  CHECK(json["p90"] >= ms);
  CHECK(std::abs(json["tokens_per_s"].get<double>() * ms / 64000 - 1) < 1e-9);
  CHECK(std::abs(gflops * ms * 1e6 / json["flop_per_step"].get<double>() - 1) < 1e-9);
  CHECK(std::abs(json["share_of_peak"].get<double>() * peak / gflops - 1) < 1e-9);
}

TEST_CASE("without --only the bench prints every key and every sweep", "[commands][bench]") {
  const Sandbox sandbox;
  const Json json = bench(sandbox, {});
  CHECK(keys(json) == always + step_keys +
                          Set{"sgemm_gflops", "peak_mb", "array_mb", "generate_tokens_per_s",
                              "samples_tokens_per_s", "bf16_tokens_per_s", "int8_tokens_per_s",
                              "read_gb_per_s", "read_bf16_gb_per_s", "read_int8_gb_per_s", "nodes",
                              "start_to_first_step_ms", "help_ms", "threads_sweep", "context_sweep",
                              "width_sweep", "small_model", "gemm", "operations"});
  CHECK(json["threads_sweep"][0]["threads"] == 1);
  CHECK(each(json["context_sweep"], "block_size") ==
        std::vector<int>{64, 256});  // the text is too short for 1024
  CHECK(each(json["context_sweep"], "batch_size") == std::vector<int>{48, 12});
  CHECK(each(json["width_sweep"], "embed_dim") == std::vector<int>{32, 64, 128, 256});
  CHECK(each(json["small_model"], "layers") == std::vector<int>{4});
  for (const char* sweep : {"threads_sweep", "context_sweep", "width_sweep", "small_model"})
    for (const Json& entry : json[sweep]) CHECK(keys(entry) == workload_keys + step_keys);
  Set names;
  for (const Json& operation : json["operations"]) {
    CHECK(keys(operation) == Set{"name", "forward_ms", "backward_ms"});
    names.insert(operation["name"].get<std::string>());
  }
  for (const char* name : {"Linear", "Attention", "LayerNorm", "AdamW"})
    CHECK(names.count(name) == 1);
  CHECK(json["peak_mb"] > 1);
  CHECK(json["peak_mb"] < 1000);
  CHECK(json["array_mb"] > 0);
  CHECK(json["array_mb"] < json["peak_mb"]);
  CHECK(json["start_to_first_step_ms"] > 0);
  CHECK(json["help_ms"] > 0);
  CHECK(json["bf16_tokens_per_s"] > 0);
  CHECK(json["read_gb_per_s"] > 0);
  for (const char* key : {"forward_ms", "backward_ms", "blocks_written_ms", "blocks_read_ms"})
    CHECK(json["nodes"][key] > 0);
  CHECK(json["generate_tokens_per_s"] > 0);
  CHECK(json["samples_tokens_per_s"] > 0);
}

TEST_CASE("the bench measures 1, 2, 4, ... threads and last one thread for each core",
          "[commands][bench]") {
  const Sandbox sandbox;
  Call call = sandbox.call(quick + Arguments{"--json", "--only", "threads"});
  call.environment["OMP_NUM_THREADS"] = "3";
  const Finished run = heed_test::run(call);
  REQUIRE(run.code == 0);
  CHECK(each(Json::parse(run.out)["threads_sweep"], "threads") == std::vector<int>{1, 2, 3});
}

TEST_CASE("one part of the bench measures that part only", "[commands][bench]") {
  const Sandbox sandbox;
  for (const auto& [part, expected] : std::map<std::string, Set>{
           {"threads", {"sgemm_gflops", "threads_sweep"}},
           {"small", {"sgemm_gflops", "small_model"}},
           {"gemm", {"gemm"}},
           {"operations", {"operations"}},
           {"generate",
            {"generate_tokens_per_s", "samples_tokens_per_s", "bf16_tokens_per_s",
             "int8_tokens_per_s", "read_gb_per_s", "read_bf16_gb_per_s", "read_int8_gb_per_s"}},
           {"memory", {"peak_mb", "array_mb"}},
           {"nodes", {"nodes"}},
           {"start", {"start_to_first_step_ms", "help_ms"}},
           {"run",
            {"ms_per_step", "p10", "p90", "tokens_per_s", "gflops", "peak_mb", "array_mb",
             "generate_tokens_per_s", "first_step_clock_ns"}}}) {
    INFO(part);
    CHECK(keys(bench(sandbox, {"--only", part})) == always + expected);
  }
  CHECK(sandbox.files() == 1);
}

TEST_CASE("the tables have a row for every operation and every sweep, as in the README",
          "[commands][bench]") {
  const Sandbox sandbox;
  std::string text;
  while (text.size() < 12000) text += sandbox.story();  // enough for a window of 1024
  put(sandbox / "in.txt", text);
  Call call = sandbox.call(quick + Arguments{"--threads", "1"});
  call.environment["OMP_NUM_THREADS"] = "4";
  const Finished run = heed_test::run(call);
  CHECK(run.code == 0);
  CHECK(run.err == "");
  for (const char* part :
       {"heed " HEED_VERSION " on ", "1 layer, 2 heads, width 16", "a step, 1 thread ",
        "\nwindow 64, batch 48 ", "\nwidth 32 ", "\nsmall: ", "\npeak of sgemm ", "\ngeneration ",
        "\npeak memory ", "\nfirst step done ", "\na^T b ", "\nmatrix products by ", "\noperation ",
        "\nLinear "})
    CHECK(has(run.out, part));
  const std::string table = heed::joined(block_with("peak of sgemm", ""), "\n");
  const std::size_t operations = table.find("operation  ");
  REQUIRE(operations != table.npos);
  const std::string printed = heed::joined(labels(run.out), "\n");
  if (heed::blas_is_thread_safe())  // otherwise there are no rows of 2 and 4 threads
    CHECK(line_not_in(printed, Arguments{"..."} + labels(table.substr(0, operations))) == "");
  // The order of the operations depends on their times.
  for (const std::string& label : labels(table.substr(operations)))
    if (label != "... ") CHECK(has(printed, "\n" + label + "\n"));
}

TEST_CASE("the README and bench.hpp name the keys of the bench's JSON", "[commands][bench]") {
  const Json json = Json::parse(bench_json(all_results()));
  const std::string list =
      matches(one_line(documentation()), "with the keys ([^\\[]*), and others, which ").at(0);
  const std::vector<std::string> listed = matches(list, "`([a-z0-9_]+)`");
  CHECK(listed.size() > 10);
  for (const std::string& key : listed) {
    INFO(key);
    CHECK(json.contains(key));
  }
  const std::string header = content(project / "src/commands/bench/bench.hpp");
  const std::size_t begin = header.find("// Returns one JSON object");
  const std::string comment = header.substr(begin, header.find("\nstd::string bench_json") - begin);
  const std::vector<std::string> words = matches(comment, "([a-z0-9_]+)");
  const Set known = all_keys(json), named(words.begin(), words.end());
  for (const std::string& key : known) {
    INFO(key);
    CHECK(named.count(key.rfind("peer_", 0) == 0 ? key.substr(5) : key) == 1);
  }
  for (const std::string& word : matches(comment, "([a-z0-9]+_[a-z0-9_]+)")) {
    INFO(word);
    CHECK(known.count(word) == 1);
  }
}

TEST_CASE("bench --processes prints steps in 1, 2 and 4 processes, and the cost model",
          "[commands][bench]") {
  const Sandbox sandbox;
  const Finished run = sandbox.heed(quick + Arguments{"--processes"});
  INFO(run.err);
  CHECK(run.code == 0);
  CHECK(run.err == "");
  // Each line begins with the processes, the shards and a positive time.
  for (const char* plan :
       {"1 +1", "1 +2", "1 +4", "2 +2", "2, no overlap +2", "2, ZeRO +2", "2 +4", "4 +4"}) {
    INFO(plan);
    CHECK(std::regex_search(run.out, std::regex("\n" + std::string(plan) + " +[0-9]+\\.[0-9]")));
  }
  CHECK(has(run.out, "T(P) = T(1) / P + 2 a log2 P + 2 (P - 1) / P n b"));
  for (const char* link : {"this machine's memory", "25 Gbit/s, 20 us", "1 Gbit/s, 100 us"})
    CHECK(std::regex_search(run.out,
                            std::regex("\n" + std::string(link) + "( +[0-9]+\\.[0-9]){5}\n")));
  CHECK(sandbox.files() == 1);
  CHECK(rejected({"--processes", "--json"}, 2) ==
        "heed: error: --json cannot be combined with --processes; leave out one\n");
}

TEST_CASE("the cost model of bench --processes adds the latency and the bytes of its link",
          "[commands][bench]") {
  const Sandbox sandbox;
  const double parameters = bench(sandbox, {"--only", "step"})["parameters"];
  const std::string out = sandbox.heed(quick + Arguments{"--processes"}).out;
  const std::string link = "\n1 Gbit/s, 100 us";
  REQUIRE(has(out, link));
  std::istringstream cells(out.substr(out.find(link) + link.size()));
  double alone = 0;
  cells >> alone;
  for (const double P : {2, 4, 8, 64}) {
    double printed = 0;
    cells >> printed;
    const double latency = 2 * 0.1 * std::log2(P), ms_per_byte = 8 / 1e9 * 1e3;
    const double sending = 2 * (P - 1) / P * 4 * parameters * ms_per_byte;
    CHECK(std::abs(printed - (alone / P + latency + sending)) < 0.05 + 0.05 / P + 1e-9);
  }
}

TEST_CASE("with --zero each of two processes has less memory in arrays",
          "[commands][bench][.][many_processes]") {
  const Sandbox sandbox;
  Arguments wide = quick + Arguments{"--processes"};
  *(std::find(wide.begin(), wide.end(), "--embed-dim") + 1) = "128";
  const std::string out = sandbox.heed(wide).out;
  const auto megabytes = [&](const std::string& plan) {  // the last column
    std::smatch match;
    REQUIRE(std::regex_search(out, match, std::regex("\n" + plan + " .* ([0-9.]+)\n")));
    return std::stod(match[1]);
  };
  // Without it, a process has the two moments of all 200,000 parameters, 4 bytes each.
  CHECK(megabytes("2, ZeRO") < megabytes("2 +2") - 0.6);
}

TEST_CASE("the bench ignores HEED_TRACE", "[commands][bench]") {
  const Sandbox sandbox;
  Call call = sandbox.call(quick + Arguments{"--only", "run"});
  call.environment["HEED_TRACE"] = "time,backward";
  const Finished run = heed_test::run(call);
  CHECK(run.code == 0);
  CHECK(run.err == "");
}

TEST_CASE("wrong use of the bench is rejected in one line", "[commands][bench]") {
  const std::string error = "heed: error: ";
  CHECK(rejected({"--only", "stpe"}, 2) ==
        error +
            "--only stpe: must be step, threads, context, width, small, gemm, operations, "
            "generate, memory, nodes, start or run\n");
  CHECK(rejected({"--compare"}, 2) == error + "--compare needs a value\n");
  CHECK(rejected({"--compare="}, 2) == error + "--compare '': needs the name of a script\n");
  CHECK(rejected({"--compare", "p.py", "--only", "memory"}, 2) ==
        error + "--compare p.py: combine it with --only step, or omit --only\n");
  CHECK(rejected({"--compare", "p.py", "--report", "r.md"}, 2) ==
        error + "--report cannot be combined with --compare; leave out one\n");
  CHECK(rejected({"--processes", "--report", "r.md"}, 2) ==
        error + "--report cannot be combined with --processes; leave out one\n");
  CHECK(rejected({"no.txt", "--report", "."}, 1) ==
        error + ".: is a folder; give --report the name of a file\n");
  CHECK(rejected({"no.txt", "--report", "/proc/none/r.md"}, 1) ==
        error + "/proc/none: No such file or directory; choose another --report\n");
  CHECK(rejected({"--peer-blas", "d"}, 2) == error + "--peer-blas d: only with --compare\n");
  CHECK(rejected({"--heads", "3"}, 2) ==
        error + "--heads 3 does not divide --embed-dim 128; give a --heads that divides it\n");
  CHECK(rejected({"-"}, 2) ==
        error + "TEXT -: standard input can be read only once; give a file\n");
  CHECK(rejected({"--steps", "0"}, 2) ==
        error +
            "--steps 0: out of range: must be a whole number at least 1 and at most 1000000000\n");
  CHECK(rejected({"no.txt"}, 1) == error + "no.txt: No such file or directory\n");
  CHECK(rejected({"--compare", "p.py"}, 1) ==
        error + "--compare p.py: No such file or directory\n");
  CHECK(rejected({"--compare", "."}, 1) == error + "--compare .: is a directory; give a script\n");
  CHECK(has(rejected({"in.txt", "--only", "run", "--block-size", "900"}, 1),
            "too few for block size 900"));
}

TEST_CASE("the bench rejects a text that is not UTF-8 by its name", "[commands][bench]") {
  const Sandbox sandbox;
  put(sandbox / "latin1.txt", "caf\xe9 ");
  const Finished run = sandbox.heed({"bench", "latin1.txt"});
  CHECK(run.code == 1);
  CHECK(run.err == "heed: error: latin1.txt: is not UTF-8; convert it, or give another text\n");
}

TEST_CASE("the flags of the bench set their fields", "[commands][bench]") {
  const auto c = std::get<BenchCommand>(parse_command_line(
      {"bench",  "a.txt",     "--only", "width",        "--rounds", "3",
       "--json", "--threads", "2",      "--steps",      "7",        "--embed-dim",
       "64",     "--layers",  "5",      "--block-size", "9",        "--batch-size",
       "8",      "--heads",   "2"}));
  CHECK(c.text == "a.txt");
  CHECK(c.only == "width");
  CHECK(c.rounds == 3);
  CHECK(c.steps == 7);
  CHECK(c.json);
  CHECK(c.workload.threads == 2);
  CHECK(c.workload.batch_size == 8);
  CHECK(c.workload.model.block_size == 9);
  CHECK(c.workload.model.layers == 5);
  CHECK(c.workload.model.heads == 2);
  CHECK(c.workload.model.embed_dim == 64);
}

TEST_CASE("Ctrl-C ends the bench at once", "[commands][bench]") {
  const Sandbox sandbox;
  Child child(sandbox.call({"bench", "in.txt", "--only", "run", "--steps", "1000000"}));
  ::usleep(300000);
  child.kill(SIGINT);
  CHECK(child.finish().code == 130);
}

TEST_CASE("the rates follow from the time of a step", "[commands][bench]") {
  StepResult step;
  step.workload.model.vocab_size = 65;
  step.ms.median = 10;
  const double flop = flop_per_step(step.workload);
  CHECK(std::abs(step.gflops() - flop / 0.01 * 1e-9) < 1e-9);
  CHECK(std::abs(step.tokens_per_s() - 76800) < 1e-6);
  CHECK(std::abs(step.fraction_of_peak(step.gflops()) - 1) < 1e-12);
  step.workload.threads = 2;
  CHECK(std::abs(step.fraction_of_peak(step.gflops()) - 0.5) < 1e-12);
}

TEST_CASE("times in the table of steps have three significant digits", "[commands][bench]") {
  BenchResults results;
  results.workload.model.vocab_size = 65;
  results.workload.threads = 1;
  results.step = Percentiles{10, 9.99, 100};
  results.sgemm_gflops = 1000;
  CHECK(has(bench_table(results),
            "\n                               ms     p10     p90   tokens/s    GFLOP/s  of peak\n"
            "a step, 1 thread             10.0    9.99     100     76,800      381.6     38 %\n"));
  results.step = Percentiles{10.54, 9.994, 99.94};
  CHECK(has(bench_table(results), "\na step, 1 thread             10.5    9.99    99.9 "));
}

TEST_CASE("the table of comparisons has the speeds of generation if both were measured",
          "[commands][bench]") {
  BenchResults results;
  results.compared.resize(1);
  Comparison& c = results.compared[0];
  c.name = "1 thread";
  c.rounds = 3;
  c.heed = {2.5, 30.4, 900, 0};
  c.torch = {5, 300, 700, 0, 0, "PyTorch 9"};
  c.ratio = {0.5, 0.45, 0.55};
  const std::string begin =
      "\nheed / peer                ratio    p10    p90       ms  peer ms      MB peer MB   "
      "tokens/s       peer\n"
      "1 thread                   0.500  0.450  0.550     2.50     5.00      30     300";
  const std::string end =
      "\n3 rounds after a warm-up round; peer: PyTorch 9; tokens/s: text generation\n";
  CHECK(has(bench_table(results), begin + "        900        700" + end));
  c.torch.generate_tokens_per_s = 0;
  CHECK(has(bench_table(results), begin + std::string(22, ' ') + end));
}

TEST_CASE("parse_child_output reads the measurements in the last line", "[commands][bench]") {
  const ChildMeasurements numbers =
      parse_child_output("x", "hello\n{\"ms_per_step\": 2.5, \"peak_mb\": 3, \"blas\": []}\n");
  CHECK(numbers.ms_per_step == 2.5);
  CHECK(numbers.peak_mb == 3);
  CHECK(numbers.generate_tokens_per_s == 0);
  for (const char* invalid : {"", "hello", "{}", "[1]", "{\"ms_per_step\": \"a\", \"peak_mb\": 1}"})
    CHECK_THROWS_AS(parse_child_output("x", invalid), heed::Error);
}

TEST_CASE("the PyTorch script gets its own thread settings", "[commands][bench]") {
  const PeerSandbox sandbox(slow_peer);
  const Finished run = sandbox.compare({"--only", "step", "--json"});
  INFO(run.err);
  REQUIRE(run.code == 0);
  const std::string line =
      "1 1 spin pad path bind: peer.py in.txt --steps 2 --threads 1 --block-size 16 --batch-size 4 "
      "--layers 1 --heads 2 --embed-dim 16 --generate 200\n";
  CHECK(sandbox.log() == line + line);  // one for the warm-up round, one for the measured round
  const Json compared = Json::parse(run.out).at("compared");
  REQUIRE(compared.size() == 1);
  CHECK(compared[0]["rounds"] == 1);
  CHECK(compared[0]["peer_ms_per_step"] == 1e6);
  CHECK(compared[0]["peer_peak_mb"] == 300);
  CHECK(compared[0]["peer"] == "Slow 1");
  CHECK(compared[0]["peer_generate_tokens_per_s"] == 9);
  const double ms = compared[0]["ms_per_step"];
  CHECK(std::abs(compared[0]["ratio"].get<double>() / (ms / 1e6) - 1) < 1e-9);
}

TEST_CASE("bench --processes --compare prints the ratio of two processes to the script's",
          "[commands][bench]") {
  const PeerSandbox sandbox(slow_peer);
  Call call = sandbox.compare_call({"--processes"});
  CHECK(has(heed_test::run(call).err, "heed: error: OMP_PROC_BIND, "));  // all on the same core
  call.environment["OMP_PROC_BIND"] = "false";
  const Finished run = heed_test::run(call);
  INFO(run.err);
  CHECK(run.code == 0);
  CHECK(
      sandbox.log() ==
      "1 1 spin pad path bind: peer.py in.txt --processes 2 --steps 2 --threads 1 --block-size 16 "
      "--batch-size 4 --layers 1 --heads 2 --embed-dim 16\n");
  CHECK(has(run.out, "2 processes of 1 thread, median of 1 rounds of 2 steps\n"));
  CHECK(has(run.out, "\nDistributedDataParallel     1000000.0 ms/step\nratio  "));
}

TEST_CASE("bench --compare without --only compares four cases", "[commands][bench]") {
  const PeerSandbox sandbox(slow_peer);
  std::string text;
  for (int i = 0; i < 12; ++i) text += Sandbox::story();
  put(sandbox / "in.txt", text);
  Call call =
      sandbox.compare_call({"--json"}, {"bench", "in.txt", "--rounds", "1", "--steps", "1"});
  call.environment["OMP_NUM_THREADS"] = "2";
  const Finished compared = run(call);
  INFO(compared.err);
  REQUIRE(compared.code == 0);
  std::vector<std::string> names;
  const Json parsed = Json::parse(compared.out);
  for (const Json& each : parsed.at("compared")) names.push_back(each.at("name"));
  CHECK(names == std::vector<std::string>{"1 thread", "2 threads", "window 1024, batch 3",
                                          "small: 32 x 8, width 32"});
}

TEST_CASE("the PyTorch script gets OpenBLAS and malloc settings", "[commands][bench]") {
  const PeerSandbox sandbox(slow_peer);
  const Finished two = sandbox.compare({"--only", "step", "--threads", "2", "--peer-blas", "blas"});
  INFO(two.err);
  CHECK(two.code == 0);
  CHECK(two.err == "");
  CHECK(has(two.out, "; peer: Slow 1; "));
  CHECK(has(sandbox.log(), "2 2 spin pad pathblas bind: peer.py"));
  put(sandbox / "in.txt",
      sandbox.story() + sandbox.story() + sandbox.story());  // the text needs a validation part
  const Arguments long_context = {"bench",        "in.txt", "--rounds",    "1",  "--steps", "1",
                                  "--layers",     "1",      "--embed-dim", "16", "--heads", "2",
                                  "--block-size", "256"};
  CHECK(sandbox.compare({"--only", "step"}, long_context).code == 0);
  CHECK(has(sandbox.log(), "1 1 spin pad67108864 path bind: peer.py"));
}

TEST_CASE("a script that fails or prints no measurements gets a one-line error",
          "[commands][bench]") {
  CHECK(PeerSandbox("echo 'Traceback' >&2; echo 'OSError: no' >&2; exit 1")
            .compare({"--only", "step"})
            .err == "heed: error: peer.py: OSError: no\n");
  const Finished invalid = PeerSandbox("echo hello").compare({"--only", "step"});
  CHECK(invalid.code == 1);
  CHECK(invalid.err ==
        "heed: error: peer.py: its last line is not a JSON object with ms_per_step and peak_mb\n");
}

TEST_CASE("a run without PyTorch or without its fast OpenBLAS names the package",
          "[commands][bench]") {
  const Sandbox sandbox;
  put(sandbox / "peer.py", "import torch\n");
  Call call = sandbox.call(quick + Arguments{"--compare", "peer.py"});
  call.environment["PYTHONHOME"] = "/nothing";  // no Python can start
  const Finished without_torch = run(call);
  CHECK(without_torch.code == 1);
  CHECK(without_torch.err ==
        "heed: error: --compare: no python3 here has PyTorch; apt install python3-torch\n");
  const std::string note =
      "heed: note: PyTorch is slow on two threads without an OpenBLAS that uses OpenMP: apt "
      "install libopenblas0-openmp\n";
  const Finished two = PeerSandbox(slow_peer).compare({"--only", "step", "--threads", "2"});
  CHECK(two.err == (has_openmp_blas() ? "" : note));
}

TEST_CASE("the PyTorch script gets the OPENBLAS_CORETYPE of heed", "[commands][bench]") {
  const PeerSandbox sandbox("echo \"core:$OPENBLAS_CORETYPE\" >core\n" + slow_peer);
  const char* const set = std::getenv("OPENBLAS_CORETYPE");
  const char* const own = set != nullptr ? set : heed::better_openblas_coretype();
  Call call = sandbox.compare_call({"--only", "step"});
  call.environment["HEED_GEMM"] = "openblas";  // measures nothing
  REQUIRE(run(call).code == 0);
  CHECK(sandbox.read("core") == "core:" + std::string(own == nullptr ? "" : own) + "\n");
  call.environment["OPENBLAS_CORETYPE"] = "Haswell";
  REQUIRE(run(call).code == 0);
  CHECK(sandbox.read("core") == "core:Haswell\n");
}

TEST_CASE("the PyTorch script trains the model, if PyTorch is installed",
          "[commands][bench][torch]") {
  const std::optional<Json>& json = trained_by_torch();
  if (!json) return;
  CHECK(json->at("ms_per_step") > 0);
  CHECK(json->at("p10") <= json->at("p90"));
  CHECK(json->at("generate_tokens_per_s") > 0);
  CHECK(json->at("last_loss") < json->at("first_loss"));
  CHECK(json->at("threads") == 1);
  CHECK(json->at("peak_mb") > 10);
}

TEST_CASE("PyTorch with the same seed and hyperparameters has heed's losses to four decimals",
          "[commands][bench][torch]") {
  const std::optional<Json>& json = trained_by_torch();
  if (!json) return;
  const Sandbox sandbox;
  const Arguments steps = {"--steps",   "74", "--decay-steps",  "2000", "--log-every", "1",
                           "--threads", "1",  "--eval-batches", "1",    "--out",       "o"};
  Call call = sandbox.call(Arguments{"train", "in.txt"} + model_flags + steps);
  call.environment["HEED_GEMM"] = "openblas";
  REQUIRE(run(call).code == 0);
  const std::string csv = sandbox.read("o/loss.csv");
  const auto loss_of = [&](const std::string& step) {
    REQUIRE(has(csv, "\n" + step + ","));
    return std::stod(csv.substr(csv.find("\n" + step + ",") + step.size() + 2));
  };
  // 60 measured steps follow 60 / 5 + 2 steps to warm up.
  CHECK(std::abs(json->at("first_loss").get<double>() - loss_of("1")) < 5e-5);
  CHECK(std::abs(json->at("last_loss").get<double>() - loss_of("74")) < 5e-5);
}

TEST_CASE("the script for llm.c gives its program a model and tokens of heed's sizes",
          "[commands][bench]") {
  const Sandbox sandbox;
  put(sandbox / "in.txt", "aabbcc, aabbcc\n");  // 6 characters; the first 13 of 15 are for training
  put(sandbox / "llmc",
      "#!/bin/sh\ncp gpt2_124M.bin dev/data/tinyshakespeare/*_train.bin '" + sandbox.path.string() +
          "'\n/usr/bin/seq 41 | /bin/sed 's/.*/step &: train loss 4 (took & ms)/'\n");
  std::filesystem::permissions(sandbox / "llmc", std::filesystem::perms::owner_all);
  Call call{Arguments{"/usr/bin/env", "python3", HEED_TESTS_DIR "/bench/llmc_peer.py", "in.txt",
                      "--layers", "2", "--embed-dim", "16", "--heads", "2", "--batch-size", "4"},
            sandbox.path};
  call.environment["LLM_C"] = (sandbox / "llmc").string();
  const Finished finished = run(call);
  if (finished.code == 127) {
    WARN("no python3: the script for llm.c was not run");
    return;
  }
  INFO(finished.err);
  REQUIRE(finished.code == 0);
  const Json json = Json::parse(finished.out);
  CHECK(json.at("ms_per_step") == 26);  // the median of 11 to 41
  CHECK(json.at("peer") == "llm.c");
  const std::size_t C = 16, layers = 2, positions = 64, vocabulary = 6;
  const std::size_t parameters =
      (vocabulary + positions + 2) * C + layers * (12 * C * C + 9 * C + 4 * C);
  CHECK(sandbox.read("gpt2_124M.bin").size() == 1024 + 4 * parameters);
  CHECK(sandbox.read("tiny_shakespeare_train.bin").size() == 1024 + 2 * 13);
  call.environment["LLM_C"] = "nothing";
  CHECK(run(call).err == "LLM_C=nothing: is no program; build llm.c with `make train_gpt2`\n");
}

TEST_CASE("the script with DistributedDataParallel trains in two processes",
          "[commands][bench][torch][.][many_processes]") {
  const std::optional<Json> json = torch_peer("torch_ddp_peer.py", {"--processes", "2"});
  if (!json) return;
  CHECK(keys(*json) == Set{"ms_per_step", "p10", "p90", "peak_mb", "first_loss", "last_loss",
                           "torch", "threads", "processes"});
  CHECK(json->at("processes") == 2);
  CHECK(json->at("ms_per_step") > 0);
  CHECK(json->at("last_loss") < json->at("first_loss"));
}
