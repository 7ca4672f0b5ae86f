// file.cpp: reads files with POSIX system calls (InputFile, read_text).

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

[[noreturn]] static void throw_errno(const std::string& name, int error) {
  throw_error(name, ": ", std::generic_category().message(error));
}

static struct stat status_of(int descriptor, const std::string& name) {
  struct stat status;
  if (::fstat(descriptor, &status) != 0) throw_errno(name, errno);
  return status;
}

static bool is_null_device(const struct stat& status) {
  struct stat null;
  return S_ISCHR(status.st_mode) && ::stat("/dev/null", &null) == 0 &&
         null.st_rdev == status.st_rdev;
}

InputFile::InputFile(std::string name, int descriptor)
    : name_(std::move(name)), descriptor_(descriptor) {
  if (descriptor_ < 0) throw_errno(name_, errno);
}

// Without O_NONBLOCK, opening a pipe would wait for a writer. Arguments in braces are evaluated in
// order: open() is last, so that no other call changes its errno.
InputFile::InputFile(const std::filesystem::path& path)
    : InputFile{path.string(), ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)} {
}

InputFile InputFile::standard_input() {
  return InputFile{"standard input", ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)};
}

InputFile::~InputFile() { ::close(descriptor_); }

std::size_t InputFile::size() const {
  const struct stat file = status_of(descriptor_, name_);
  if (S_ISDIR(file.st_mode)) throw_errno(name_, EISDIR);
  if (!S_ISREG(file.st_mode)) throw_error(name_, ": not a regular file");
  return static_cast<std::size_t>(file.st_size);
}

void InputFile::read(std::size_t offset, void* data, std::size_t bytes) const {
  char* next = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t n = ::pread(descriptor_, next, bytes, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw_errno(name_, errno);
    if (n == 0) throw_error(name_, ": truncated while it was read");
    next += n;
    offset += static_cast<std::size_t>(n);
    bytes -= static_cast<std::size_t>(n);
  }
}

// Reads a file of known size into one string. Reads a file of unknown size in pieces and
// concatenates the pieces, because a growing string needs memory for an old and a new copy during
// each reallocation. The unused capacity of a string takes no physical memory.
std::string InputFile::read_to_end() const {
  constexpr std::size_t piece_size = std::size_t{1} << 24;
  char chunk[std::size_t{1} << 16];
  const struct stat file = status_of(descriptor_, name_);
  const bool size_known = S_ISREG(file.st_mode) && file.st_size > 0;
  std::list<std::string> pieces(1);
  pieces.back().reserve(size_known ? static_cast<std::size_t>(file.st_size) : piece_size);
  std::size_t size = 0;
  for (ssize_t n; (n = ::read(descriptor_, chunk, sizeof chunk)) != 0;) {
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw_errno(name_, errno);
    size += static_cast<std::size_t>(n);
    if (pieces.back().capacity() - pieces.back().size() < static_cast<std::size_t>(n))
      pieces.emplace_back().reserve(piece_size);
    pieces.back().append(chunk, static_cast<std::size_t>(n));
  }
  std::string text = std::move(pieces.front());
  if (pieces.size() > 1) text.reserve(size);
  for (pieces.pop_front(); !pieces.empty(); pieces.pop_front()) text += pieces.front();
  return text;
}

std::string read_text(const std::string& path) {
  if (path == "-") return InputFile::standard_input().read_to_end();
  const InputFile file(path);
  const struct stat status = status_of(file.descriptor_, path);
  if (S_ISDIR(status.st_mode)) throw_error(path, ": is a directory; give a text file");
  if (!S_ISREG(status.st_mode) && !is_null_device(status))
    throw_error(path, ": is not a regular file; give a text file, or - to read standard input");
  return file.read_to_end();
}

std::string start_of_file(const std::filesystem::path& path, std::size_t bytes) {
  const InputFile file(path);
  std::string start(std::min(file.size(), bytes), ' ');
  file.read(0, start.data(), start.size());
  return start;
}

bool has_byte_order_mark(std::string_view text) { return text.substr(0, 3) == "\xef\xbb\xbf"; }
bool has_crlf(std::string_view text) { return text.find("\r\n") != text.npos; }

}  // namespace heed
