// file.hpp: InputFile and read_text for reading files.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace heed {

// A file opened for reading. Member functions that fail throw Error `PATH: reason`.
class InputFile {
 public:
  explicit InputFile(const std::filesystem::path& path);  // opening a pipe does not block
  static InputFile standard_input();                      // duplicates descriptor 0
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  // The size of a regular file in bytes. Throws Error for every other kind of file.
  std::size_t size() const;

  // Reads `bytes` bytes from `offset` into `data`. Throws Error if the file is too short.
  void read(std::size_t offset, void* data, std::size_t bytes) const;

  // Reads everything up to the end of the file; works for pipes and for files of unknown size.
  std::string read_to_end() const;

 private:
  friend std::string read_text(const std::string& path);
  InputFile(std::string name, int descriptor);

  std::string name_;  // the name in error messages
  int descriptor_;
};

// Returns a copy of all bytes of a file; later changes to the file do not affect it. `path` names a
// regular file (which may be empty), /dev/null, or "-" for standard input. Throws Error with a
// one-line message, such as "in.txt: is a directory; give a text file".
std::string read_text(const std::string& path);

// Returns the first `bytes` bytes of a regular file, or all if it has fewer. Throws Error for a
// file that cannot be read.
std::string start_of_file(const std::filesystem::path& path, std::size_t bytes);

bool has_byte_order_mark(std::string_view text);  // whether the text starts with U+FEFF
bool has_crlf(std::string_view text);             // whether the text contains "\r\n"

}  // namespace heed
