// file.hpp: a text file's bytes without a copy of them, and what to warn of before training.
#pragma once

#include <string>
#include <string_view>

namespace heed {

// A file mapped into memory for reading: a text of 1 GB costs no 1 GB copy. Do not shorten the
// file while it is open here.
class TextFile {
 public:
  // `path` is a regular file (an empty one is allowed), /dev/null, or "-": all of standard input.
  // Throws Error, one line: "in.txt: No such file or directory",
  // "in.txt: is a directory; give a text file", "in.txt: is not a regular file; ...".
  static TextFile open(const std::string& path);

  TextFile(TextFile&& other) noexcept;
  TextFile& operator=(TextFile&& other) noexcept;
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;
  ~TextFile();

  std::string_view text() const { return mapped_.data() != nullptr ? mapped_ : read_; }

 private:
  TextFile() = default;

  std::string_view mapped_;  // what the system mapped, or nothing
  std::string read_;         // what could not be mapped
};

bool has_byte_order_mark(std::string_view text);  // begins with U+FEFF in UTF-8
bool has_crlf(std::string_view text);             // has a line that ends in "\r\n"

}  // namespace heed
