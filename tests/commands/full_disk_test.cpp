// full_disk_test.cpp: a full disk or a file size limit does not damage a run.

#include <sys/stat.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/mount.h>
#endif

#include <iostream>

#include "catch.hpp"
#include "commands/heed_program.hpp"

using namespace heed_test;

namespace {

namespace fs = std::filesystem;

// Mounts a file system of the given size on the folder, if mounting is allowed.
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

  // Fills the disk except for `free` bytes, rounded to whole pages.
  void fill_but(std::size_t free) const {
    fs::remove(folder_ / "filler");
    const std::size_t available = fs::space(folder_).available;
    std::ofstream(folder_ / "filler") << std::string(available > free ? available - free : 0, 'x');
  }

 private:
  fs::path folder_;
  bool mounted_ = false;
};

// Runs heed in a shell after a limit command such as ulimit.
Finished limited(const Sandbox& sandbox, const std::string& limit, const Arguments& arguments) {
  Call call = sandbox.call({});
  call.arguments =
      Arguments{"/bin/sh", "-c", limit + "; exec \"$0\" \"$@\"", HEED_BINARY_DIR "/heed"} +
      arguments;
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

const Arguments resume = {"train",   "--resume", "--out",        "o",
                          "--steps", "40",       "--eval-every", "250"};

long step_of(const fs::path& run) { return std::stol(state(run).at("train.step")); }

void print(const std::string& what, int tried, int survived) {
  std::cout << what << ": " << tried << " tried, " << survived << " survived" << std::endl;
  CHECK(survived == tried);
}

}  // namespace

TEST_CASE("a limit on the size of files leaves the checkpoint byte for byte as it was",
          "[commands][full_disk]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  const std::string saved = content(sandbox / "o/checkpoint.safetensors"),
                    files = listing(sandbox / "o");
  int tried = 0, survived = 0;
  for (const std::string blocks : {"1", "2", "4", "16", "64"}) {  // blocks of 512 bytes
    REQUIRE(saved.size() > 64 * 512);
    // LLVM's OpenMP runtime writes a file of 1024 bytes when heed starts.
    if (limited(sandbox, "ulimit -f " + blocks, {"--version"}).code != 0) continue;
    const Finished run = limited(sandbox, "ulimit -f " + blocks, resume);
    INFO(blocks << ": " << run.code << " " << run.err);
    CHECK(is_one_line_about_space(run));
    CHECK(has(run.err, "the limit on the size of a file (ulimit -f) is "));
    CHECK(listing(sandbox / "o") == files);
    ++tried;
    survived += content(sandbox / "o/checkpoint.safetensors") == saved;
  }
  print("limits on files", tried, survived);
  CHECK(sandbox.heed(resume).code == 0);
}

TEST_CASE("a full disk leaves the checkpoint byte for byte as it was", "[commands][full_disk]") {
  const Sandbox sandbox;
  const SmallDisk disk(sandbox / "o", 2'000'000);
  if (!disk) return;
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  const std::string saved = content(sandbox / "o/checkpoint.safetensors");
  disk.fill_but(0);
  const std::string files = listing(sandbox / "o");
  int tried = 0, survived = 0;
  for (const std::size_t pages : {0u, 1u, 2u, 3u, 5u, 8u, 11u}) {
    REQUIRE(saved.size() > 11 * 4096);
    disk.fill_but(pages * 4096);
    const Finished run = sandbox.heed(resume);
    INFO(pages << ": " << run.code << " " << run.err);
    CHECK(is_one_line_about_space(run));
    CHECK(has(run.err, "no space left on the device"));
    CHECK(listing(sandbox / "o") == files);
    ++tried;
    survived += content(sandbox / "o/checkpoint.safetensors") == saved;
  }
  print("full disks", tried, survived);
  fs::remove(sandbox / "o/filler");
  CHECK(sandbox.heed(resume).code == 0);
}

TEST_CASE("a full disk leaves a run and its record as they were", "[commands][full_disk]") {
  const Sandbox sandbox;
  const SmallDisk disk(sandbox / "o", 2'000'000);
  if (!disk) return;
  REQUIRE(sandbox.heed(train_tiny + Arguments{"--record", "8"}).code == 0);
  const std::string saved = content(sandbox / "o/checkpoint.safetensors"),
                    files = listing(sandbox / "o/record");
  for (const std::size_t pages : {0u, 3u, 8u, 11u}) {
    disk.fill_but(pages * 4096);
    const Finished run = sandbox.heed(resume + Arguments{"--record", "8"});
    INFO(pages << ": " << run.code << " " << run.err);
    CHECK(is_one_line_about_space(run));
    CHECK(content(sandbox / "o/checkpoint.safetensors") == saved);
    CHECK(listing(sandbox / "o/record") == files);
    CHECK(sandbox.heed({"replay", "o", "--to", "11"}).code == 0);
  }
}

