// damage_test.cpp: whatever happens to a checkpoint's bytes, it is not loaded in silence.

#include <fcntl.h>
#include <unistd.h>

#include <iostream>

#include "app/heed_program.hpp"
#include "catch.hpp"
#include "sanitized.hpp"

using namespace heed_test;

namespace {

// With the checkpoint of a run so small that all its bits can be tried.
struct SmallRun : Desk {
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

// The file changed in place, which is quicker than writing it anew.
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
  bool refused() const {
    return !refusal([&] { heed::read_safetensors(path_); }).empty();
  }

 private:
  std::filesystem::path path_;
  int descriptor_;
};

struct Count {
  std::size_t tried = 0, refused = 0;
};

void print(const std::string& what, const Count& count) {
  std::cout << what << ": " << count.tried << " tried, " << count.refused << " refused\n";
}

// Every so many bits, by the library.
Count flipped(const SmallRun& run, std::size_t stride) {
  Damaged file(run.checkpoint());
  Count count;
  for (std::size_t bit = 0; bit < 8 * run.bytes.size(); bit += stride, ++count.tried) {
    const std::size_t at = bit / 8;
    file.put_byte(at, run.bytes[at] ^ (1 << bit % 8));
    count.refused += file.refused();
    file.put_byte(at, run.bytes[at]);
  }
  CHECK_FALSE(file.refused());
  return count;
}

// From the longest to the shortest.
Count cut(const SmallRun& run, std::size_t stride) {
  Damaged file(run.checkpoint());
  Count count;
  for (std::size_t left = run.bytes.size(); left >= stride; ++count.tried) {
    file.cut(left -= stride);
    count.refused += file.refused();
  }
  return count;
}

// By the program itself: exit code 1 and one line that begins with the file's name.
Count refused_by_program(const SmallRun& run, const std::vector<std::string>& spoiled) {
  Count count;
  for (const std::string& bytes : spoiled) {
    put(run.checkpoint(), bytes);
    const Finished sample = run.heed({"sample", "o"});
    const bool one_line = sample.err.find('\n') == sample.err.size() - 1;
    count.refused += sample.code == 1 && one_line && sample.out.empty() &&
                     sample.err.rfind("heed: error: o/checkpoint.safetensors: ", 0) == 0;
    ++count.tried;
  }
  return count;
}

std::vector<std::string> some_spoiled(const std::string& bytes, std::size_t many) {
  std::vector<std::string> spoiled;
  for (std::size_t i = 0; i < many; ++i) {
    std::string flipped = bytes;
    const std::size_t at = i * bytes.size() / many;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << i % 8));
    spoiled.push_back(flipped);
    spoiled.push_back(bytes.substr(0, at));
  }
  return spoiled;
}

}  // namespace

TEST_CASE("no flipped bit and no cut of a checkpoint loads in silence", "[app][damage]") {
  const SmallRun run;
  const Count bits = flipped(run, 31),
              program = refused_by_program(run, some_spoiled(run.bytes, 25));
  put(run.checkpoint(), run.bytes);
  const Count cuts = cut(run, 11);
  print("bits flipped", bits);
  print("cuts", cuts);
  print("flips and cuts, by the program", program);
  CHECK(bits.refused == bits.tried);
  CHECK(cuts.refused == cuts.tried);
  CHECK(program.refused == program.tried);
}

TEST_CASE("not one of all the bits of a checkpoint can flip, and it cannot be cut anywhere",
          "[app][damage_everywhere][.]") {
  const SmallRun run;
  const Count bits = flipped(run, 1),
              program = refused_by_program(run, some_spoiled(run.bytes, 500));
  put(run.checkpoint(), run.bytes);
  const Count cuts = cut(run, 1);
  print("bits flipped", bits);
  print("cuts", cuts);
  print("flips and cuts, by the program", program);
  CHECK(bits.tried == 8 * run.bytes.size());
  CHECK(bits.refused == bits.tried);
  CHECK(cuts.tried == run.bytes.size());
  CHECK(cuts.refused == cuts.tried);
  CHECK(program.refused == program.tried);
}

TEST_CASE("inspect takes and refuses what the library does, in little memory", "[app][damage]") {
  const Desk desk;
  const std::size_t nothing = desk.heed({"--version"}).peak;
  std::size_t taken = 0, refused = 0;
  for (const auto& entry : std::filesystem::directory_iterator(HEED_TESTS_DIR "/badfiles")) {
    if (entry.path().extension() != ".safetensors") continue;
    const std::string said = refusal([&] { heed::read_safetensors(entry.path()); });
    const Finished run = desk.heed({"inspect", entry.path().string()});
    CAPTURE(entry.path(), said, run.err);
    CHECK(run.code == (said.empty() ? 0 : 1));
    CHECK(run.err == (said.empty() ? "" : "heed: error: " + said + "\n"));
    if (!sanitized) CHECK(run.peak < nothing + 2 * entry.file_size() + (4 << 20));
    ++(run.code == 0 ? taken : refused);
  }
  std::cout << "files inspected: " << taken << " taken, " << refused << " refused\n";
  CHECK(taken + refused > 80);
}
