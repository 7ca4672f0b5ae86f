// run_replacement.cpp: RunReplacement, which puts a new run in the place of an old one in one step.

#include "commands/run_replacement.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <tuple>
#include <utility>

#include "commands/terminal.hpp"
#include "heed/base/atomic_file.hpp"
#include "heed/base/error.hpp"
#include "heed/base/file.hpp"

namespace heed::app {
namespace {

namespace fs = std::filesystem;

// The folder's path without symbolic links, relative to the current folder if it is in that. A link
// keeps its name if the folder that it leads to is replaced.
RunFolder without_links(const RunFolder& folder) {
  std::error_code failed;
  const fs::path path = fs::weakly_canonical(folder.path, failed);
  if (failed) return folder;
  const fs::path relative = fs::proximate(path, failed);
  return {failed || *relative.begin() == "." || *relative.begin() == ".." ? path : relative};
}

// runs/.harbour.new or runs/.harbour.old for runs/harbour, which is a path without_links().
RunFolder beside(const RunFolder& folder, const char* ending) {
  return {folder.path.parent_path() / ("." + folder.path.filename().string() + ending)};
}

bool has_file(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

void remove_regular_file(const fs::path& path) {
  std::error_code ignored;
  if (fs::is_regular_file(fs::symlink_status(path, ignored))) fs::remove(path, ignored);
}

bool is_script_of_plot(const fs::path& file) {
  const std::string start = "# Draws ";  // see Canvas::head()
  try {
    return start_of_file(file, start.size()) == start;
  } catch (const Error&) {
    return false;
  }
}

// Removes the plots of heed look, which show the run's model. Files with these names that have no
// script of heed's are the user's.
void remove_plots(const fs::path& folder) {
  for (const std::string name : {"look", "tsne"}) {
    if (!is_script_of_plot(folder / (name + ".gp"))) continue;
    for (const char* ending : {".csv", ".svg", ".gp"})
      remove_regular_file(folder / (name + ending));
  }
}

// Moves the files that `to` does not have, but for the lock file of a run.
void move_files(const fs::path& from, const fs::path& to) {
  std::error_code ignored;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(from, ignored)) files.push_back(entry.path());
  if (!files.empty()) fs::create_directory(to, ignored);
  for (const fs::path& file : files)
    if (file.filename() != ".heed-lock" && !has_file(to / file.filename()))
      fs::rename(file, to / file.filename(), ignored);
}

bool holds_only(const fs::path& folder, const fs::path& file) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.path() != file) return false;
  return true;
}

// Removes the files of a run, moves all others into the folder `to`, and removes the run's folder.
// What fails is left for the next call. A folder without a lock file is not one of heed's.
void clear(const RunFolder& run, const RunFolder& to) {
  std::error_code ignored;
  if (fs::is_symlink(run.path, ignored)) return;
  for (const StepFolder& states : {run.history(), run.record()})
    if (fs::is_symlink(states.path, ignored)) return;
  if (!has_file(run.lock())) return;
  run.remove_temporaries();
  for (const fs::path& file : run.files()) remove_regular_file(file);
  remove_plots(run.path);
  for (const auto& [from, there] :
       {std::pair(run.history(), to.history()), std::pair(run.record(), to.record())}) {
    if (fs::is_directory(from.path, ignored)) move_files(from.path, there.path);
    fs::remove(from.path, ignored);  // only if it is empty
  }
  move_files(run.path, to.path);
  if (!holds_only(run.path, run.lock())) return;  // with its lock file, the next call goes on
  remove_regular_file(run.lock());
  fs::remove(run.path, ignored);
}

// Failures are ignored, because some file systems have neither owners nor permissions.
void set_permissions(const struct stat& status, const fs::path& file) {
  std::ignore = ::chown(file.c_str(), status.st_uid, status.st_gid);
  std::ignore = ::chmod(file.c_str(), status.st_mode & 07777);
}

void copy_permissions(const fs::path& from, const fs::path& to) {
  struct stat status;
  if (::lstat(from.c_str(), &status) != 0 || S_ISLNK(status.st_mode) || !has_file(to)) return;
  set_permissions(status, to);
}

[[noreturn]] void throw_not_replaceable(const RunFolder& folder, const std::string& reason) {
  throw_error(folder.path.string(), ": cannot be replaced: ", reason, "; choose another --out");
}

void check_replaceable(const RunFolder& old) {
  struct stat folder, parent;
  std::error_code ignored;
  if (fs::equivalent(".", old.path, ignored))
    throw_not_replaceable(old, "it is the current folder");
  if (::stat(old.path.c_str(), &folder) == 0 && ::stat((old.path / "..").c_str(), &parent) == 0 &&
      folder.st_dev != parent.st_dev)
    throw_not_replaceable(old, "it is the top of a mounted file system");
}

void create(const RunFolder& folder, const RunFolder& old) {
  ::rmdir(folder.path.c_str());  // removes an empty folder, left when the disk was full
  const std::string name = folder.path.string();
  if (::mkdir(folder.path.c_str(), 0700) == 0) return;
  if (errno == EEXIST) throw_error(name, ": has files that are not a run's; move them away");
  throw_not_replaceable(old, name + ": " + std::strerror(errno));
}

}  // namespace

RunReplacement::RunReplacement(const RunFolder& old)
    : old_(without_links(old)), new_(beside(old_, ".new")), lock_(new_.path) {
  check_replaceable(old_);
  create(new_, old_);
  lock_.acquire();
}

RunReplacement::~RunReplacement() {
  if (!failed_) clear(new_, old_);
}

void RunReplacement::commit(RunLock& lock) {
  copy_permissions(old_.checkpoint(), new_.checkpoint());
  copy_permissions(old_.loss_csv(), new_.loss_csv());
  copy_permissions(old_.history().path, new_.history().path);
  copy_permissions(old_.record().path, new_.record().path);
  copy_permissions(old_.path, new_.path);
  const RunFolder aside = beside(old_, ".old");
  if (const int error = exchange_folders(old_.path, new_.path, aside.path)) {
    failed_ = true;
    throw_error(old_.path.string(), ": cannot be replaced: ", std::strerror(error),
                "; the new run is in ", new_.path.string(),
                "; move it before the next run of this name, which removes it");
  }
  lock.exchange(lock_);
  remember_permissions();
  clear(new_, old_);
  if (has_file(new_.path))
    note(new_.path.string() + " still has files of the old run, which could not be moved");
}

void RunReplacement::remember_permissions() {
  struct stat status;
  for (const fs::path& file : new_.reports())
    if (::lstat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
        !has_file(old_.path / file.filename()))
      permissions_.emplace_back(old_.path / file.filename(), status);
}

void RunReplacement::give_permissions() const {
  std::error_code ignored;
  for (const auto& [file, status] : permissions_)
    if (fs::is_regular_file(fs::symlink_status(file, ignored))) set_permissions(status, file);
}

void end_replacing(const RunFolder& folder) {
  const RunFolder run = without_links(folder);
  for (const char* ending : {".new", ".old"}) clear(beside(run, ending), run);
}

void restore_replaced_run(const RunFolder& folder) {
  const RunFolder run = without_links(folder), old = beside(run, ".old");
  if (has_file(run.path) || !has_file(old.lock())) return;
  RunLock lock(old.path);
  lock.acquire();
  std::error_code ignored;  // the name stays without a run, which the caller notices
  fs::rename(old.path, run.path, ignored);
}

}  // namespace heed::app
