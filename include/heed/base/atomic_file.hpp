// atomic_file.hpp: AtomicFile replaces a file atomically: temporary file, fsync, rename.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace heed {

// Writes new content for `path` to a temporary file in the same folder (`.NAME.tmp-PID`).
// commit() renames the temporary file to `path`. A reader of `path` sees either the complete old
// content or the complete new content, even after a crash. Without commit() the old file stays,
// and the destructor removes the temporary file.
//
// Every function throws Error `PATH: reason`, with the reason from write_error_text().
// If `path` is a symbolic link, its target is replaced or created. The new file gets the
// permissions of the old one, and its owner if the process may change owners. The temporary file
// stays locked (flock) while it is in use, so a path can have only one AtomicFile at a time.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& path);  // the folder must exist
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, std::size_t bytes);
  void commit();  // returns after the content and the name have reached the disk

 private:
  void open_temporary(unsigned mode);
  void check_close() const;
  [[noreturn]] void throw_errno(int error) const;
  void sync_folder() const;

  std::filesystem::path path_;    // as the caller gave it, for error messages
  std::filesystem::path target_;  // path_ with symbolic links resolved
  std::filesystem::path temporary_;
  int descriptor_ = -1;
};

// Writes `content` to `path` with an AtomicFile.
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

// Removes the temporary files of `path` that no process is writing, and returns their number. The
// lock on the file decides, because process numbers differ between containers. A missing folder
// is not an error.
std::size_t remove_stale_temporaries(const std::filesystem::path& path);

// Explains an errno value of a failed write: "no space left on the device", "no space left: the
// limit on the size of a file (ulimit -f) is 4096 bytes", or the system's message.
std::string write_error_text(int error);

}  // namespace heed
