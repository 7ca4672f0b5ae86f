// full_disk_test.cpp: no space left, on a real small disk and by a limit on files: nothing is lost.

#include <sys/stat.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/mount.h>
#endif

#include <iostream>

#include "app/heed_program.hpp"
#include "catch.hpp"

using namespace heed_test;

namespace {

namespace fs = std::filesystem;

// A disk of so many bytes in the folder, where mounting is allowed.
class SmallDisk {
 public:
  SmallDisk(const fs::path& folder, std::size_t bytes) : folder_(folder) {
    fs::create_directories(folder);
#if defined(__linux__)
    const std::string size = "size=" + std::to_string(bytes);
    mounted_ = ::mount("tmpfs", folder.c_str(), "tmpfs", 0, size.c_str()) == 0;
#else
    static_cast<void>(bytes);
#endif
    if (!mounted_) std::cout << "full disk: skipped, mounting is not allowed here" << std::endl;
  }
  ~SmallDisk() {
#if defined(__linux__)
    if (mounted_) ::umount2(folder_.c_str(), MNT_DETACH);
#endif
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  explicit operator bool() const { return mounted_; }

  // Leaves so many bytes free, in whole pages.
  void fill_but(std::size_t free) const {
    fs::remove(folder_ / "filler");
    const std::size_t whole = fs::space(folder_).available;
    std::ofstream(folder_ / "filler") << std::string(whole > free ? whole - free : 0, 'x');
  }

 private:
  fs::path folder_;
  bool mounted_ = false;
};

// A run in a shell that was given a limit. SIGXFSZ is as the shell has it: it ends a program.
Finished limited(const Desk& desk, const std::string& limit, const Words& words) {
  Call call = desk.call({});
  call.words =
      Words{"/bin/sh", "-c", limit + "; exec \"$0\" \"$@\"", HEED_BINARY_DIR "/heed"} + words;
  return run(call);
}

std::string listing(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  std::string all;
  for (const std::string& name : names) all += name + " ";
  return all;
}

bool is_one_line_about_space(const Finished& run) {
  return run.code == 1 && run.err.rfind("heed: error: o", 0) == 0 &&
         has(run.err, "no space left") && run.err.find('\n') == run.err.size() - 1;
}

const Words go_on = {"train", "--resume", "--out", "o", "--steps", "40", "--eval-every", "250"};

long step_of(const fs::path& run) { return std::stol(state(run).at("train.step")); }

void print(const std::string& what, int tried, int survived) {
  std::cout << what << ": " << tried << " tried, " << survived << " survived" << std::endl;
  CHECK(survived == tried);
}

}  // namespace

TEST_CASE("a limit on the size of files leaves the checkpoint byte for byte as it was",
          "[app][full_disk]") {
  const Desk desk;
  REQUIRE(desk.heed(train_tiny).code == 0);
  const std::string saved = content(desk / "o/checkpoint.safetensors"), files = listing(desk / "o");
  int tried = 0, survived = 0;
  for (const std::string blocks : {"1", "2", "4", "16", "64"}) {  // of 512 bytes
    REQUIRE(saved.size() > 64 * 512);
    const Finished run = limited(desk, "ulimit -f " + blocks, go_on);
    INFO(blocks << ": " << run.code << " " << run.err);
    CHECK(is_one_line_about_space(run));
    CHECK(has(run.err, "the limit on the size of a file (ulimit -f) is "));
    CHECK(listing(desk / "o") == files);
    ++tried;
    survived += content(desk / "o/checkpoint.safetensors") == saved;
  }
  print("limits on files", tried, survived);
  CHECK(desk.heed(go_on).code == 0);
}

TEST_CASE("a full disk leaves the checkpoint byte for byte as it was", "[app][full_disk]") {
  const Desk desk;
  const SmallDisk disk(desk / "o", 2'000'000);
  if (!disk) return;
  REQUIRE(desk.heed(train_tiny).code == 0);
  const std::string saved = content(desk / "o/checkpoint.safetensors");
  disk.fill_but(0);
  const std::string files = listing(desk / "o");
  int tried = 0, survived = 0;
  for (const std::size_t pages : {0u, 1u, 2u, 3u, 5u, 8u, 11u}) {
    REQUIRE(saved.size() > 11 * 4096);
    disk.fill_but(pages * 4096);
    const Finished run = desk.heed(go_on);
    INFO(pages << ": " << run.code << " " << run.err);
    CHECK(is_one_line_about_space(run));
    CHECK(has(run.err, "no space left on the device"));
    CHECK(listing(desk / "o") == files);
    ++tried;
    survived += content(desk / "o/checkpoint.safetensors") == saved;
  }
  print("full disks", tried, survived);
  fs::remove(desk / "o/filler");
  CHECK(desk.heed(go_on).code == 0);
}

TEST_CASE("a new run on a disk too small for it says so in one line", "[app][full_disk]") {
  const Desk desk;
  const SmallDisk disk(desk / "o", 20'000);
  if (!disk) return;
  const Finished run = desk.heed(train_tiny);
  CHECK(is_one_line_about_space(run));
  CHECK(listing(desk / "o") == "loss.csv ");
}

TEST_CASE("where loss.csv takes no more, every step so far is in the checkpoint",
          "[app][full_disk]") {
  const Desk desk;
  const SmallDisk disk(desk / "small", 8192);
  if (!disk) return;
  fs::create_directory(desk / "o");
  fs::create_symlink("../small/loss.csv", desk / "o/loss.csv");
  Words words = train_tiny + Words{"--log-every", "1"};
  *(std::find(words.begin(), words.end(), "--steps") + 1) = "1000";
  const Finished run = desk.heed(words);
  CHECK(is_one_line_about_space(run));
  const long step = step_of(desk / "o");
  CHECK(step > 50);
  CHECK(run.err == "heed: error: o/loss.csv: no space left on the device; step " +
                       std::to_string(step) + " is saved\n");
  fs::remove(desk / "o/loss.csv");
  const std::string more = std::to_string(step + 5);
  CHECK(desk.heed({"train", "--resume", "--out", "o", "--steps", more}).code == 0);
  CHECK(has(content(desk / "o/loss.csv"), "\n" + std::to_string(step) + ","));
}

TEST_CASE("where sample.txt cannot be written, the trained model is kept", "[app][full_disk]") {
  const Desk desk;
  fs::create_directory(desk / "o");
  fs::create_symlink("/dev/full", desk / "o/sample.txt");
  const Finished device = desk.heed(train_tiny);
  CHECK(device.code == 1);
  CHECK(device.err == "heed: error: o/sample.txt: not a regular file, so it cannot be replaced\n");
  CHECK(step_of(desk / "o") == 20);
  const SmallDisk disk(desk / "small", 8192);
  if (!disk) return;
  disk.fill_but(0);
  fs::remove(desk / "o/sample.txt");
  fs::create_symlink("../small/sample.txt", desk / "o/sample.txt");
  const Finished full = desk.heed(go_on);
  CHECK(full.err == "heed: error: o/sample.txt: no space left on the device\n");
  CHECK(full.code == 1);
  CHECK(step_of(desk / "o") == 40);
}

TEST_CASE("a standard output that takes nothing does not stop a run", "[app][full_disk]") {
  const Desk desk;
  if (!fs::exists("/dev/full")) return;
  const Finished run = limited(desk, "exec >/dev/full", train_tiny);
  CHECK(run.code == 0);
  CHECK(step_of(desk / "o") == 20);
  CHECK(desk.has_file("o/sample.txt"));
  const Finished sample = limited(desk, "exec >/dev/full", {"sample", "o", "--tokens", "5"});
  CHECK(sample.code == 1);
  CHECK(has(sample.err, "standard output: cannot be written"));
}
