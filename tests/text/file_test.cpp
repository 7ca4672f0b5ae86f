// file_test.cpp: regular files are mapped, and what is no text is refused without waiting for it.

#include "heed/text/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "catch.hpp"
#include "heed/array/error.hpp"

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

TEST_CASE("a file's bytes are there as they are", "[text][file]") {
  const Folder folder;
  const std::string bytes("caf\xc3\xa9\r\n\0\xff end", 14);
  CHECK(TextFile::open(folder.write("in.txt", bytes)).text() == bytes);
}

TEST_CASE("an empty file and /dev/null are empty texts", "[text][file]") {
  const Folder folder;
  CHECK(TextFile::open(folder.write("in.txt", "")).text().empty());
  CHECK(TextFile::open("/dev/null").text().empty());
  fs::create_symlink("/dev/null", folder.path / "null.txt");
  CHECK(TextFile::open(folder / "null.txt").text().empty());
}

TEST_CASE("a link to a file is that file", "[text][file]") {
  const Folder folder;
  folder.write("in.txt", "text");
  fs::create_symlink("in.txt", folder.path / "link.txt");
  CHECK(TextFile::open(folder / "link.txt").text() == "text");
}

TEST_CASE("a moved file keeps its text", "[text][file]") {
  const Folder folder;
  const std::string path = folder.write("in.txt", "text"), other = folder.write("b.txt", "other");
  TextFile a = TextFile::open(path);
  TextFile b = std::move(a);
  CHECK(b.text() == "text");
  b = TextFile::open(other);
  CHECK(b.text() == "other");
  TextFile c = TextFile::open(folder.write("empty.txt", ""));
  c = std::move(b);
  CHECK(c.text() == "other");
}

TEST_CASE("a text outlives its file's name", "[text][file]") {
  const Folder folder;
  const TextFile file = TextFile::open(folder.write("in.txt", "text"));
  fs::remove(folder.path / "in.txt");
  CHECK(file.text() == "text");
}

TEST_CASE("what is no file is refused with its name", "[text][file]") {
  const Folder folder;
  const std::string missing = folder / "in.txt", fifo = folder / "fifo", loop = folder / "loop";
  CHECK_THROWS_WITH(TextFile::open(missing), missing + ": No such file or directory");
  CHECK_THROWS_WITH(TextFile::open(folder.path.string()),
                    folder.path.string() + ": is a directory; give a text file");
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  const std::string irregular =
      ": is not a regular file; give a text file, or - to read standard input";
  CHECK_THROWS_WITH(TextFile::open(fifo), fifo + irregular);  // at once: nobody writes to it
  CHECK_THROWS_WITH(TextFile::open("/dev/zero"), "/dev/zero" + irregular);
  fs::create_symlink("loop", loop);
  CHECK_THROWS_AS(TextFile::open(loop), Error);
  CHECK_THROWS_WITH(TextFile::open(folder.write("a.txt", "") + "/b"),
                    folder / "a.txt/b: Not a directory");
}

TEST_CASE("a file that may not be read is refused with its name", "[text][file]") {
  if (::geteuid() == 0) return;  // root may read everything
  const Folder folder;
  const std::string path = folder.write("in.txt", "text");
  ::chmod(path.c_str(), 0);
  CHECK_THROWS_WITH(TextFile::open(path), path + ": Permission denied");
}

TEST_CASE("a dash is all of standard input", "[text][file]") {
  const Folder folder;
  const std::string text(200000, 'x');
  const Redirected input(folder.write("in.txt", text));
  CHECK((TextFile::open("-").text() == text));
  CHECK(TextFile::open("-").text().empty());  // all has been read
}

TEST_CASE("standard input that cannot be read is refused", "[text][file]") {
  const Folder folder;
  const Redirected input(folder.path.string());
  CHECK_THROWS_WITH(TextFile::open("-"), "standard input: Is a directory");
}

TEST_CASE("a byte order mark is seen at the beginning only", "[text][file]") {
  CHECK(has_byte_order_mark("\xef\xbb\xbfhello"));
  CHECK(has_byte_order_mark("\xef\xbb\xbf"));
  CHECK_FALSE(has_byte_order_mark("\xef\xbb"));
  CHECK_FALSE(has_byte_order_mark("a\xef\xbb\xbf"));
  CHECK_FALSE(has_byte_order_mark(""));
}

TEST_CASE("CRLF is seen anywhere", "[text][file]") {
  CHECK(has_crlf("a\r\nb"));
  CHECK(has_crlf("\r\n"));
  CHECK_FALSE(has_crlf("a\rb\nc\n\r"));
  CHECK_FALSE(has_crlf(""));
}
