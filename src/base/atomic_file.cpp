// atomic_file.cpp: AtomicFile (temporary file, fsync, rename, fsync of the folder).

#include "heed/base/atomic_file.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <string>
#include <system_error>

#include "heed/base/error.hpp"

namespace heed {
namespace {

namespace fs = std::filesystem;

// Resolves symbolic links, because rename() would replace the link and not its target. The target
// need not exist. Sets `error` to ELOOP if the links form a loop.
fs::path resolve_links(const fs::path& path, int& error) {
  fs::path target = path;
  for (int links = 0; links < 40; ++links) {
    std::error_code not_a_link;
    const fs::path next = fs::read_symlink(target, not_a_link);
    if (not_a_link) return target;
    target = target.parent_path() / next;  // operator/ returns `next` if it is absolute
  }
  error = ELOOP;
  return path;
}

std::string temporary_prefix(const fs::path& target) {
  return "." + target.filename().string() + ".tmp-";
}

fs::path folder_of(const fs::path& target) {
  return target.has_parent_path() ? target.parent_path() : fs::path(".");
}

// The process number in ".NAME.tmp-PID", or 0 if the file name has another form.
int process_of(const std::string& filename, const std::string& prefix) {
  if (filename.compare(0, prefix.size(), prefix) != 0) return 0;
  int process = 0;
  const char* const end = filename.data() + filename.size();
  const auto [stop, error] = std::from_chars(filename.data() + prefix.size(), end, process);
  return error == std::errc() && stop == end && process > 0 ? process : 0;
}

// Whether `path` still names the open file.
bool is_same_file(const fs::path& path, int descriptor) {
  struct stat opened, named;
  return ::fstat(descriptor, &opened) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

// Returns false if another process has the lock. Some file systems do not support locks; there the
// function checks whether the process that created the file still runs.
bool try_lock(int descriptor, int process) {
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return true;
  if (errno == EWOULDBLOCK || errno == EINTR) return false;
  return process == ::getpid() || (::kill(process, 0) != 0 && errno == ESRCH);
}

// Removes the file and returns true, unless a process is writing it.
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

// Copies owner and permissions of the old file, so that no additional user can read the new one.
// Failures are ignored, because some file systems support neither.
void copy_permissions(int descriptor, const struct stat& old) {
  struct stat current;
  if (::fstat(descriptor, &current) != 0) return;
  const bool same_owner = current.st_uid == old.st_uid && current.st_gid == old.st_gid;
  if (!same_owner && ::fchown(descriptor, old.st_uid, old.st_gid) != 0) errno = 0;
  if (::fchmod(descriptor, old.st_mode & 0777) != 0) errno = 0;
}

}  // namespace

AtomicFile::AtomicFile(const fs::path& path) : path_(path) {
  int error = 0;
  target_ = resolve_links(path, error);
  if (error != 0) throw_errno(error);
  struct stat old;
  const bool exists = ::stat(target_.c_str(), &old) == 0;
  if (!target_.has_filename() || (exists && S_ISDIR(old.st_mode))) throw_errno(EISDIR);
  if (exists && !S_ISREG(old.st_mode))
    throw_error(path_.string(), ": not a regular file, so it cannot be replaced");
  open_temporary(exists ? 0600 : 0666);
  if (exists) copy_permissions(descriptor_, old);
}

// Another process can remove the temporary file between open() and flock(), because it looks stale
// without a lock. So the name is checked after locking, and creation is retried for half a second.
void AtomicFile::open_temporary(unsigned mode) {
  const int process = ::getpid();
  const fs::path path = folder_of(target_) / (temporary_prefix(target_) + std::to_string(process));
  for (int tries = 0; tries < 500; ++tries) {
    descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    if (descriptor_ >= 0 && try_lock(descriptor_, process) && is_same_file(path, descriptor_)) {
      temporary_ = path;
      return;
    }
    if (descriptor_ >= 0)
      ::close(descriptor_);
    else if (errno != EEXIST)
      throw_errno(errno);
    else  // left by an earlier process with the same number, which is common in containers
      remove_if_stale(path, process);
    descriptor_ = -1;
    ::usleep(1000);
  }
  throw_error(path_.string(), ": is already being written, as ", path.filename().string());
}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());  // while the lock protects the name
  if (descriptor_ >= 0) ::close(descriptor_);
}

void AtomicFile::write(const void* data, std::size_t bytes) {
  const char* next = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(descriptor_, next, bytes);  // can write fewer bytes
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw_errno(errno);
    if (written == 0) throw_errno(ENOSPC);
    next += written;
    bytes -= static_cast<std::size_t>(written);
  }
}

// fsync() comes before rename(): otherwise a power failure after the rename could leave a file of
// zeros under the new name.
void AtomicFile::commit() {
  int synced = 0;
  while ((synced = ::fsync(descriptor_)) != 0 && errno == EINTR) continue;
  if (synced != 0) throw_errno(errno);
  check_close();
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) throw_errno(errno);
  temporary_.clear();
  ::close(descriptor_);
  descriptor_ = -1;
  sync_folder();
}

// Some file systems report a write error only in close(). Closing a duplicate of the descriptor
// keeps the lock until after the rename.
void AtomicFile::check_close() const {
  const int copy = ::fcntl(descriptor_, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) throw_errno(errno);
  if (::close(copy) != 0 && errno != EINTR) throw_errno(errno);
}

// A rename reaches the disk only when its folder does.
void AtomicFile::sync_folder() const {
  const int descriptor = ::open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0)
    return;  // without read permission for the folder; the file itself is complete
  int synced = 0;
  while ((synced = ::fsync(descriptor)) != 0 && errno == EINTR) continue;
  const int error = synced == 0 ? 0 : errno;
  ::close(descriptor);
  if (error != 0 && error != EINVAL) throw_errno(error);  // EINVAL: not supported here
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
  int error = 0;
  const fs::path target = resolve_links(path, error);
  const std::string prefix = temporary_prefix(target);
  std::size_t removed = 0;
  std::error_code failed;
  for (fs::directory_iterator entry(folder_of(target), failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const int process = process_of(entry->path().filename().string(), prefix);
    if (process != 0 && remove_if_stale(entry->path(), process)) ++removed;
  }
  return removed;
}

std::string write_error_text(int error) {
  if (error == ENOSPC) return "no space left on the device";
  if (error == EDQUOT) return "no space left: the disk quota is used up";
  rlimit limit{};
  if (error != EFBIG) return std::generic_category().message(error);
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return "no space left: the file is too large for this file system";
  return "no space left: the limit on the size of a file (ulimit -f) is " +
         std::to_string(limit.rlim_cur) + " bytes";
}

}  // namespace heed
