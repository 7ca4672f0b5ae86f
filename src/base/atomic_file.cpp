// atomic_file.cpp: AtomicFile writes a temporary file, syncs it, renames it and syncs the folder.

#include "heed/base/atomic_file.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "heed/base/error.hpp"

namespace heed {
namespace {

namespace fs = std::filesystem;

std::string temporary_prefix(const fs::path& path) {
  return "." + path.filename().string() + ".tmp-";
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

// The process ID in ".NAME.tmp-PID", or 0 if the file name has another form.
int process_of(const std::string& filename, const std::string& prefix) {
  if (filename.compare(0, prefix.size(), prefix) != 0) return 0;
  int process = 0;
  const char* const end = filename.data() + filename.size();
  const auto [stop, error] = std::from_chars(filename.data() + prefix.size(), end, process);
  return error == std::errc() && stop == end && process > 0 ? process : 0;
}

// The temporary files of `path`, each with the process ID in its name.
std::vector<std::pair<fs::path, int>> temporaries_of(const fs::path& path) {
  const std::string prefix = temporary_prefix(path);
  std::vector<std::pair<fs::path, int>> temporaries;
  std::error_code failed;
  for (fs::directory_iterator entry(folder_of(path), failed), end; !failed && entry != end;
       entry.increment(failed))
    if (const int process = process_of(entry->path().filename().string(), prefix); process != 0)
      temporaries.emplace_back(entry->path(), process);
  return temporaries;
}

// Locks the file. Returns false if another process holds the lock. A file system may have no locks:
// then the result is true if the file was created by this process, or by a process that has ended.
// `process` is the ID of the process that created the file.
bool try_lock(int descriptor, int process) {
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return true;
  if (errno == EWOULDBLOCK || errno == EINTR) return false;
  return process == ::getpid() || (::kill(process, 0) != 0 && errno == ESRCH);
}

// Removes the file if no process is writing it. Returns whether the file was removed.
bool remove_if_stale(const fs::path& temporary, int process) {
  constexpr int flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  int descriptor = ::open(temporary.c_str(), O_RDWR | flags);  // locks on NFS need write access
  if (descriptor < 0) descriptor = ::open(temporary.c_str(), O_RDONLY | flags);
  if (descriptor < 0) return false;
  const bool removed = try_lock(descriptor, process) && is_same_file(temporary, descriptor) &&
                       ::unlink(temporary.c_str()) == 0;
  ::close(descriptor);
  return removed;
}

// Gives the new file the owner and permissions of the old file, so that the same users can read it.
// Failures are ignored, because some file systems have neither owners nor permissions.
void copy_permissions(int descriptor, const struct stat& old) {
  std::ignore = ::fchown(descriptor, old.st_uid, old.st_gid);
  std::ignore = ::fchmod(descriptor, old.st_mode & 0777);
}

// Calls fsync(). Returns 0, or the errno value if fsync() failed.
int sync_file(int descriptor) {
  while (::fsync(descriptor) != 0)
    if (errno != EINTR) return errno;
  return 0;
}

// Syncs the folder, which makes a rename in it permanent. Returns 0 or an errno value.
int sync_folder(const fs::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return 0;  // without read permission, the folder cannot be synced
  const int error = sync_file(descriptor);
  ::close(descriptor);
  return error == EINVAL ? 0 : error;  // EINVAL: the file system cannot sync folders
}

// Renames a file. Returns 0 or an errno value.
int rename_file(const fs::path& from, const fs::path& to) {
  return ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

// Exchanges two names in one step. Returns 0 or an errno value.
int exchange_names(const fs::path& a, const fs::path& b) {
#if defined(RENAME_SWAP)
  return ::renamex_np(a.c_str(), b.c_str(), RENAME_SWAP) == 0 ? 0 : errno;
#elif defined(RENAME_EXCHANGE)
  return ::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0 ? 0 : errno;
#else
  static_cast<void>(a), static_cast<void>(b);
  return ENOSYS;
#endif
}

// Renames a file, but returns EEXIST if `to` exists: link() never replaces a file. On a file system
// without hard links, `to` is checked before the rename.
int rename_new_file(const fs::path& from, const fs::path& to) {
  if (::link(from.c_str(), to.c_str()) == 0) return ::unlink(from.c_str()) == 0 ? 0 : errno;
  if (errno == EEXIST) return EEXIST;
  struct stat existing;
  return ::lstat(to.c_str(), &existing) == 0 ? EEXIST : rename_file(from, to);
}

}  // namespace

bool is_same_file(const fs::path& path, int descriptor) {
  struct stat opened, named;
  return ::fstat(descriptor, &opened) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

AtomicFile::AtomicFile(const fs::path& path) : path_(path) {
  struct stat old;
  const bool exists = ::lstat(path_.c_str(), &old) == 0;
  if (!path_.has_filename() || (exists && S_ISDIR(old.st_mode)))
    throw_error(path_.string(), ": is a folder; move it away, or give another name");
  if (exists && S_ISLNK(old.st_mode))
    throw_error(path_.string(),
                ": is a symbolic link, and heed writes no file through a link; remove the link");
  if (exists && !S_ISREG(old.st_mode))
    throw_error(path_.string(), ": is not a regular file, so it cannot be replaced; remove it");
  remove_stale_temporaries(path_);  // removes the files of programs that were killed
  open_temporary(exists ? 0600 : 0666);
  if (exists) copy_permissions(descriptor_, old);
}

// Creates and locks the temporary file. Before flock() locks the file, another process can take it
// for a stale file and remove it. In this case, open_temporary retries for up to 0.5 s.
void AtomicFile::open_temporary(unsigned mode) {
  const int process = ::getpid();
  constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
  temporary_ = folder_of(path_) / (temporary_prefix(path_) + std::to_string(process));
  for (int tries = 0; tries < 500; ++tries) {
    descriptor_ = ::open(temporary_.c_str(), flags, mode);
    if (descriptor_ >= 0 && try_lock(descriptor_, process) && is_same_file(temporary_, descriptor_))
      return;
    if (descriptor_ >= 0)
      ::close(descriptor_);
    else if (errno != EEXIST)
      throw_errno(errno);
    else  // an earlier process with the same ID left the file, as happens in containers
      remove_if_stale(temporary_, process);
    ::usleep(1000);
  }
  throw_error(path_.string(), ": is already being written, as ", temporary_.filename().string());
}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());  // before close(), which unlocks the file
  if (descriptor_ >= 0) ::close(descriptor_);
}

void AtomicFile::write(const void* data, std::size_t bytes) {
  const char* next = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(descriptor_, next, bytes);  // `written` may be below `bytes`
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw_errno(errno);
    if (written == 0) throw_errno(ENOSPC);
    next += written;
    bytes -= static_cast<std::size_t>(written);
  }
}

void AtomicFile::commit() { commit(rename_file); }

void AtomicFile::commit_new() { commit(rename_new_file); }

// fsync() comes before the rename: otherwise a power failure after the rename could leave a file
// that contains only zeros under the new name. Some file systems report a write error only in
// close(), so a duplicate of the descriptor is closed before the rename. The original descriptor
// stays open and keeps the lock.
void AtomicFile::commit(int (*move)(const fs::path&, const fs::path&)) {
  if (const int error = sync_file(descriptor_)) throw_errno(error);
  const int copy = ::fcntl(descriptor_, F_DUPFD_CLOEXEC, 0);
  if (copy < 0 || (::close(copy) != 0 && errno != EINTR)) throw_errno(errno);
  const int failed = move(temporary_, path_);
  if (failed == EEXIST)
    throw_error(path_.string(), ": exists already; give another name, or remove it first");
  if (failed != 0) throw_errno(failed);
  temporary_.clear();
  ::close(descriptor_);
  descriptor_ = -1;
  if (const int error = sync_folder(folder_of(path_))) throw_errno(error);
}

void AtomicFile::throw_errno(int error) const {
  throw_error(path_.string(), ": ", write_error_text(error));
}

void write_file_atomically(const fs::path& path, std::string_view content) {
  AtomicFile file(path);
  file.write(content.data(), content.size());
  file.commit();
}

std::size_t remove_stale_temporaries(const fs::path& path) {
  std::size_t removed = 0;
  for (const auto& [temporary, process] : temporaries_of(path))
    if (remove_if_stale(temporary, process)) ++removed;
  return removed;
}

int exchange_by_renames(const fs::path& a, const fs::path& b, const fs::path& aside) {
  if (const int error = rename_file(a, aside)) return error;
  if (const int error = rename_file(b, a)) {
    rename_file(aside, a);
    return error;
  }
  rename_file(aside, b);  // if that fails, the folder keeps the name `aside`
  return 0;
}

int exchange_folders(const fs::path& a, const fs::path& b, const fs::path& aside) {
  int error = exchange_names(a, b);
  if (error == EINVAL || error == ENOSYS || error == ENOTSUP || error == EOPNOTSUPP)
    error = exchange_by_renames(a, b, aside);
  if (error == 0) sync_folder(folder_of(a));  // the folders have their names, whatever it returns
  return error;
}

std::string write_error_text(int error) {
  if (error == ENOSPC) return "no space left on the device";
  if (error == EDQUOT) return "no space left: the disk quota is used up";
  rlimit limit{};
  if (error != EFBIG) return std::generic_category().message(error);
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return "the file is larger than this file system allows";
  return "no space left: the limit on the size of a file (ulimit -f) is " +
         std::to_string(limit.rlim_cur) + " bytes";
}

}  // namespace heed
