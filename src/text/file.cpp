// file.cpp: mapping a file, or reading what cannot be mapped (POSIX).

#include "heed/text/file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <system_error>
#include <utility>

#include "heed/array/error.hpp"

namespace heed {
namespace {

[[noreturn]] void refuse_as_system(const std::string& name, int error) {
  refuse(name, ": ", std::generic_category().message(error));
}

// An open file, closed at the end of its scope. O_NONBLOCK: a fifo must be refused, not waited for.
struct Descriptor {
  explicit Descriptor(const std::string& path)
      : number(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) {
    if (number < 0) refuse_as_system(path, errno);
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

// The file's size; throws Error for what is no text.
std::size_t checked_size(const std::string& path, int descriptor) {
  struct stat file;
  if (::fstat(descriptor, &file) != 0) refuse_as_system(path, errno);
  if (S_ISDIR(file.st_mode)) refuse(path, ": is a directory; give a text file");
  if (!S_ISREG(file.st_mode) && !is_null_device(file))
    refuse(path, ": is not a regular file; give a text file, or - to read standard input");
  return static_cast<std::size_t>(file.st_size);
}

std::string read_all(const std::string& name, int descriptor) {
  std::string text;
  std::string chunk(std::size_t{1} << 16, '\0');
  for (;;) {
    const ssize_t n = ::read(descriptor, chunk.data(), chunk.size());
    if (n == 0) return text;
    if (n > 0) text.append(chunk, 0, static_cast<std::size_t>(n));
    if (n < 0 && errno != EINTR) refuse_as_system(name, errno);
  }
}

}  // namespace

TextFile TextFile::open(const std::string& path) {
  TextFile file;
  if (path == "-") {
    file.read_ = read_all("standard input", STDIN_FILENO);
    return file;
  }
  const Descriptor descriptor(path);
  const std::size_t size = checked_size(path, descriptor.number);
  void* const address =
      size == 0 ? MAP_FAILED : ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor.number, 0);
  if (address == MAP_FAILED)  // an empty file, or one that its file system cannot map
    file.read_ = read_all(path, descriptor.number);
  else
    file.mapped_ = {static_cast<const char*>(address), size};
  return file;
}

TextFile::TextFile(TextFile&& other) noexcept
    : mapped_(std::exchange(other.mapped_, {})), read_(std::move(other.read_)) {}

TextFile& TextFile::operator=(TextFile&& other) noexcept {
  std::swap(mapped_, other.mapped_);
  std::swap(read_, other.read_);
  return *this;
}

TextFile::~TextFile() {
  if (mapped_.data() != nullptr) ::munmap(const_cast<char*>(mapped_.data()), mapped_.size());
}

bool has_byte_order_mark(std::string_view text) { return text.substr(0, 3) == "\xef\xbb\xbf"; }
bool has_crlf(std::string_view text) { return text.find("\r\n") != text.npos; }

}  // namespace heed
