// file_test.cpp: a file is read whole, and what is no text is refused without waiting for it.

#include "heed/base/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "catch.hpp"
#include "heed/base/error.hpp"

namespace {

using namespace heed;
namespace fs = std::filesystem;

// A folder of its own for each test, removed at its end.
struct Folder {
  Folder() {
    std::string name = (fs::temp_directory_path() / "heed_file_test_XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  std::string operator/(const std::string& name) const { return (path / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(*this / name, std::ios::binary) << text;
    return *this / name;
  }
  fs::path path;
};

// Standard input comes from a file until the end of the scope.
struct Redirected {
  explicit Redirected(const std::string& path) : before(::dup(0)) {
    const int file = ::open(path.c_str(), O_RDONLY);
    REQUIRE(file >= 0);
    ::dup2(file, 0);
    ::close(file);
  }
  Redirected(const Redirected&) = delete;
  Redirected& operator=(const Redirected&) = delete;
  ~Redirected() {
    ::dup2(before, 0);
    ::close(before);
  }
  const int before;
};

}  // namespace

TEST_CASE("a file's bytes are there as they are", "[base][file]") {
  const Folder folder;
  const std::string bytes("caf\xc3\xa9\r\n\0\xff end", 14);
  CHECK(read_text(folder.write("in.txt", bytes)) == bytes);
}

TEST_CASE("an empty file and /dev/null are empty texts", "[base][file]") {
  const Folder folder;
  CHECK(read_text(folder.write("in.txt", "")).empty());
  CHECK(read_text("/dev/null").empty());
  fs::create_symlink("/dev/null", folder.path / "null.txt");
  CHECK(read_text(folder / "null.txt").empty());
}

TEST_CASE("a link to a file is that file", "[base][file]") {
  const Folder folder;
  folder.write("in.txt", "text");
  fs::create_symlink("in.txt", folder.path / "link.txt");
  CHECK(read_text(folder / "link.txt") == "text");
}

TEST_CASE("a text read stays as it was when its file changes", "[base][file]") {
  const Folder folder;
  const std::string path = folder.write("in.txt", "text");
  const std::string text = read_text(path);
  folder.write("in.txt", "else");
  CHECK(text == "text");
}

TEST_CASE("what is no file is refused with its name", "[base][file]") {
  const Folder folder;
  const std::string missing = folder / "in.txt", fifo = folder / "fifo", loop = folder / "loop";
  CHECK_THROWS_WITH(read_text(missing), missing + ": No such file or directory");
  CHECK_THROWS_WITH(read_text(folder.path.string()),
                    folder.path.string() + ": is a directory; give a text file");
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  const std::string irregular =
      ": is not a regular file; give a text file, or - to read standard input";
  CHECK_THROWS_WITH(read_text(fifo), fifo + irregular);  // at once: nobody writes to it
  CHECK_THROWS_WITH(read_text("/dev/zero"), "/dev/zero" + irregular);
  fs::create_symlink("loop", loop);
  CHECK_THROWS_AS(read_text(loop), Error);
  CHECK_THROWS_WITH(read_text(folder.write("a.txt", "") + "/b"),
                    folder / "a.txt/b: Not a directory");
}

TEST_CASE("a file that may not be read is refused with its name", "[base][file]") {
  if (::geteuid() == 0) return;  // root may read everything
  const Folder folder;
  const std::string path = folder.write("in.txt", "text");
  ::chmod(path.c_str(), 0);
  CHECK_THROWS_WITH(read_text(path), path + ": Permission denied");
}

TEST_CASE("a dash is all of standard input", "[base][file]") {
  const Folder folder;
  const std::string text(200000, 'x');
  const Redirected input(folder.write("in.txt", text));
  CHECK((read_text("-") == text));
  CHECK(read_text("-").empty());  // all has been read
}

TEST_CASE("what a pipe brings is whole, however much it is", "[base][file]") {
  std::string text;  // more than two of the pieces it is read in
  for (int line = 0; line < 40; ++line)
    text += std::to_string(line) + std::string(std::size_t{1} << 20, 'x');
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const std::string path = "/dev/fd/" + std::to_string(ends[0]);
  std::thread writer([&] {
    for (std::size_t at = 0; at < text.size();) {
      const ssize_t n = ::write(ends[1], text.data() + at, text.size() - at);
      at = n < 0 ? text.size() : at + static_cast<std::size_t>(n);
    }
    ::close(ends[1]);
  });
  {
    const Redirected input(path);
    ::close(ends[0]);
    CHECK((read_text("-") == text));
  }
  writer.join();
}

TEST_CASE("a file that does not know its size is read to its end", "[base][file]") {
  if (!fs::exists("/proc/self/status")) return;  // only Linux has it
  CHECK(fs::file_size("/proc/self/status") == 0);
  CHECK(read_text("/proc/self/status").find("VmRSS") != std::string::npos);
}

TEST_CASE("standard input that cannot be read is refused", "[base][file]") {
  const Folder folder;
  const Redirected input(folder.path.string());
  CHECK_THROWS_WITH(read_text("-"), "standard input: Is a directory");
}

TEST_CASE("a byte order mark is seen at the beginning only", "[base][file]") {
  CHECK(has_byte_order_mark("\xef\xbb\xbfhello"));
  CHECK(has_byte_order_mark("\xef\xbb\xbf"));
  CHECK_FALSE(has_byte_order_mark("\xef\xbb"));
  CHECK_FALSE(has_byte_order_mark("a\xef\xbb\xbf"));
  CHECK_FALSE(has_byte_order_mark(""));
}

TEST_CASE("CRLF is seen anywhere", "[base][file]") {
  CHECK(has_crlf("a\r\nb"));
  CHECK(has_crlf("\r\n"));
  CHECK_FALSE(has_crlf("a\rb\nc\n\r"));
  CHECK_FALSE(has_crlf(""));
}
