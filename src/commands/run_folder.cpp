// run_folder.cpp: RunFolder, the folder of a training run and the names of its files.

#include "commands/run_folder.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <system_error>

#include "heed/base/atomic_file.hpp"
#include "heed/base/error.hpp"
#include "heed/base/file.hpp"
#include "heed/base/text.hpp"
#include "heed/train/loss_csv.hpp"

namespace heed::app {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void throw_unusable(const fs::path& folder, const std::string& reason,
                                 const std::string& advice = "choose another --out") {
  throw_error(folder.string(), ": ", reason, "; ", advice);
}

// Whether a run in runs/ may be meant by its name alone.
bool is_name(const std::string& run) {
  return !run.empty() && run.find('/') == run.npos && run[0] != '.';
}

bool is_writable(const fs::path& folder) { return ::access(folder.c_str(), W_OK | X_OK) == 0; }

// Whether heed has written the file, or it is empty. A run that is killed before its first
// checkpoint leaves one.
bool is_own_csv(const fs::path& path) {
  const std::string header = csv(std::vector<LogRow>());
  try {
    const std::string start = start_of_file(path, header.size());
    return start.empty() || start == header;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::string default_text() { return HEED_DATA_DIR "/harbour.txt"; }

void make_folder(const fs::path& folder, const std::string& advice) {
  std::error_code error, ignored;
  fs::create_directories(folder, error);
  if (fs::exists(folder, ignored) && !fs::is_directory(folder, ignored))
    throw_unusable(folder, "is a file, not a directory", advice);
  if (error) throw_unusable(folder, error.message(), advice);
  if (!is_writable(folder)) throw_unusable(folder, std::strerror(errno), advice);
}

void remove_file(const fs::path& file) {
  std::error_code error;
  fs::remove(file, error);
  if (error) throw_unusable(file, error.message(), "remove it, or choose another --out");
}

fs::path StepFolder::file(std::int64_t step) const {
  return path / ("step-" + std::to_string(step) + ".safetensors");
}

std::vector<std::int64_t> StepFolder::steps() const {
  std::vector<std::int64_t> found;
  std::error_code ignored;  // most runs have no such folder
  for (const auto& entry : fs::directory_iterator(path, ignored)) {
    const std::string name = entry.path().stem().string();
    std::int64_t step = 0;
    const char* const end = name.data() + name.size();
    if (name.rfind("step-", 0) != 0 || entry.path().extension() != ".safetensors") continue;
    if (const auto read = std::from_chars(name.data() + 5, end, step);
        read.ec == std::errc() && read.ptr == end && step >= 0 &&
        entry.path() == file(step))  // not step-007.safetensors
      found.push_back(step);
  }
  std::sort(found.begin(), found.end());
  return found;
}

void StepFolder::remove_after(std::int64_t last) const {
  for (const std::int64_t step : steps())
    if (step > last) remove_file(file(step));
}

// Throws Error if a run cannot save its states in the folder.
static void check_states(const StepFolder& folder) {
  std::error_code ignored;  // most runs have no such folder
  if (fs::is_symlink(folder.path, ignored))
    throw_error(folder.path.string(),
                ": is a symbolic link, and heed writes no file through a link; remove the link");
  if (!folder.steps().empty() && !is_writable(folder.path))
    throw_unusable(folder.path, std::strerror(errno), "make it writable, or choose another --out");
  for (const std::int64_t step : folder.steps())
    if (fs::is_directory(fs::symlink_status(folder.file(step), ignored)))
      throw_unusable(folder.file(step), "is a folder", "remove it, or choose another --out");
}

void RunFolder::create() const {
  make_folder(path);
  for (const StepFolder& states : {history(), record()}) check_states(states);
  remove_temporaries();
}

void RunFolder::remove_temporaries() const {
  std::error_code ignored;
  remove_stale_temporaries(checkpoint());
  for (const fs::path& file : reports()) remove_stale_temporaries(file);
  for (const StepFolder& states : {history(), record()})
    for (const auto& entry : fs::directory_iterator(states.path, ignored)) {
      const std::string name = entry.path().filename().string();  // .step-250.safetensors.tmp-PID
      if (const std::size_t end = name.find(".tmp-"); name[0] == '.' && end != name.npos)
        remove_stale_temporaries(states.path / name.substr(1, end - 1));
    }
}

bool RunFolder::has_checkpoint() const {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(checkpoint(), ignored));
}

std::vector<fs::path> RunFolder::files() const {
  std::vector<fs::path> result = reports();
  result.push_back(checkpoint());
  for (const StepFolder& states : {history(), record()})
    for (const std::int64_t step : states.steps()) result.push_back(states.file(step));
  return result;
}

bool RunFolder::has_files() const {
  const std::vector<fs::path> all = files();
  std::error_code ignored;
  return std::any_of(all.begin(), all.end(), [&](const auto& file) {
    return fs::exists(fs::symlink_status(file, ignored));
  });
}

void check_no_run(const RunFolder& folder, const std::string& advice) {
  std::error_code ignored;  // ignored here: creating the folder reports the error
  if (folder.has_checkpoint())
    throw_error(folder.path.string(), ": has a run already; ", advice,
                ", and --replace replaces it");
  for (const StepFolder& states : {folder.history(), folder.record()})
    if (!states.steps().empty())
      throw_error(states.path.string(),
                  ": has the models of a run that ended before its first checkpoint; --replace ",
                  "replaces them, another --out keeps them");
  for (const fs::path& file : folder.reports()) {
    const fs::file_status status = fs::symlink_status(file, ignored);
    if (!fs::exists(status) || fs::is_directory(status)) continue;
    if (file == folder.loss_csv() && is_own_csv(file)) continue;
    throw_error(file.string(),
                ": exists already, without a run beside it; --replace replaces it, another --out "
                "keeps it");
  }
}

void check_not_of_run(const RunFolder& folder, const std::string& text) {
  std::vector<fs::path> files = folder.files();
  files.push_back(folder.lock());
  std::error_code ignored;  // a file that does not exist
  for (const fs::path& file : files)
    if (fs::equivalent(text, file, ignored))
      throw_error(text, ": is a file of the run in ", folder.path.string(),
                  ", which would replace it; give another --out, or train on a copy");
}

RunFolder run_folder(const std::string& run) {
  std::error_code ignored;
  const fs::path path = run, by_name = fs::path("runs") / run;
  if (fs::is_directory(path, ignored)) return {path};
  const bool is_file = fs::symlink_status(path, ignored).type() != fs::file_type::not_found;
  if (is_file && path.filename() == RunFolder().checkpoint())
    return {path.has_parent_path() ? path.parent_path() : "."};
  if (is_file) throw_error(run, ": is a file; give the folder of a run, such as runs/harbour");
  if (is_name(run) && fs::is_directory(by_name, ignored)) return {by_name};
  throw_error(run, ": No such file or directory; give a run's folder, such as runs/harbour");
}

fs::path checkpoint_in(const std::string& run) {
  std::error_code ignored;  // ignored here: opening the file reports the error
  const fs::path path =
      fs::is_directory(run, ignored) ? RunFolder{run}.checkpoint() : fs::path(run);
  const fs::path by_name = RunFolder{fs::path("runs") / run}.checkpoint();
  if (fs::symlink_status(path, ignored).type() != fs::file_type::not_found) return path;
  if (is_name(run) && fs::exists(by_name, ignored)) return by_name;
  throw_error(path.string(), ": No such file or directory; give a run's folder, such as ",
              "runs/harbour, or a checkpoint");
}

void check_trusted(const ModelFile& file, bool trust) {
  if (file.has_checksum() || trust) return;
  throw_error(
      file.path(),
      ": has no checksum of heed's, so another program wrote or changed it; --trust loads it "
      "anyway");
}

}  // namespace heed::app
