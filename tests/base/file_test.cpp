// file_test.cpp: read_text and InputFile return complete files and reject other kinds of files.

#include "heed/base/file.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
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

// A temporary folder, removed at the end of the scope.
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

// Redirects standard input to a file until the end of the scope.
struct Redirected {
  explicit Redirected(const std::string& path) : Redirected(::open(path.c_str(), O_RDONLY)) {}
  explicit Redirected(int file) : saved(::dup(0)) {  // takes ownership of the descriptor
    REQUIRE(file >= 0);
    ::dup2(file, 0);
    ::close(file);
  }
  Redirected(const Redirected&) = delete;
  Redirected& operator=(const Redirected&) = delete;
  ~Redirected() {
    ::dup2(saved, 0);
    ::close(saved);
  }
  const int saved;
};

}  // namespace

TEST_CASE("read_text returns the bytes of a file unchanged", "[base][file]") {
  const Folder folder;
  const std::string bytes("caf\xc3\xa9\r\n\0\xff end", 14);
  CHECK(read_text(folder.write("in.txt", bytes)) == bytes);
}

TEST_CASE("start_of_file returns at most the bytes of the file", "[base][file]") {
  const Folder folder;
  std::ofstream(folder.path / "a") << "abc";
  CHECK(start_of_file(folder.path / "a", 0) == "");
  CHECK(start_of_file(folder.path / "a", 2) == "ab");
  CHECK(start_of_file(folder.path / "a", 3) == "abc");
  CHECK(start_of_file(folder.path / "a", 4) == "abc");
  CHECK_THROWS_WITH(start_of_file(folder.path / "b", 1),
                    (folder.path / "b").string() + ": No such file or directory");
}

TEST_CASE("an empty file and /dev/null are empty texts", "[base][file]") {
  const Folder folder;
  CHECK(read_text(folder.write("in.txt", "")).empty());
  CHECK(read_text("/dev/null").empty());
  fs::create_symlink("/dev/null", folder.path / "null.txt");
  CHECK(read_text(folder / "null.txt").empty());
}

TEST_CASE("read_text follows a link to a file", "[base][file]") {
  const Folder folder;
  folder.write("in.txt", "text");
  fs::create_symlink("in.txt", folder.path / "link.txt");
  CHECK(read_text(folder / "link.txt") == "text");
}

TEST_CASE("a text that was read does not change with its file", "[base][file]") {
  const Folder folder;
  const std::string path = folder.write("in.txt", "text");
  const std::string text = read_text(path);
  folder.write("in.txt", "else");
  CHECK(text == "text");
}

TEST_CASE("a path that is not a readable file throws an error with its name", "[base][file]") {
  const Folder folder;
  const std::string missing = folder / "in.txt", fifo = folder / "fifo", loop = folder / "loop";
  CHECK_THROWS_WITH(read_text(missing), missing + ": No such file or directory");
  CHECK_THROWS_WITH(read_text(folder.path.string()),
                    folder.path.string() + ": is a directory; give a text file");
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  const std::string irregular =
      ": is not a regular file; give a text file, or - to read standard input";
  CHECK_THROWS_WITH(read_text(fifo), fifo + irregular);  // without waiting for a writer
  CHECK_THROWS_WITH(read_text("/dev/zero"), "/dev/zero" + irregular);
  fs::create_symlink("loop", loop);
  CHECK_THROWS_AS(read_text(loop), Error);
  CHECK_THROWS_WITH(read_text(folder.write("a.txt", "") + "/b"),
                    folder / "a.txt/b: Not a directory");
}

TEST_CASE("a file without read permission throws an error with its name", "[base][file]") {
  if (::geteuid() == 0) return;  // root may read everything
  const Folder folder;
  const std::string path = folder.write("in.txt", "text");
  ::chmod(path.c_str(), 0);
  CHECK_THROWS_WITH(read_text(path), path + ": Permission denied");
}

