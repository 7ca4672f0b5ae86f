// large_texts_test.cpp: a large text is learnt in little more memory than it has bytes.

#include <cstddef>
#include <fstream>
#include <string>

#include "app/heed_program.hpp"
#include "catch.hpp"
#include "heed/base/utf8.hpp"
#include "sanitized.hpp"

using namespace heed_test;

namespace {

constexpr std::size_t large = 64'000'000;
constexpr double allowed = 1.25;  // bytes of memory for each of the text

const Words one_step = {"--layers",  "1", "--embed-dim",    "16", "--heads",      "2",
                        "--steps",   "1", "--eval-batches", "1",  "--block-size", "16",
                        "--threads", "1"};

// Written a part at a time: what this program holds when it starts another counts as that one's.
std::size_t write_repeated(const std::filesystem::path& path, const std::string& part,
                           std::size_t bytes) {
  std::ofstream file(path, std::ios::binary);
  for (std::size_t written = 0; written < bytes; written += part.size()) file << part;
  file.close();
  return static_cast<std::size_t>(std::filesystem::file_size(path));
}

// The most memory that learning one step of the file took.
std::size_t peak(const Desk& desk, const Words& words) {
  const Finished run = desk.heed(words);
  INFO(run.err);
  REQUIRE(run.code == 0);
  return run.peak;
}

// Bytes of memory for each byte of a large text, beside what a small text with the same symbols,
// and so the same model, takes.
double memory_for_each_byte(const std::string& part, const Words& more = {}) {
  const Desk desk;
  const std::size_t bytes = write_repeated(desk / "large.txt", part, large);
  write_repeated(desk / "small.txt", part, 1);
  const std::size_t small_peak = peak(desk, Words{"train", "small.txt"} + one_step + more);
  const std::size_t large_peak = peak(desk, Words{"train", "large.txt"} + one_step + more);
  return (static_cast<double>(large_peak) - static_cast<double>(small_peak)) /
         static_cast<double>(bytes);
}

// The story with another character after each line: `count` of them, from `first` on.
std::string spiced(std::uint32_t first, std::uint32_t count) {
  std::string text;
  const std::string story = Desk::story();
  for (std::uint32_t c = first; c < first + count; ++c) {
    text += story.substr((c - first) % 40 * 70, 70);
    heed::append_utf8(text, c);
  }
  return text;
}

std::string cyrillic() {
  std::string text;
  for (std::uint32_t i = 0; i < 3000; ++i) heed::append_utf8(text, 0x430 + i * 7 % 32);
  return text;
}

}  // namespace

TEST_CASE("a large text takes little more memory than it has bytes",
          "[app][train][.][large_texts]") {
  if (sanitized) return;  // a sanitizer's own memory is many times the text's
  CHECK(memory_for_each_byte(Desk::story()) < allowed);
  CHECK(memory_for_each_byte(cyrillic()) < allowed);
  CHECK(memory_for_each_byte(spiced(0x4e00, 1000)) < allowed);  // ids would take 2 bytes each
  CHECK(memory_for_each_byte("\xff" + Desk::story(), {"--bytes"}) < allowed);
  CHECK(memory_for_each_byte("\xef\xbb\xbf" + Desk::story()) < allowed);
}

TEST_CASE("a large text through a pipe takes little more memory than it has bytes and a piece",
          "[app][train][.][large_texts]") {
  if (sanitized) return;
  const Desk desk;
  const auto piped = [&](const std::string& file) {
    std::string line = "/bin/cat " + file + " | '" HEED_BINARY_DIR "/heed' train -";
    for (const std::string& word : one_step) line += " " + word;
    const Finished run = heed_test::run({{"/bin/sh", "-c", line}, desk.path, "", {{"PATH", ""}}});
    REQUIRE(run.code == 0);
    return static_cast<double>(run.peak);
  };
  const std::size_t bytes = write_repeated(desk / "large.txt", Desk::story(), 2 * large);
  CHECK(piped("large.txt") - piped("in.txt") < allowed * static_cast<double>(bytes));
}
