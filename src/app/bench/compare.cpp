// compare.cpp: heed bench --compare. heed and PyTorch alternate, so that other load affects both.

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "app/bench/parts.hpp"
#include "heed/app/terminal.hpp"
#include "heed/array/parallel.hpp"
#include "heed/base/error.hpp"

extern char** environ;

namespace heed::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t tokens_to_generate = 200;

struct Setting {
  std::string name;
  Workload workload;
  bool generates = false;  // whether text generation is measured too
};

Workload on_threads(Workload workload, int threads) {
  workload.threads = threads;
  return workload;
}

std::vector<Setting> settings(const BenchCommand& command) {
  const Workload& given = command.workload;
  if (command.only == BenchPart::step) return {{"as given", given, true}};
  std::vector<Setting> result{{"1 thread", on_threads(given, 1), true}};
  if (num_threads() > 1) result.push_back({"2 threads", on_threads(given, 2)});
  Workload long_context = on_threads(given, 1), small = long_context;
  long_context.model.block_size = 1024;
  long_context.batch_size = 3;
  result.push_back({"window 1024, batch 3", long_context});
  small.model = nn::GptConfig{};
  small.model.block_size = 8;
  small.model.embed_dim = 32;
  small.batch_size = 32;
  result.push_back({"small: 32 x 8, width 32", small});
  return result;
}

// A number of steps that takes a second or two on most machines.
std::int64_t steps_for(const Workload& workload) {
  Workload reference;
  reference.model.vocab_size = workload.model.vocab_size;
  const double relative_speed = flop_per_step(reference.model, reference.batch_size) /
                                flop_per_step(workload.model, workload.batch_size);
  return static_cast<std::int64_t>(std::clamp(24 * relative_speed, 4.0, 120.0));
}

// ---- running PyTorch

// The first Python that has PyTorch. The check is fast, because it does not import PyTorch.
std::string python_with_torch() {
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

// The folder of the OpenBLAS build that uses OpenMP threads, as PyTorch does; "" if not found. With
// another build two thread pools compete, and two threads take twice as long as one.
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

// Replaces heed's settings by those that make PyTorch fast. OPENBLAS_CORETYPE stays: if OpenBLAS
// does not know this processor, PyTorch needs the setting too.
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
  // malloc keeps freed memory; otherwise half of the time goes to getting pages from the system.
  changes["MALLOC_MMAP_THRESHOLD_"] = "1073741824";
  changes["MALLOC_TRIM_THRESHOLD_"] = "2147483647";
  changes["MALLOC_TOP_PAD_"] = "67108864";
  return changes;
}

struct Peer {
  std::string python, script, text, blas;

  ChildMeasurements run(const Setting& setting, std::int64_t steps) const {
    std::vector<std::string> arguments{python, script, text};
    for (const std::string& argument : workload_arguments(setting.workload, steps))
      arguments.push_back(argument);
    if (setting.generates)
      arguments.insert(arguments.end(), {"--generate", std::to_string(tokens_to_generate)});
    return parse_child_output(
        script, output_of(script, arguments, peer_environment(setting.workload, blas)));
  }
};

// ---- alternating rounds

struct Rounds {
  std::vector<double> ms, peak_mb, tokens_per_s;

  void add(const ChildMeasurements& child) {
    ms.push_back(child.ms_per_step);
    peak_mb.push_back(child.peak_mb);
    tokens_per_s.push_back(child.generate_tokens_per_s);
  }
};

Comparison summary(const Setting& setting, const Rounds& heed, const Rounds& torch) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < heed.ms.size(); ++i) ratios.push_back(heed.ms[i] / torch.ms[i]);
  const auto median = [](const std::vector<double>& values) { return percentile(values, 0.5); };
  Comparison c;
  c.name = setting.name;
  c.workload = setting.workload;
  c.rounds = ratios.size();
  c.ms = median(heed.ms);
  c.peer_ms = median(torch.ms);
  c.ratio = percentiles_of(ratios);
  c.peak_mb = median(heed.peak_mb);
  c.peer_peak_mb = median(torch.peak_mb);
  if (!setting.generates) return c;
  c.generate_tokens_per_s = median(heed.tokens_per_s);
  c.peer_generate_tokens_per_s = median(torch.tokens_per_s);
  return c;
}

// Runs alternate between heed first and PyTorch first. Round 0 is a warm-up and is not counted.
Comparison compare_setting(const Setting& setting, const BenchCommand& command, const Peer& peer,
                           const ShowProgress& show) {
  const std::int64_t rounds = command.rounds > 0 ? command.rounds : 9;
  const std::int64_t steps = command.steps > 0 ? command.steps : steps_for(setting.workload);
  Rounds heed, torch;
  for (std::int64_t round = 0; round <= rounds; ++round) {
    show(setting.name + ", round " + std::to_string(round) + " of " + std::to_string(rounds));
    ChildMeasurements own, other;
    if (round % 2 == 0) own = run_in_child(peer.text, setting.workload, steps);
    other = peer.run(setting, steps);
    if (round % 2 == 1) own = run_in_child(peer.text, setting.workload, steps);
    if (round == 0) continue;
    heed.add(own);
    torch.add(other);
  }
  return summary(setting, heed, torch);
}

}  // namespace

std::vector<Comparison> compare_with_torch(const BenchCommand& command, const std::string& text,
                                           const ShowProgress& show) {
  check_script(command.compare);
  Peer peer{python_with_torch(), command.compare, text, ""};
  const std::vector<Setting> all = settings(command);
  const auto is_threaded = [](const Setting& s) { return s.workload.threads > 1; };
  if (std::any_of(all.begin(), all.end(), is_threaded)) peer.blas = openmp_blas(command);
  std::vector<Comparison> result;
  for (const Setting& setting : all)
    result.push_back(compare_setting(setting, command, peer, show));
  return result;
}

}  // namespace heed::app
