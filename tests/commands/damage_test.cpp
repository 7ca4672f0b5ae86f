// damage_test.cpp: checkpoints with flipped bits or missing bytes are rejected.

#include <fcntl.h>
#include <unistd.h>

#include <iostream>

#include "catch.hpp"
#include "commands/heed_program.hpp"
#include "sanitized.hpp"

using namespace heed_test;

namespace {

// A run with a checkpoint so small that a test can flip each of its bits.
struct SmallRun : Sandbox {
  SmallRun() {
    std::string text;
    for (int i = 0; i < 50; ++i) text += "abc ";
    put(path / "in.txt", text);
    REQUIRE(
        heed({"train", "in.txt", "--out", "o", "--layers", "1", "--embed-dim", "2", "--heads", "1",
              "--block-size", "2", "--steps", "3", "--eval-batches", "1", "--threads", "1"})
            .code == 0);
    bytes = content(checkpoint());
  }
  std::filesystem::path checkpoint() const { return path / "o/checkpoint.safetensors"; }
  std::string bytes;
};

// Changes a file in place, which is faster than writing it again.
class Damaged {
 public:
  explicit Damaged(const std::filesystem::path& path)
      : path_(path), descriptor_(::open(path.c_str(), O_RDWR | O_CLOEXEC)) {
    REQUIRE(descriptor_ >= 0);
  }
  ~Damaged() { ::close(descriptor_); }
  Damaged(const Damaged&) = delete;
  Damaged& operator=(const Damaged&) = delete;

  void put_byte(std::size_t at, int byte) {
    const auto value = static_cast<unsigned char>(byte);
    REQUIRE(::pwrite(descriptor_, &value, 1, static_cast<off_t>(at)) == 1);
  }
  void cut(std::size_t size) { REQUIRE(::ftruncate(descriptor_, static_cast<off_t>(size)) == 0); }
  bool rejected() const {
    return !heed::test::message_of([&] { heed::read_safetensors(path_); }).empty();
  }

 private:
  std::filesystem::path path_;
  int descriptor_;
};

struct Count {
  std::size_t tried = 0, rejected = 0;
};

void print(const std::string& what, const Count& count) {
  std::cout << what << ": " << count.tried << " tried, " << count.rejected << " rejected\n";
}

// Flips every stride-th bit and reads the file with the library.
Count flipped(const SmallRun& run, std::size_t stride) {
  Damaged file(run.checkpoint());
  Count count;
  for (std::size_t bit = 0; bit < 8 * run.bytes.size(); bit += stride, ++count.tried) {
    const std::size_t at = bit / 8;
    file.put_byte(at, run.bytes[at] ^ (1 << bit % 8));
    count.rejected += file.rejected();
    file.put_byte(at, run.bytes[at]);
  }
  CHECK_FALSE(file.rejected());
  return count;
}

// Truncates the file repeatedly, each time by `stride` more bytes, and reads it with the library.
Count cut(const SmallRun& run, std::size_t stride) {
  Damaged file(run.checkpoint());
  Count count;
  for (std::size_t size = run.bytes.size(); size >= stride; ++count.tried) {
    file.cut(size -= stride);
    count.rejected += file.rejected();
  }
  return count;
}

// Counts the files that the program rejects with exit code 1 and one line about the file.
Count rejected_by_program(const SmallRun& run, const std::vector<std::string>& files) {
  Count count;
  for (const std::string& bytes : files) {
    put(run.checkpoint(), bytes);
    const Finished sample = run.heed({"sample", "o"});
    const bool one_line = sample.err.find('\n') == sample.err.size() - 1;
    count.rejected += sample.code == 1 && one_line && sample.out.empty() &&
                      sample.err.rfind("heed: error: o/checkpoint.safetensors: ", 0) == 0;
    ++count.tried;
  }
  return count;
}

// Writes `count` copies with a flipped bit and `count` truncated copies; returns their names.
std::vector<std::string> damaged_copies(const std::string& bytes, std::size_t count) {
  std::vector<std::string> copies;
  for (std::size_t i = 0; i < count; ++i) {
    std::string flipped = bytes;
    const std::size_t at = i * bytes.size() / count;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << i % 8));
    copies.push_back(flipped);
    copies.push_back(bytes.substr(0, at));
  }
  return copies;
}

}  // namespace

TEST_CASE("a checkpoint with a flipped bit or missing bytes is rejected", "[commands][damage]") {
  const SmallRun run;
  const Count bits = flipped(run, 31),
              program = rejected_by_program(run, damaged_copies(run.bytes, 25));
  put(run.checkpoint(), run.bytes);
  const Count cuts = cut(run, 11);
  print("bits flipped", bits);
  print("cuts", cuts);
  print("flips and cuts, by the program", program);
  CHECK(bits.rejected == bits.tried);
  CHECK(cuts.rejected == cuts.tried);
  CHECK(program.rejected == program.tried);
}

TEST_CASE("a checkpoint is rejected with any one bit flipped and with any number of bytes missing",
          "[commands][damage_everywhere][.]") {
  const SmallRun run;
  const Count bits = flipped(run, 1),
              program = rejected_by_program(run, damaged_copies(run.bytes, 500));
  put(run.checkpoint(), run.bytes);
  const Count cuts = cut(run, 1);
  print("bits flipped", bits);
  print("cuts", cuts);
  print("flips and cuts, by the program", program);
  CHECK(bits.tried == 8 * run.bytes.size());
  CHECK(bits.rejected == bits.tried);
  CHECK(cuts.tried == run.bytes.size());
  CHECK(cuts.rejected == cuts.tried);
  CHECK(program.rejected == program.tried);
}

TEST_CASE("inspect accepts and rejects the same files as the library, in little memory",
          "[commands][damage]") {
  const Sandbox sandbox;
  const std::size_t base_memory = sandbox.heed({"--version"}).peak;
  std::size_t accepted = 0, rejected = 0;
  for (const auto& entry : std::filesystem::directory_iterator(HEED_TESTS_DIR "/invalid_files")) {
    if (entry.path().extension() != ".safetensors") continue;
    const std::string error = heed::test::message_of([&] { heed::read_safetensors(entry.path()); });
    const Finished run = sandbox.heed({"inspect", entry.path().string()});
    CAPTURE(entry.path(), error, run.err);
    CHECK(run.code == (error.empty() ? 0 : 1));
    CHECK(run.err == (error.empty() ? "" : "heed: error: " + error + "\n"));
    if (!sanitized) CHECK(run.peak < base_memory + 2 * entry.file_size() + (4 << 20));
    ++(run.code == 0 ? accepted : rejected);
  }
  std::cout << "files inspected: " << accepted << " accepted, " << rejected << " rejected\n";
  CHECK(accepted + rejected > 80);
}
