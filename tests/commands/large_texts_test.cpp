// large_texts_test.cpp: training needs little more memory than the text has bytes.

#include <cstddef>
#include <fstream>
#include <string>

#include "catch.hpp"
#include "commands/heed_program.hpp"
#include "heed/base/utf8.hpp"
#include "sanitized.hpp"

using namespace heed_test;

namespace {

constexpr std::size_t large = 64'000'000;
constexpr double max_ratio = 1.25;  // bytes of memory per byte of text

const Arguments one_step = {"--replace", "--layers",  "1", "--embed-dim",    "16", "--heads",
                            "2",         "--steps",   "1", "--eval-batches", "1",  "--block-size",
                            "16",        "--threads", "1"};

// Writes one part at a time, because a child's peak memory includes this program's memory.
std::size_t write_repeated(const std::filesystem::path& path, const std::string& part,
                           std::size_t bytes) {
  std::ofstream file(path, std::ios::binary);
  for (std::size_t written = 0; written < bytes; written += part.size()) file << part;
  file.close();
  return static_cast<std::size_t>(std::filesystem::file_size(path));
}

// The peak memory of training for one step.
std::size_t peak(const Sandbox& sandbox, const Arguments& arguments) {
  const Finished run = sandbox.heed(arguments);
  INFO(run.err);
  REQUIRE(run.code == 0);
  return run.peak;
}

// The memory per byte of a large text. The memory for a small text with the same vocabulary, and
// therefore the same model, is subtracted.
double memory_per_byte(const std::string& part, const Arguments& more = {}) {
  const Sandbox sandbox;
  const std::size_t bytes = write_repeated(sandbox / "large.txt", part, large);
  write_repeated(sandbox / "small.txt", part, 1);
  const std::size_t small_peak = peak(sandbox, Arguments{"train", "small.txt"} + one_step + more);
  const std::size_t large_peak = peak(sandbox, Arguments{"train", "large.txt"} + one_step + more);
  return (static_cast<double>(large_peak) - static_cast<double>(small_peak)) /
         static_cast<double>(bytes);
}

// The story with `count` different characters, from `first` on, one after each 70 characters.
std::string story_with(std::uint32_t first, std::uint32_t count) {
  std::string text;
  const std::string story = Sandbox::story();
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

TEST_CASE("training on a large text takes little more memory than its size",
          "[commands][train][.][large_texts]") {
  if (sanitized) return;  // a sanitizer's own memory is many times the text's
  CHECK(memory_per_byte(Sandbox::story()) < max_ratio);
  CHECK(memory_per_byte(cyrillic()) < max_ratio);
  CHECK(memory_per_byte(story_with(0x4e00, 1000)) < max_ratio);  // ids would take 2 bytes each
  CHECK(memory_per_byte("\xff" + Sandbox::story(), {"--bytes"}) < max_ratio);
  CHECK(memory_per_byte("\xef\xbb\xbf" + Sandbox::story()) < max_ratio);
}

TEST_CASE("training on a large text from a pipe takes little more memory than its size",
          "[commands][train][.][large_texts]") {
  if (sanitized) return;
  const Sandbox sandbox;
  const auto piped = [&](const std::string& file) {
    std::string line = "/bin/cat " + file + " | '" HEED_BINARY_DIR "/heed' train -";
    for (const std::string& argument : one_step) line += " " + argument;
    const Finished run =
        heed_test::run({{"/bin/sh", "-c", line}, sandbox.path, "", {{"PATH", ""}}});
    REQUIRE(run.code == 0);
    return static_cast<double>(run.peak);
  };
  const std::size_t bytes = write_repeated(sandbox / "large.txt", Sandbox::story(), 2 * large);
  CHECK(piped("large.txt") - piped("in.txt") < max_ratio * static_cast<double>(bytes));
}
