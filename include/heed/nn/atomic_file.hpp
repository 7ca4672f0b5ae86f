// atomic_file.hpp: writing a file so that the old one is whole until the new one is.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>

namespace heed {

// A new content for `path`, written beside it (`.NAME.tmp-PID`) and put in its place by commit().
// Whoever opens `path`, at any moment and after any crash, finds the old content or the new one.
// Without commit() the old file stays and the temporary is removed.
//
// Every function throws Error `PATH: No space left on device`, in the system's words. A symbolic
// link is followed. One AtomicFile a path and process at a time.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& path);  // its folder must exist
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, std::size_t bytes);
  void commit();  // returns when the disk has the file under its name

 private:
  void refuse_errno(int error) const;
  void sync_folder() const;

  std::filesystem::path path_;    // as the caller wrote it, for messages
  std::filesystem::path target_;  // the file itself, when path_ is a link to it
  std::filesystem::path temporary_;
  int descriptor_ = -1;
};

// The same in one call.
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

// Removes the temporaries that processes now dead left beside `path`, and returns how many.
// Those of running processes stay, this one's included. Throws nothing for a missing folder.
std::size_t remove_stale_temporaries(const std::filesystem::path& path);

}  // namespace heed