TEST_CASE("the path - reads all of standard input", "[base][file]") {
  const Folder folder;
  const std::string text(200000, 'x');
  const Redirected input(folder.write("in.txt", text));
  CHECK((read_text("-") == text));
  CHECK(read_text("-").empty());  // standard input is at its end
}

TEST_CASE("a pipe is read completely, also in several pieces", "[base][file]") {
  std::string text;  // longer than two pieces of read_to_end
  for (int line = 0; line < 40; ++line)
    text += std::to_string(line) + std::string(std::size_t{1} << 20, 'x');
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const std::string path = "/dev/fd/" + std::to_string(ends[0]);
  std::thread writer([&] {
    for (std::size_t offset = 0; offset < text.size();) {
      const ssize_t n = ::write(ends[1], text.data() + offset, text.size() - offset);
      offset = n < 0 ? text.size() : offset + static_cast<std::size_t>(n);
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

TEST_CASE("a file that reports size 0 is read to its end", "[base][file]") {
  if (!fs::exists("/proc/self/status")) return;  // exists on Linux only
  CHECK(fs::file_size("/proc/self/status") == 0);
  CHECK(read_text("/proc/self/status").find("VmRSS") != std::string::npos);
}

TEST_CASE("standard input that cannot be read throws", "[base][file]") {
  const Folder folder;
  const Redirected input(folder.path.string());
  CHECK_THROWS_WITH(read_text("-"), "standard input: Is a directory");
}

TEST_CASE("an InputFile reads any range of a regular file", "[base][file]") {
  const Folder folder;
  const std::string path = folder.write("in.txt", "0123456789");
  const InputFile file(path);
  char bytes[4];
  file.read(3, bytes, 4);
  CHECK(std::string(bytes, 4) == "3456");
  CHECK(file.size() == 10);
  CHECK_THROWS_WITH(file.read(8, bytes, 4), path + ": truncated while it was read");
  CHECK_THROWS_WITH(InputFile("/dev/null").size(), "/dev/null: not a regular file");
}

TEST_CASE("a byte order mark counts only at the start of a text", "[base][file]") {
  CHECK(has_byte_order_mark("\xef\xbb\xbfhello"));
  CHECK(has_byte_order_mark("\xef\xbb\xbf"));
  CHECK_FALSE(has_byte_order_mark("\xef\xbb"));
  CHECK_FALSE(has_byte_order_mark("a\xef\xbb\xbf"));
  CHECK_FALSE(has_byte_order_mark(""));
}

TEST_CASE("CRLF is found anywhere in a text", "[base][file]") {
  CHECK(has_crlf("a\r\nb"));
  CHECK(has_crlf("\r\n"));
  CHECK_FALSE(has_crlf("a\rb\nc\n\r"));
  CHECK_FALSE(has_crlf(""));
}

TEST_CASE("a signal that interrupts reading does not end it", "[base][file]") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  struct sigaction action {
  }, old{};
  action.sa_handler = [](int) {};  // without SA_RESTART, the signal interrupts read()
  REQUIRE(::sigaction(SIGALRM, &action, &old) == 0);
  const pid_t reader = ::getpid(), writer = ::fork();
  if (writer == 0) {
    for (int i = 0; i < 20; ++i) {
      ::usleep(5000);
      ::kill(reader, SIGALRM);
    }
    ::_exit(::write(ends[1], "text", 4) == 4 ? 0 : 1);
  }
  ::close(ends[1]);
  std::string text;
  {
    const Redirected input(ends[0]);
    text = read_text("-");
  }
  ::waitpid(writer, nullptr, 0);
  ::sigaction(SIGALRM, &old, nullptr);
  CHECK(text == "text");
}

TEST_CASE("reading past the end throws, also if an earlier call was interrupted", "[base][file]") {
  const Folder folder;
  const InputFile input(folder.write("a", "abc"));
  char data[4];
  errno = EINTR;  // pread() does not change errno at the end of a file
  CHECK_THROWS_WITH(input.read(0, data, 4), (folder / "a") + ": truncated while it was read");
}
