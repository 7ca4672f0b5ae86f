// compare.cpp: runs child programs for heed bench. --compare runs heed and another program, the
// peer, alternately, so that other load on the machine affects both.

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "base/process.hpp"
#include "commands/bench/bench.hpp"
#include "commands/bench/processes.hpp"
#include "heed/array/parallel.hpp"
#include "heed/base/error.hpp"
#include "heed/base/file.hpp"

extern char** environ;

namespace heed::app {
namespace {

namespace fs = std::filesystem;

// ---- child programs

// Appends --steps and one flag for each size of the workload, for heed or the script.
void append_flags(std::vector<std::string>& words, const Workload& workload, std::int64_t steps) {
  words.insert(words.end(), {"--steps", std::to_string(steps)});
  for (auto [name, size] : workload.sizes()) {
    std::replace(name.begin(), name.end(), '_', '-');
    words.insert(words.end(), {"--" + name, std::to_string(size)});
  }
}

// Runs a program and returns its measurements. Error texts begin with `name`.
ChildMeasurements run_program(const std::string& name, std::vector<std::string> words,
                              const EnvironmentChanges& changes) {
  const ChildResult result = run_child({std::move(words), "", "", changes});
  if (result.code == 0) return parse_child_output(name, result.out);
  std::string error = result.last_error();
  const std::string prefix = "heed: error: ";
  if (error.rfind(prefix, 0) == 0) error.erase(0, prefix.size());
  throw_error(name, ": ", error.empty() ? "ended with code " + std::to_string(result.code) : error);
}

bool needs_torch(const std::string& script) {
  return read_text(script).find("torch") != std::string::npos;
}

// Returns the first of python3 and /usr/bin/python3 that finds the package torch, or python3 for a
// script that does not import torch. The check does not import torch, because the import is slow.
std::string python_for(const std::string& script) {
  if (!needs_torch(script)) return "python3";
  const char* const program =
      "import importlib.util as u, sys; sys.exit(u.find_spec('torch') is None)";
  for (const std::string python : {"python3", "/usr/bin/python3"})
    if (run_child({{python, "-c", program}}).code == 0) return python;
  throw_error("--compare: no python3 here has PyTorch; apt install python3-torch");
}

void check_script(const std::string& path) {
  if (access(path.c_str(), R_OK) != 0) throw_error("--compare ", path, ": ", std::strerror(errno));
  if (fs::is_directory(path)) throw_error("--compare ", path, ": is a directory; give a script");
}

// The folder of an OpenBLAS build that uses OpenMP threads, as PyTorch does; "" if there is none.
// With other OpenBLAS builds, two thread pools compete, and PyTorch is half as fast on two threads
// as on one.
std::string openmp_blas(const BenchCommand& command) {
  std::error_code error;
  if (!command.peer_blas.empty()) {
    if (fs::is_directory(command.peer_blas, error)) return command.peer_blas;
    throw_error("--peer-blas ", command.peer_blas, ": is not a folder");
  }
  for (const auto& entry : fs::directory_iterator("/usr/lib", error))
    if (const fs::path folder = entry.path() / "openblas-openmp"; fs::is_directory(folder, error))
      return folder.string();
  note(
      "PyTorch is slow on two threads without an OpenBLAS that uses OpenMP: apt install "
      "libopenblas0-openmp");
  return "";
}

// Returns changes to the environment variables of the peer's process. They remove heed's OpenMP
// settings and add settings that make PyTorch fast. OPENBLAS_CORETYPE stays set, because PyTorch
// needs the variable too if OpenBLAS does not recognise the processor.
EnvironmentChanges peer_environment(const Workload& workload, const std::string& blas) {
  EnvironmentChanges changes;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view line = *entry;
    if (line.rfind("OMP_", 0) == 0 || line.rfind("GOMP_", 0) == 0)
      changes[std::string(line.substr(0, line.find('=')))] = std::nullopt;
  }
  changes["OMP_NUM_THREADS"] = changes["OPENBLAS_NUM_THREADS"] = std::to_string(workload.threads);
  if (workload.threads > 1 && !blas.empty()) changes["LD_LIBRARY_PATH"] = blas;
  if (workload.model.block_size < 256) return changes;
  // These variables make malloc keep freed memory. Without them, PyTorch spends half of its time
  // requesting memory pages from the kernel.
  changes["MALLOC_MMAP_THRESHOLD_"] = "1073741824";
  changes["MALLOC_TRIM_THRESHOLD_"] = "2147483647";
  changes["MALLOC_TOP_PAD_"] = "67108864";
  return changes;
}

// ---- comparisons

// Returns the comparisons to run, without their measurements.
std::vector<Comparison> planned(const BenchCommand& command) {
  Workload one = command.workload;
  if (command.only == "step") return {{"as given", one, true}};
  one.threads = 1;
  Workload two = one, long_context = one, small = one;
  two.threads = 2;
  long_context.model.block_size = 1024;
  long_context.batch_size = 3;
  small.model = nn::GptConfig{};
  small.model.block_size = 8;
  small.model.embed_dim = 32;
  small.batch_size = 32;
  std::vector<Comparison> result{{"1 thread", one, true}};
  if (num_threads() > 1) result.push_back({"2 threads", two});
  result.push_back({"window 1024, batch 3", long_context});
  result.push_back({"small: 32 x 8, width 32", small});
  return result;
}

// Returns a number of training steps that takes one or two seconds on most machines.
std::int64_t steps_for(const Workload& workload) {
  Workload reference;
  reference.model.vocab_size = workload.model.vocab_size;
  const double relative_speed = flop_per_step(reference) / flop_per_step(workload);
  return static_cast<std::int64_t>(std::clamp(24 * relative_speed, 4.0, 120.0));
}

struct Peer {
  std::string python, script, text, blas;

