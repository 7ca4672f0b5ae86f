// run_folder.cpp: the folder of a training run: its file names (RunFolder) and its lock (RunLock).

#include "commands/run_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <fstream>
#include <system_error>
#include <thread>

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

[[noreturn]] void throw_symbolic_link(const fs::path& path) {
  throw_error(path.string(),
              ": is a symbolic link, and heed writes no file through a link; remove the link");
}

std::string model_name(std::int64_t step) {
  return "step-" + std::to_string(step) + ".safetensors";
}

void move(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (error) throw_unusable(from, error.message());
}

bool is_writable(const fs::path& folder) { return ::access(folder.c_str(), W_OK | X_OK) == 0; }

std::string machine_name() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  return name;
}

// Returns "process 123" from the lock file, with the host name if the process runs on another
// machine or container. Returns an empty string if the file contains no process ID.
std::string owner(const fs::path& path) {
  std::ifstream file(path);
  long process = 0;
  std::string machine;
  if (!(file >> process)) return "";
  file >> machine;
  return "process " + std::to_string(process) +
         (machine.empty() || machine == machine_name() ? "" : " on " + in_quotes(machine));
}

[[noreturn]] void throw_no_lock_file(const fs::path& path) {
  throw_error(path.string(), ": is not a file, or has a second name (hard link); remove it");
}

// Throws Error unless the open lock file is a regular file with one name. In a folder that somebody
// else has made, it could be a second name (hard link) of a file that the user wants to keep.
void check_lock_file(const fs::path& path, int descriptor) {
  struct stat status;
  if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink <= 1) return;
  ::close(descriptor);
  throw_no_lock_file(path);
}

// Throws Error with the process ID of the lock's owner. Waits up to 0.1 s for the owner to write
// its process ID to the lock file.
[[noreturn]] void throw_in_use(const fs::path& path, const std::string& advice) {
  std::string name = owner(path);
  for (int tries = 0; tries < 100 && name.empty(); ++tries, name = owner(path))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  throw_error(path.parent_path().string(), ": in use by ", name.empty() ? "another process" : name,
              "; wait until it ends, or ", advice);
}

// Writes the process ID and the host name of this process to the lock file. Ignores write errors,
// because only the error messages of other processes need the ID.
void write_owner(int descriptor) {
  const std::string text = std::to_string(::getpid()) + " " + machine_name() + "\n";
  if (::ftruncate(descriptor, 0) != 0 || ::pwrite(descriptor, text.data(), text.size(), 0) < 0)
    errno = 0;
}

