// atomic_file.hpp: writing a file so that the old one is whole until the new one is.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace heed {

// A new content for `path`, written beside it (`.NAME.tmp-PROCESS`) and put in its place by
// commit(). Whoever opens `path`, at any moment and after any crash, finds the old content or the
// new one. Without commit() the old file stays and the temporary is removed.
//
// Every function throws Error `PATH: no space left on the device`, in the words of write_failure().
// A symbolic link is followed, also one to a file that is not there yet. The new file has the old
// one's permissions, and its owner where we may give it away. One AtomicFile a path at a time: the
// temporary is locked (flock) as long as it is in use.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& path);  // its folder must exist
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, std::size_t bytes);
  void commit();  // returns when the disk has the file under its name

 private:
  void open_temporary(unsigned mode);
  void close_written();
  [[noreturn]] void throw_errno(int error) const;
  void sync_folder() const;

  std::filesystem::path path_;    // as the caller wrote it, for messages
  std::filesystem::path target_;  // the file itself, when path_ is a link to it
  std::filesystem::path temporary_;
  int descriptor_ = -1;
};

// The same in one call.
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

// Removes the temporaries beside `path` that nobody writes any more, and returns how many. Whether
// somebody does is the kernel's word, by the lock on each: numbers of processes mean something else
// in another container. Throws nothing for a missing folder.
std::size_t remove_stale_temporaries(const std::filesystem::path& path);

// Why nothing more can be written, from errno: "no space left on the device", "no space left: the
// limit on the size of a file (ulimit -f) is 4096 bytes", or the system's words.
std::string write_failure(int error);

}  // namespace heed
