// file.cpp: reading a whole file without holding any of it twice (POSIX).

#include "heed/base/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <list>
#include <system_error>
#include <utility>

#include "heed/base/error.hpp"

namespace heed {
namespace {

[[noreturn]] void throw_system_error(const std::string& name, int error) {
  throw_error(name, ": ", std::generic_category().message(error));
}

// An open file, closed at the end of its scope. O_NONBLOCK: a fifo must be refused, not waited for.
struct Descriptor {
  explicit Descriptor(const std::string& path)
      : number(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) {
    if (number < 0) throw_system_error(path, errno);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { ::close(number); }
  const int number;
};

bool is_null_device(const struct stat& file) {
  struct stat null;
  return S_ISCHR(file.st_mode) && ::stat("/dev/null", &null) == 0 && null.st_rdev == file.st_rdev;
}

// Throws Error for what is no text.
void check_kind(const std::string& path, int descriptor) {
  struct stat file;
  if (::fstat(descriptor, &file) != 0) throw_system_error(path, errno);
  if (S_ISDIR(file.st_mode)) throw_error(path, ": is a directory; give a text file");
  if (!S_ISREG(file.st_mode) && !is_null_device(file))
    throw_error(path, ": is not a regular file; give a text file, or - to read standard input");
}

// How much there is to read; 0 for a pipe and others that do not know.
std::size_t expected_size(int descriptor) {
  struct stat file;
  const bool known = ::fstat(descriptor, &file) == 0 && S_ISREG(file.st_mode);
  return known ? static_cast<std::size_t>(file.st_size) : 0;
}

// Reads on until the piece is full; false at the end of the file.
bool fill(std::string& piece, const std::string& name, int descriptor) {
  char chunk[std::size_t{1} << 16];
  while (piece.size() < piece.capacity()) {
    const std::size_t room = std::min(sizeof chunk, piece.capacity() - piece.size());
    const ssize_t n = ::read(descriptor, chunk, room);
    if (n == 0) return false;
    if (n > 0) piece.append(chunk, static_cast<std::size_t>(n));
    if (n < 0 && errno != EINTR) throw_system_error(name, errno);
  }
  return true;
}

// One piece when the size is known, with room for a byte more, so that it sees the end. Else pieces
// that are joined: a string that grows holds everything twice whenever it moves. Room that is not
// used costs no memory.
std::string read_all(const std::string& name, int descriptor) {
  constexpr std::size_t piece = std::size_t{1} << 24;
  std::list<std::string> pieces(1);
  const std::size_t expected = expected_size(descriptor);
  pieces.back().reserve(expected > 0 ? expected + 1 : piece);
  std::size_t size = 0;
  while (fill(pieces.back(), name, descriptor)) {
    size += pieces.back().size();
    pieces.emplace_back().reserve(piece);
  }
  size += pieces.back().size();
  std::string text = std::move(pieces.front());
  if (pieces.size() > 1) text.reserve(size);
  for (pieces.pop_front(); !pieces.empty(); pieces.pop_front()) text += pieces.front();
  return text;
}

}  // namespace

std::string read_text(const std::string& path) {
  if (path == "-") return read_all("standard input", STDIN_FILENO);
  const Descriptor descriptor(path);
  check_kind(path, descriptor.number);
  return read_all(path, descriptor.number);
}

bool has_byte_order_mark(std::string_view text) { return text.substr(0, 3) == "\xef\xbb\xbf"; }
bool has_crlf(std::string_view text) { return text.find("\r\n") != text.npos; }

}  // namespace heed
