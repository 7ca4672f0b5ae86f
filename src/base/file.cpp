// file.cpp: InputFile and read_text, with POSIX system calls.

#include "heed/base/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <list>
#include <system_error>
#include <utility>

#include "heed/base/error.hpp"

namespace heed {

InputFile::InputFile(std::string name, int descriptor)
    : name_(std::move(name)), descriptor_(descriptor) {
  if (descriptor_ < 0) throw_errno(errno);
}

// Without O_NONBLOCK, opening a pipe would wait for a writer. Braces evaluate open() last, so that
// errno stays valid.
InputFile::InputFile(const std::filesystem::path& path)
    : InputFile{path.string(), ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)} {
}

InputFile InputFile::standard_input() {
  return InputFile{"standard input", ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)};
}

InputFile::~InputFile() { ::close(descriptor_); }

void InputFile::throw_errno(int error) const {
  throw_error(name_, ": ", std::generic_category().message(error));
}

struct stat InputFile::status() const {
  struct stat result;
  if (::fstat(descriptor_, &result) != 0) throw_errno(errno);
  return result;
}

bool InputFile::is_directory() const { return S_ISDIR(status().st_mode); }

bool InputFile::is_regular_or_null() const {
  const struct stat file = status();
  struct stat null;
  return S_ISREG(file.st_mode) ||
         (S_ISCHR(file.st_mode) && ::stat("/dev/null", &null) == 0 && null.st_rdev == file.st_rdev);
}

std::size_t InputFile::size() const {
  const struct stat file = status();
  if (S_ISDIR(file.st_mode)) throw_errno(EISDIR);
  if (!S_ISREG(file.st_mode)) throw_error(name_, ": not a regular file");
  return static_cast<std::size_t>(file.st_size);
}

void InputFile::read(std::size_t offset, void* data, std::size_t bytes) const {
  char* next = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t n = ::pread(descriptor_, next, bytes, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw_errno(errno);
    if (n == 0) throw_error(name_, ": truncated while it was read");
    next += n;
    offset += static_cast<std::size_t>(n);
    bytes -= static_cast<std::size_t>(n);
  }
}

// Reads until the capacity of `piece` is used; returns false at the end of the file.
bool InputFile::fill(std::string& piece) const {
  char chunk[std::size_t{1} << 16];
  while (piece.size() < piece.capacity()) {
    const std::size_t room = std::min(sizeof chunk, piece.capacity() - piece.size());
    const ssize_t n = ::read(descriptor_, chunk, room);
    if (n == 0) return false;
    if (n > 0) piece.append(chunk, static_cast<std::size_t>(n));
    if (n < 0 && errno != EINTR) throw_errno(errno);
  }
  return true;
}

// Reads one piece if the size is known, with one more byte of capacity to detect the end of the
// file. Otherwise reads pieces and concatenates them, because a string that grows exists twice
// during each reallocation. Unused capacity takes no physical memory.
std::string InputFile::read_to_end() const {
  constexpr std::size_t piece_size = std::size_t{1} << 24;
  const struct stat file = status();
  const std::size_t expected = S_ISREG(file.st_mode) ? static_cast<std::size_t>(file.st_size) : 0;
  std::list<std::string> pieces(1);
  pieces.back().reserve(expected > 0 ? expected + 1 : piece_size);
  std::size_t size = 0;
  while (fill(pieces.back())) {
    size += pieces.back().size();
    pieces.emplace_back().reserve(piece_size);
  }
  size += pieces.back().size();
  std::string text = std::move(pieces.front());
  if (pieces.size() > 1) text.reserve(size);
  for (pieces.pop_front(); !pieces.empty(); pieces.pop_front()) text += pieces.front();
  return text;
}

std::string read_text(const std::string& path) {
  if (path == "-") return InputFile::standard_input().read_to_end();
  const InputFile file(path);
  if (file.is_directory()) throw_error(path, ": is a directory; give a text file");
  if (!file.is_regular_or_null())
    throw_error(path, ": is not a regular file; give a text file, or - to read standard input");
  return file.read_to_end();
}

bool has_byte_order_mark(std::string_view text) { return text.substr(0, 3) == "\xef\xbb\xbf"; }
bool has_crlf(std::string_view text) { return text.find("\r\n") != text.npos; }

}  // namespace heed
