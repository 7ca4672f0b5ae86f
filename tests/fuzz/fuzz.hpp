// fuzz.hpp: code shared by the fuzz tests: inputs as files, and checks of error messages.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>

namespace heed_fuzz {

// Aborts the program unless `holds`. libFuzzer then saves the input.
inline void expect(bool holds, std::string_view what) {
  if (holds) return;
  std::fprintf(stderr, "not so: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

// Checks that an error message is one line that is not empty and has no control characters.
inline void expect_one_line(const std::exception& error) {
  const std::string_view text = error.what();
  expect(!text.empty(), "an error has words");
  for (const char c : text)
    expect(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f, "an error is one line of text");
}

// A file in memory that holds each input in turn.
class File {
 public:
  File() : descriptor_(::memfd_create("input", MFD_CLOEXEC)) {
    expect(descriptor_ >= 0, "memfd_create works");
    path_ = "/proc/self/fd/" + std::to_string(descriptor_);
  }
  const std::string& holding(const void* data, std::size_t size) {
    expect(::ftruncate(descriptor_, static_cast<off_t>(size)) == 0 &&
               ::pwrite(descriptor_, data, size, 0) == static_cast<ssize_t>(size),
           "the input is written");
    return path_;
  }

 private:
  int descriptor_;
  std::string path_;
};

}  // namespace heed_fuzz
