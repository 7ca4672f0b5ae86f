// atomic_file.hpp: AtomicFile, which replaces a file atomically (temporary file, fsync, rename).
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace heed {

// Writes new content for `path` to a temporary file in the same folder (`.NAME.tmp-PID`).
// commit() renames the temporary file to `path`. A reader of `path` sees either the complete old
// content or the complete new content, even after a crash. Without commit() the old file stays,
// and the destructor removes the temporary file. The constructor removes stale ones.
//
// Member functions that fail throw Error `PATH: reason`; write_error_text() explains system errors.
// `path` must name a regular file or no file: a symbolic link could lead out of a folder that
// someone else made. The new file gets the permissions of the old file, and also its owner if the
// process may change owners. The temporary file stays locked (flock) while it is in use, so a path
// can have only one AtomicFile at a time.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& path);  // the folder of `path` must exist
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  const std::filesystem::path& path() const { return path_; }  // the path given to the constructor
  void write(const void* data, std::size_t bytes);             // appends to the temporary file
  void commit();  // replaces `path`; returns after content and file name are stored on disk
  // Like commit(), but throws Error if `path` exists by now: nothing is replaced. On a file system
  // without hard links, such as FAT, it may still replace a file of the same moment.
  void commit_new();

 private:
  void open_temporary(unsigned mode);
  void commit(int (*move)(const std::filesystem::path&, const std::filesystem::path&));
  [[noreturn]] void throw_errno(int error) const;

  std::filesystem::path path_, temporary_;
  int descriptor_ = -1;
};

// Writes `content` to `path` with an AtomicFile.
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

// Removes the stale temporary files of `path` and returns their number. A temporary file is stale
// if no process holds its lock. (The process ID in the file name does not show whether the process
// still exists, because process IDs differ between containers.) A missing folder is not an error.
std::size_t remove_stale_temporaries(const std::filesystem::path& path);

// Exchanges the names of two folders with the same parent: at every moment, each name has one of
// them, also after a crash. Where the file system cannot do that (NFS), it is
// exchange_by_renames(). Returns 0, or an errno value if the names are as before.
int exchange_folders(const std::filesystem::path& a, const std::filesystem::path& b,
                     const std::filesystem::path& aside);

// Exchanges the names of two folders in three renames. In between, the folder `a` is called
// `aside`, and no folder is called `a`.
int exchange_by_renames(const std::filesystem::path& a, const std::filesystem::path& b,
                        const std::filesystem::path& aside);

// Whether `path` names the open file `descriptor`; false if `path` is a symbolic link to the file.
bool is_same_file(const std::filesystem::path& path, int descriptor);

// Explains an errno value of a failed write: "no space left on the device", "no space left: the
// limit on the size of a file (ulimit -f) is 4096 bytes", or the system's message.
std::string write_error_text(int error);

}  // namespace heed