TEST_CASE("a new run on a disk that is too small fails with one line", "[commands][full_disk]") {
  const Sandbox sandbox;
  const SmallDisk disk(sandbox / "o", 20'000);
  if (!disk) return;
  const Finished run = sandbox.heed(train_tiny);
  CHECK(is_one_line_about_space(run));
  CHECK(listing(sandbox / "o") == "");
}

TEST_CASE("a run that is a mounted disk is not replaced", "[commands][full_disk]") {
  const Sandbox sandbox;
  const SmallDisk disk(sandbox / "o", 2'000'000);
  if (!disk) return;
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  const Finished run = sandbox.heed(train_tiny + Arguments{"--replace"});
  CHECK(run.code == 1);
  CHECK(run.err ==
        "heed: error: o: cannot be replaced: it is the top of a mounted file system; choose "
        "another --out\n");
}

TEST_CASE("a full disk leaves the run that is replaced byte for byte as it was",
          "[commands][full_disk]") {
  const Sandbox sandbox;
  const SmallDisk disk(sandbox / "disk", 2'000'000);
  if (!disk) return;
  const auto train = [&](const Arguments& more) {
    return sandbox.heed(Arguments{"train", "in.txt", "--out", "disk/o"} + tiny + more);
  };
  REQUIRE(train({}).code == 0);
  const std::string saved = content(sandbox / "disk/o/checkpoint.safetensors"),
                    files = listing(sandbox / "disk/o");
  int tried = 0, survived = 0;
  for (const std::size_t pages : {0u, 1u, 2u, 3u, 5u, 8u, 11u}) {
    disk.fill_but(pages * 4096);
    const Finished run = train({"--replace", "--seed", "7"});
    INFO(pages << ": " << run.code << " " << run.err);
    CHECK(run.code == 1);
    CHECK(has(run.err, "no space left on the device"));
    CHECK(listing(sandbox / "disk") == "filler o ");
    CHECK(listing(sandbox / "disk/o") == files);
    ++tried;
    survived += content(sandbox / "disk/o/checkpoint.safetensors") == saved;
  }
  print("full disks of a run that is replaced", tried, survived);
  fs::remove(sandbox / "disk/filler");
  CHECK(train({"--replace", "--seed", "7"}).code == 0);
}

TEST_CASE("an export to a full disk leaves no file and no folder", "[commands][full_disk]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  const SmallDisk disk(sandbox / "disk", 2'000'000);
  if (!disk) return;
  fs::create_directories(sandbox / "disk/old");
  std::string failed;
  std::size_t pages = 0;
  for (; pages < 100; ++pages) {
    disk.fill_but(pages * 4096);
    const std::string folder = pages % 2 == 0 ? "disk/new" : "disk/old";
    const Finished run = sandbox.heed({"export", "--to", "gpt2", "o", folder});
    if (run.code == 0) break;
    INFO(pages << ": " << run.code << " " << run.err);
    CHECK(run.err.rfind("heed: error: " + folder, 0) == 0);
    CHECK(has(run.err, "no space left on the device"));
    CHECK(listing(sandbox / "disk") == "filler old ");
    CHECK(listing(sandbox / "disk/old") == "");
    failed += run.err;
  }
  CHECK(has(failed, "/model.safetensors"));
  CHECK(has(failed, "/config.json"));
  CHECK(pages < 100);
}

TEST_CASE("a file of the run that cannot be replaced is rejected before the first step",
          "[commands][full_disk]") {
  const Sandbox sandbox;
  put(sandbox / "victim", "mine");
  for (const std::string name : {"sample.txt", "loss.csv", "checkpoint.safetensors"}) {
    fs::create_directory(sandbox / "o");
    const std::string file = "o/" + name;
    const auto rejected = [&](const std::string& reason) {
      const Finished run = sandbox.heed(train_tiny + Arguments{"--replace"});
      CHECK(run.code == 1);
      CHECK(run.err == "heed: error: " + file + reason + "\n");
      CHECK(run.out == "");
      fs::remove(sandbox / file);
    };
    fs::create_symlink("../victim", sandbox / file);
    rejected(": is a symbolic link, and heed writes no file through a link; remove the link");
    REQUIRE(::mkfifo((sandbox / file).c_str(), 0600) == 0);
    rejected(": is not a regular file, so it cannot be replaced; remove it");
    fs::create_directory(sandbox / file);
    rejected(": is a folder; move it away, or give another name");
    fs::remove_all(sandbox / "o");
  }
  CHECK(content(sandbox / "victim") == "mine");
}

TEST_CASE("a full standard output does not stop a run", "[commands][full_disk]") {
  const Sandbox sandbox;
  if (!fs::exists("/dev/full")) return;
  const Finished run = limited(sandbox, "exec >/dev/full", train_tiny);
  CHECK(run.code == 0);
  CHECK(step_of(sandbox / "o") == 20);
  CHECK(sandbox.has_file("o/sample.txt"));
  const Finished sample = limited(sandbox, "exec >/dev/full", {"sample", "o", "--tokens", "5"});
  CHECK(sample.code == 1);
  CHECK(has(sample.err, "standard output: cannot be written"));
}

TEST_CASE("look fails if its plot cannot be written", "[commands][full_disk]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  for (const Arguments& flags : {Arguments{}, {"--tsne", "--iterations", "5"}}) {
    const Finished run =
        limited(sandbox, "ulimit -f 1", Arguments{"look", "o", "--text", "rope."} + flags);
    CHECK(run.code == 1);
    CHECK(has(run.err, "no space left"));
    CHECK(has(run.err, "; nothing was drawn\n"));
  }
}

TEST_CASE("a command whose standard output is closed fails", "[commands][full_disk]") {
  const Sandbox sandbox;
  REQUIRE(sandbox.heed(train_tiny).code == 0);
  for (const Arguments& words :
       {Arguments{"sample", "o", "--tokens", "5"}, {"inspect", "o"}, {"corpus"}, {"--help"}}) {
    const Finished run = limited(sandbox, "exec >&-", words);
    CHECK(run.code == 1);
    CHECK(has(run.err, "heed: error: standard output: cannot be written"));
  }
}
