// atomic_file.cpp: temporary file, fsync, rename, fsync of the folder; every step checked.

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

// rename() would replace a link by a file, and leave what it points to as it was. A link may also
// point to what is not there yet. `error` is ELOOP when links go round.
fs::path without_links(const fs::path& path, int& error) {
  fs::path target = path;
  for (int links = 0; links < 40; ++links) {
    std::error_code none;
    const fs::path next = fs::read_symlink(target, none);
    if (none) return target;
    target = target.parent_path() / next;  // `next` alone when it begins at the root
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

// The process in ".NAME.tmp-PROCESS", or 0 when the file name has another form.
int process_of(const std::string& filename, const std::string& prefix) {
  if (filename.compare(0, prefix.size(), prefix) != 0) return 0;
  int process = 0;
  const char* const end = filename.data() + filename.size();
  const auto [stop, error] = std::from_chars(filename.data() + prefix.size(), end, process);
  return error == std::errc() && stop == end && process > 0 ? process : 0;
}

bool is_named(const fs::path& path, int descriptor) {
  struct stat opened, named;
  return ::fstat(descriptor, &opened) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

// False when another process has the lock. Some file systems know no locks: there, the number of
// the process that made the file must do.
bool locks(int descriptor, int process) {
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) return true;
  if (errno == EWOULDBLOCK || errno == EINTR) return false;
  return process == ::getpid() || (::kill(process, 0) != 0 && errno == ESRCH);
}

// Does nothing when somebody writes it.
bool remove_if_stale(const fs::path& temporary, int process) {
  constexpr int flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  int descriptor = ::open(temporary.c_str(), O_RDWR | flags);  // network file systems want both
  if (descriptor < 0) descriptor = ::open(temporary.c_str(), O_RDONLY | flags);
  if (descriptor < 0) return false;
  const bool removed = locks(descriptor, process) && is_named(temporary, descriptor) &&
                       ::unlink(temporary.c_str()) == 0;
  ::close(descriptor);
  return removed;
}

// As the old file was, so that nobody may read the new one who could not read that. A file system
// that knows no permissions or owners refuses, which harms nobody.
void take_permissions(int descriptor, const struct stat& old) {
  struct stat fresh;
  if (::fstat(descriptor, &fresh) != 0) return;
  const bool same_owner = fresh.st_uid == old.st_uid && fresh.st_gid == old.st_gid;
  if (!same_owner && ::fchown(descriptor, old.st_uid, old.st_gid) != 0) errno = 0;
  if (::fchmod(descriptor, old.st_mode & 0777) != 0) errno = 0;
}

}  // namespace

AtomicFile::AtomicFile(const fs::path& path) : path_(path) {
  int error = 0;
  target_ = without_links(path, error);
  if (error != 0) throw_errno(error);
  struct stat old;
  const bool exists = ::stat(target_.c_str(), &old) == 0;
  if (!target_.has_filename() || (exists && S_ISDIR(old.st_mode))) throw_errno(EISDIR);
  if (exists && !S_ISREG(old.st_mode))
    throw_error(path_.string(), ": not a regular file, so it cannot be replaced");
  open_temporary(exists ? 0600 : 0666);
  if (exists) take_permissions(descriptor_, old);
}

// Until it has its lock, a new temporary looks stale to others and can be removed: hence the second
// look, and another try a little later, half a second in all.
void AtomicFile::open_temporary(unsigned mode) {
  const int process = ::getpid();
  const fs::path path = folder_of(target_) / (temporary_prefix(target_) + std::to_string(process));
  for (int tries = 0; tries < 500; ++tries) {
    descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    if (descriptor_ >= 0 && locks(descriptor_, process) && is_named(path, descriptor_)) {
      temporary_ = path;
      return;
    }
    if (descriptor_ >= 0)
      ::close(descriptor_);
    else if (errno != EEXIST)
      throw_errno(errno);
    else  // a dead process had our number: containers hand out the same ones at every start
      remove_if_stale(path, process);
    descriptor_ = -1;
    ::usleep(1000);
  }
  throw_error(path_.string(), ": somebody else is writing it, as ", path.filename().string());
}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());  // first: it is ours while it is locked
  if (descriptor_ >= 0) ::close(descriptor_);
}

void AtomicFile::write(const void* data, std::size_t bytes) {
  const char* next = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(descriptor_, next, bytes);  // may be fewer: a full disk, 2 GB
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw_errno(errno);
    if (written == 0) throw_errno(ENOSPC);
    next += written;
    bytes -= static_cast<std::size_t>(written);
  }
}

// What was written reaches the disk before the name does: without that, a power cut after the
// rename can leave the new name on a file of zeros.
void AtomicFile::commit() {
  int synced = 0;
  while ((synced = ::fsync(descriptor_)) != 0 && errno == EINTR) continue;
  if (synced != 0) throw_errno(errno);
  close_written();
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) throw_errno(errno);
  temporary_.clear();
  ::close(descriptor_);
  descriptor_ = -1;
  sync_folder();
}

// Some file systems say only on closing that they could not write. A copy of the descriptor is
// closed, which keeps the lock until the file has its name.
void AtomicFile::close_written() {
  const int copy = ::fcntl(descriptor_, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) throw_errno(errno);
  if (::close(copy) != 0 && errno != EINTR) throw_errno(errno);
}

// The rename is an entry in the folder, and reaches the disk with it.
void AtomicFile::sync_folder() const {
  const int descriptor = ::open(folder_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;  // a folder that may not be read: the file is whole all the same
  int synced = 0;
  while ((synced = ::fsync(descriptor)) != 0 && errno == EINTR) continue;
  const int error = synced == 0 ? 0 : errno;
  ::close(descriptor);
  if (error != 0 && error != EINVAL) throw_errno(error);  // EINVAL: this file system has no such
}

void AtomicFile::throw_errno(int error) const {
  throw_error(path_.string(), ": ", write_failure(error));
}

void write_file_atomically(const fs::path& path, std::string_view content) {
  AtomicFile file(path);
  file.write(content.data(), content.size());
  file.commit();
}

std::size_t remove_stale_temporaries(const fs::path& path) {
  int error = 0;
  const fs::path target = without_links(path, error);
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

std::string write_failure(int error) {
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
