// compare.cpp: heed and PyTorch in turn, so that whatever else the machine does meets both.

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

constexpr std::size_t symbols_to_write = 200;

struct Setting {
  std::string name;
  Workload workload;
  bool writes = false;  // writing is compared as well
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
  Workload far = on_threads(given, 1), small = far;
  far.model.block_size = 1024;
  far.batch_size = 3;
  result.push_back({"window 1024, batch 3", far});
  small.model = nn::GptConfig{};
  small.model.block_size = 8;
  small.model.embed_dim = 32;
  small.batch_size = 32;
  result.push_back({"small: 32 x 8, width 32", small});
  return result;
}

// A second or two, on most machines: fewer of the larger ones.
std::int64_t steps_for(const Workload& workload) {
  Workload reference;
  reference.model.vocab_size = workload.model.vocab_size;
  const double share = step_operations(reference.model, reference.batch_size) /
                       step_operations(workload.model, workload.batch_size);
  return static_cast<std::int64_t>(std::clamp(24 * share, 4.0, 120.0));
}

// ---- PyTorch's side

// The first Python that has PyTorch. Asking takes no time: nothing is imported.
std::string python_with_torch() {
  const char* const ask = "import importlib.util as u, sys; sys.exit(u.find_spec('torch') is None)";
  for (const std::string python : {"python3", "/usr/bin/python3"})
    if (run_child({{python, "-c", ask}}).code == 0) return python;
  throw_error("--compare: no python3 here has PyTorch; apt install python3-torch");
}

void check_script(const std::string& path) {
  if (access(path.c_str(), R_OK) != 0) throw_error("--compare ", path, ": ", std::strerror(errno));
  if (fs::is_directory(path)) throw_error("--compare ", path, ": is a directory; give a script");
}

// The OpenBLAS whose threads are OpenMP's, as PyTorch's are: with the other one both wait for each
// other, and a step on two threads takes twice as long as on one. "" when it is not there.
std::string openmp_blas(const BenchCommand& command) {
  std::error_code error;
  if (!command.peer_blas.empty()) {
    if (fs::is_directory(command.peer_blas, error)) return command.peer_blas;
    throw_error("--peer-blas ", command.peer_blas, ": is no folder");
  }
  for (const auto& entry : fs::directory_iterator("/usr/lib", error))
    if (const fs::path folder = entry.path() / "openblas-openmp"; fs::is_directory(folder, error))
      return folder.string();
  note(
      "on two threads PyTorch is slower than it could be, without the OpenBLAS it gets along "
      "with: apt install libopenblas0-openmp");
  return "";
}

// PyTorch gets the settings that suit it instead of heed's. OPENBLAS_CORETYPE stays: where heed had
// to tell OpenBLAS what processor this is, PyTorch's is told as well.
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
  // Large arrays are kept when freed: else half of the time goes to asking the system for pages.
  changes["MALLOC_MMAP_THRESHOLD_"] = "1073741824";
  changes["MALLOC_TRIM_THRESHOLD_"] = "2147483647";
  changes["MALLOC_TOP_PAD_"] = "67108864";
  return changes;
}

struct Peer {
  std::string python, script, text, blas;

  ChildNumbers numbers(const Setting& setting, std::int64_t steps) const {
    std::vector<std::string> words{python, script, text};
    for (const std::string& word : workload_words(setting.workload, steps)) words.push_back(word);
    if (setting.writes) words.insert(words.end(), {"--generate", std::to_string(symbols_to_write)});
    return child_numbers(script,
                         output_of(script, words, peer_environment(setting.workload, blas)));
  }
};

// ---- taking turns

struct Rounds {
  std::vector<double> ms, mb, tokens;

  void add(const ChildNumbers& n) {
    ms.push_back(n.ms_per_step);
    mb.push_back(n.peak_mb);
    tokens.push_back(n.generate_tokens_per_s);
  }
};

Comparison summary(const Setting& setting, const Rounds& ours, const Rounds& theirs) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < ours.ms.size(); ++i) ratios.push_back(ours.ms[i] / theirs.ms[i]);
  const auto median = [](const std::vector<double>& values) { return percentile(values, 0.5); };
  Comparison c;
  c.name = setting.name;
  c.workload = setting.workload;
  c.rounds = ratios.size();
  c.ms = median(ours.ms);
  c.peer_ms = median(theirs.ms);
  c.ratio = percentiles_of(ratios);
  c.peak_mb = median(ours.mb);
  c.peer_peak_mb = median(theirs.mb);
  if (!setting.writes) return c;
  c.generate_tokens_per_s = median(ours.tokens);
  c.peer_generate_tokens_per_s = median(theirs.tokens);
  return c;
}

// Whoever went first goes second in the next round. The first round only warms caches and disks.
Comparison in_turn(const Setting& setting, const BenchCommand& command, const Peer& peer,
                   const Show& show) {
  const std::int64_t rounds = command.rounds > 0 ? command.rounds : 9;
  const std::int64_t steps = command.steps > 0 ? command.steps : steps_for(setting.workload);
  Rounds ours, theirs;
  for (std::int64_t round = 0; round <= rounds; ++round) {
    show(setting.name + ", round " + std::to_string(round) + " of " + std::to_string(rounds));
    ChildNumbers own, other;
    if (round % 2 == 0) own = numbers_of_run(peer.text, setting.workload, steps);
    other = peer.numbers(setting, steps);
    if (round % 2 == 1) own = numbers_of_run(peer.text, setting.workload, steps);
    if (round == 0) continue;
    ours.add(own);
    theirs.add(other);
  }
  return summary(setting, ours, theirs);
}

}  // namespace

std::vector<Comparison> compare_with_torch(const BenchCommand& command, const std::string& text,
                                           const Show& show) {
  check_script(command.compare);
  Peer peer{python_with_torch(), command.compare, text, ""};
  const std::vector<Setting> all = settings(command);
  const auto threaded = [](const Setting& s) { return s.workload.threads > 1; };
  if (std::any_of(all.begin(), all.end(), threaded)) peer.blas = openmp_blas(command);
  std::vector<Comparison> result;
  for (const Setting& setting : all) result.push_back(in_turn(setting, command, peer, show));
  return result;
}

}  // namespace heed::app