// The steps of the models step-N.safetensors in a folder, in ascending order.
std::vector<std::int64_t> steps_in(const fs::path& folder) {
  std::vector<std::int64_t> steps;
  std::error_code ignored;  // a run without --keep-history has no such folder
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().stem().string();
    std::int64_t step = 0;
    const char* const end = name.data() + name.size();
    if (name.rfind("step-", 0) != 0 || entry.path().extension() != ".safetensors") continue;
    if (const auto read = std::from_chars(name.data() + 5, end, step);
        read.ec == std::errc() && read.ptr == end && step >= 0 &&
        entry.path().filename() == model_name(step))  // not step-007.safetensors
      steps.push_back(step);
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

// Moves the models step-N.safetensors from one folder to another.
void move_models(const fs::path& from, const fs::path& to) {
  for (const std::int64_t step : steps_in(from))
    move(from / model_name(step), to / model_name(step));
}

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

void RunFolder::create() const {
  make_folder(path);
  std::error_code ignored;  // a run without --keep-history has no such folder
  for (const fs::path& folder : {history(), replaced_models(), moving_models()})
    if (fs::is_symlink(folder, ignored)) throw_symbolic_link(folder);
  if (!history_steps().empty() && !is_writable(history()))
    throw_unusable(history(), std::strerror(errno), "make it writable, or choose another --out");
  for (const std::int64_t step : history_steps())
    if (fs::is_directory(fs::symlink_status(history_file(step), ignored)))
      throw_unusable(history_file(step), "is a folder", "remove it, or choose another --out");
  end_replacing();
  remove_stale_temporaries(checkpoint());
  for (const fs::path& file : reports()) remove_stale_temporaries(file);
  for (const auto& entry : fs::directory_iterator(history(), ignored)) {
    const std::string name = entry.path().filename().string();  // .step-250.safetensors.tmp-PID
    if (const std::size_t end = name.find(".tmp-"); name[0] == '.' && end != name.npos)
      remove_stale_temporaries(history() / name.substr(1, end - 1));
  }
}

fs::path RunFolder::history_file(std::int64_t step) const { return history() / model_name(step); }

std::vector<std::int64_t> RunFolder::history_steps() const { return steps_in(history()); }

void RunFolder::remove_history_after(std::int64_t last) const {
  for (const std::int64_t step : history_steps())
    if (step > last) remove_file(history_file(step));
}

bool RunFolder::is_being_replaced() const {
  std::error_code ignored;
  return fs::is_directory(moving_models(), ignored) ||
         (fs::is_directory(replaced_models(), ignored) && has_temporary(checkpoint()));
}

// The folder gets its final name when all models are in it, so end_replacing() can tell old models
// in history/ from those of the new run.
void RunFolder::set_models_aside() const {
  std::error_code ignored;
  if (!fs::is_directory(history(), ignored)) return;
  make_folder(moving_models());
  move_models(history(), moving_models());
  move(moving_models(), replaced_models());
}

// Each state on the way is one that end_replacing() can start with.
bool RunFolder::end_replacing() const {
  const bool failed = has_temporary(checkpoint());
  std::error_code ignored;
  if (fs::is_directory(replaced_models(), ignored)) {
    const fs::path unwanted = failed ? history() : replaced_models();
    for (const std::int64_t step : steps_in(unwanted)) remove_file(unwanted / model_name(step));
    if (failed) move(replaced_models(), moving_models());
    if (!failed) remove_file(replaced_models());
  }
  if (fs::is_directory(moving_models(), ignored)) {
    move_models(moving_models(), history());
    remove_file(moving_models());
  }
  return failed;
}

RunLock::~RunLock() {
  if (descriptor_ < 0) return;
  ::unlink(path_.c_str());  // unlink first: after close(), another process may lock the file
  ::close(descriptor_);
}

// Tries once to lock the file. Returns false if the previous owner removed the lock file between
// open() and flock() of this process. Throws Error if another process holds the lock.
bool RunLock::try_once() {
  // With O_NONBLOCK, open() does not wait for the other end of a pipe.
  constexpr int flags = O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  int descriptor = ::open(path_.c_str(), O_RDWR | flags, 0666);
  if (descriptor < 0 && errno == EACCES)  // the lock file belongs to another user
    descriptor = ::open(path_.c_str(), O_RDONLY | flags, 0666);
  if (descriptor < 0 && errno == ELOOP) throw_symbolic_link(path_);
  if (descriptor < 0 && errno == EISDIR) throw_no_lock_file(path_);
  if (descriptor < 0) throw_unusable(path_.parent_path(), write_error_text(errno), advice_);
  check_lock_file(path_, descriptor);
  const bool held_by_other = ::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  if (!held_by_other && is_same_file(path_, descriptor)) {
    descriptor_ = descriptor;
    write_owner(descriptor);
    return true;
  }
  ::close(descriptor);
  if (held_by_other) throw_in_use(path_, advice_);
  return false;
}

void RunLock::acquire() {
  while (descriptor_ < 0 && !try_once()) continue;
}

void RunLock::acquire_if_possible() {
  std::error_code ignored;
  const fs::path folder = path_.parent_path();
  if (fs::is_directory(folder, ignored) && is_writable(folder)) acquire();
}

void check_no_run(const RunFolder& folder, const std::string& advice) {
  std::error_code ignored;  // ignored here: creating the folder reports the error
  if (fs::exists(fs::symlink_status(folder.checkpoint(), ignored)))
    throw_error(folder.path.string(), ": has a run already; ", advice,
                ", and --replace replaces it");
  if (!folder.history_steps().empty())
    throw_error((folder.path / "history").string(),
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
  std::vector<fs::path> files = folder.reports();
  files.insert(files.end(), {folder.path / ".heed-lock", folder.checkpoint()});
  for (const std::int64_t step : folder.history_steps()) files.push_back(folder.history_file(step));
  std::error_code ignored;  // a file that does not exist
  for (const fs::path& file : files)
    if (fs::equivalent(text, file, ignored))
      throw_error(text, ": is a file of the run in ", folder.path.string(),
                  ", which would replace it; give another --out, or train on a copy");
}

fs::path checkpoint_in(const std::string& run) {
  std::error_code ignored;  // ignored here: opening the file reports the error
  const fs::path path =
      fs::is_directory(run, ignored) ? RunFolder{run}.checkpoint() : fs::path(run);
  const fs::path by_name = RunFolder{fs::path("runs") / run}.checkpoint();
  if (fs::symlink_status(path, ignored).type() != fs::file_type::not_found) return path;
  const bool is_name = !run.empty() && run.find('/') == run.npos && run[0] != '.';
  if (is_name && fs::exists(by_name, ignored)) return by_name;
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