  ChildMeasurements run(const Comparison& c, std::int64_t steps) const {
    std::vector<std::string> words{python, script, text};
    append_flags(words, c.workload, steps);
    if (c.generates) words.insert(words.end(), {"--generate", "200"});  // generates 200 tokens
    return run_program(script, words, peer_environment(c.workload, blas));
  }
};

ChildMeasurements medians(const std::vector<ChildMeasurements>& runs) {
  const auto median = [&](double ChildMeasurements::*member) {
    std::vector<double> values;
    for (const ChildMeasurements& run : runs) values.push_back(run.*member);
    return percentile(values, 0.5);
  };
  ChildMeasurements result = runs.front();  // for its name
  for (const auto member : {&ChildMeasurements::ms_per_step, &ChildMeasurements::peak_mb,
                            &ChildMeasurements::generate_tokens_per_s})
    result.*member = median(member);
  return result;
}

// Even rounds run heed first, odd rounds run the peer first. Round 0 is a warm-up.
void compare(Comparison& c, const BenchCommand& command, const Peer& peer, LiveLine& line) {
  c.rounds = command.rounds.value_or(9);
  const std::int64_t steps = command.steps.value_or(steps_for(c.workload));
  std::vector<ChildMeasurements> heed, torch;
  std::vector<double> ratios;
  for (std::int64_t round = 0; round <= c.rounds; ++round) {
    line.show("measuring " + c.name + ", round " + std::to_string(round) + " of " +
              std::to_string(c.rounds));
    ChildMeasurements own, other;
    if (round % 2 == 0) own = run_in_child(peer.text, c.workload, steps);
    other = peer.run(c, steps);
    if (round % 2 == 1) own = run_in_child(peer.text, c.workload, steps);
    if (round == 0) continue;
    heed.push_back(own);
    torch.push_back(other);
    ratios.push_back(own.ms_per_step / other.ms_per_step);
  }
  c.heed = medians(heed);
  c.torch = medians(torch);
  if (!c.generates) c.torch.generate_tokens_per_s = 0;
  c.ratio = percentiles_of(ratios);
}

}  // namespace

double ddp_ms(const BenchCommand& command, const std::string& text, std::int64_t steps) {
  check_script(command.compare);
  static const std::string python = python_for(command.compare);
  Workload workload = command.workload;
  workload.threads = 1;
  std::vector<std::string> words{python, command.compare, text, "--processes", "2"};
  append_flags(words, workload, steps);
  return run_program(command.compare, words, peer_environment(workload, "")).ms_per_step;
}

double help_ms() {
  const auto start = std::chrono::steady_clock::now();
  run_child({{"/proc/self/exe", "--help"}});
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

ChildMeasurements run_in_child(const std::string& text, const Workload& workload,
                               std::int64_t steps) {
  std::vector<std::string> words{"/proc/self/exe", "--only", "run", "--json"};
  append_flags(words, workload, steps);
  words.insert(words.end(), {"--", text});
  return run_program("heed bench", words, {});
}

std::vector<Comparison> compare_with_peer(const BenchCommand& command, const std::string& text,
                                          LiveLine& line) {
  check_script(command.compare);
  Peer peer{python_for(command.compare), command.compare, text, ""};
  std::vector<Comparison> result = planned(command);
  const auto is_threaded = [](const Comparison& c) { return c.workload.threads > 1; };
  if (needs_torch(peer.script) && std::any_of(result.begin(), result.end(), is_threaded))
    peer.blas = openmp_blas(command);
  for (Comparison& each : result) compare(each, command, peer, line);
  return result;
}

}  // namespace heed::app
