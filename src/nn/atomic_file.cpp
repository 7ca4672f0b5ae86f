// atomic_file.cpp: temporary file, fsync, rename, fsync of the folder; every step checked.

#include "heed/nn/atomic_file.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <string>
#include <system_error>

#include "heed/array/error.hpp"

namespace heed {
namespace {

namespace fs = std::filesystem;

// rename() would replace a link by a file, and leave what it points to as it was.
fs::path without_links(const fs::path& path) {
  std::error_code failed;
  const fs::path target = fs::canonical(path, failed);  // fails when there is no file yet
  return failed ? path : target;
}

std::string temporary_prefix(const fs::path& target) {
  return "." + target.filename().string() + ".tmp-";
}

int open_new(const fs::path& path) {
  const int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
  const int descriptor = ::open(path.c_str(), flags, 0666);
  if (descriptor >= 0 || errno != EEXIST) return descriptor;
  // A dead process had our number: containers hand out the same ones at every start.
  ::unlink(path.c_str());
  return ::open(path.c_str(), flags, 0666);
}

// The process in ".NAME.tmp-PID", or 0 when the file name has another form.
int process_of(const std::string& filename, const std::string& prefix) {
  if (filename.compare(0, prefix.size(), prefix) != 0) return 0;
  int process = 0;
  const char* const end = filename.data() + filename.size();
  const auto [stop, error] = std::from_chars(filename.data() + prefix.size(), end, process);
  return error == std::errc() && stop == end && process > 0 ? process : 0;
}

bool is_dead(int process) { return ::kill(process, 0) != 0 && errno == ESRCH; }

}  // namespace

AtomicFile::AtomicFile(const fs::path& path) : path_(path), target_(without_links(path)) {
  std::error_code failed;
  const fs::file_status status = fs::status(target_, failed);
  if (fs::is_directory(status) || !target_.has_filename()) refuse_errno(EISDIR);
  if (fs::exists(status) && !fs::is_regular_file(status))
    refuse(path_.string(), ": not a regular file, so it cannot be replaced");
  temporary_ = target_.parent_path() / (temporary_prefix(target_) + std::to_string(::getpid()));
  descriptor_ = open_new(temporary_);
  if (descriptor_ < 0) refuse_errno(errno);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::write(const void* data, std::size_t bytes) {
  const char* next = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(descriptor_, next, bytes);  // may be fewer: a full disk, 2 GB
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) refuse_errno(errno);
    next += written;
    bytes -= static_cast<std::size_t>(written);
  }
}

void AtomicFile::commit() {
  // Without this, a power cut after the rename can leave the new name on a file of zeros.
  if (::fsync(descriptor_) != 0) refuse_errno(errno);
  const int closed = ::close(descriptor_);
  descriptor_ = -1;
  if (closed != 0 && errno != EINTR) refuse_errno(errno);
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) refuse_errno(errno);
  temporary_.clear();
  sync_folder();
}

// The rename is an entry in the folder, and reaches the disk with it.
void AtomicFile::sync_folder() const {
  const fs::path folder = target_.has_parent_path() ? target_.parent_path() : fs::path(".");
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;  // a folder that may not be read: the file is whole all the same
  const int error = ::fsync(descriptor) == 0 ? 0 : errno;
  ::close(descriptor);
  if (error != 0 && error != EINVAL) refuse_errno(error);  // EINVAL: this file system has no such
}

void AtomicFile::refuse_errno(int error) const {
  refuse(path_.string(), ": ", std::generic_category().message(error));
}

void write_file_atomically(const fs::path& path, std::string_view content) {
  AtomicFile file(path);
  file.write(content.data(), content.size());
  file.commit();
}

std::size_t remove_stale_temporaries(const fs::path& path) {
  const fs::path target = without_links(path);
  const std::string prefix = temporary_prefix(target);
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  std::size_t removed = 0;
  std::error_code failed;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    const int process = process_of(entry->path().filename().string(), prefix);
    if (process != 0 && is_dead(process) && ::unlink(entry->path().c_str()) == 0) ++removed;
  }
  return removed;
}

}  // namespace heed
