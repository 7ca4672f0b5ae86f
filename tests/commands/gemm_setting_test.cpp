// gemm_setting_test.cpp: HEED_GEMM, the file of the measured choice, and its table.

#include "commands/gemm_setting.hpp"

#include <fstream>

#include "catch.hpp"
#include "commands/bench/bench.hpp"
#include "commands/flags.hpp"
#include "gemm/speeds.hpp"
#include "heed_program.hpp"
#include "scratch_folder.hpp"

namespace {

using namespace heed;
using namespace heed::app;
using heed_test::Arguments;
using heed_test::Call;
using heed_test::Finished;
using heed_test::operator+;
using heed_test::content;
using heed_test::only_file_in;
using heed_test::ScratchFolder;
using heed_test::speeds;

}  // namespace

TEST_CASE("the table shows the speeds and the chosen library", "[commands][gemm_setting]") {
  CHECK(gemm_table(speeds()) ==
        "GFLOP/s on 1 thread             openblas      xsmm    onednn   chosen\n"
        "a b     64 x 64 x 32                50.0      55.0      40.0   xsmm\n"
        "a b^T   768 x 128 x 128             50.0      40.0      60.0   onednn\n"
        "a^T b   768 x 128 x 128             50.0      51.0         -   openblas\n");
}

TEST_CASE("the choice is measured once and kept in one file of ~/.cache/heed or XDG_CACHE_HOME",
          "[commands][gemm_setting]") {
  const heed_test::Sandbox sandbox;
  const std::filesystem::path home = sandbox / "home", cache = sandbox / "cache";
  const auto train = [&](const Arguments& changes) {
    Call call = sandbox.call(heed_test::train_tiny + Arguments{"--replace"});
    call.arguments = Arguments{"/usr/bin/env",         "-u", "HEED_GEMM", "-u", "XDG_CACHE_HOME",
                               "HOME=" + home.string()} +
                     changes + call.arguments;
    REQUIRE(heed_test::run(call).code == 0);
  };
  train({});
  CHECK(only_file_in(home) == home / ".cache");
  CHECK(only_file_in(home / ".cache") == home / ".cache/heed");
  const std::filesystem::path file = only_file_in(home / ".cache/heed");
  const auto written = std::filesystem::last_write_time(file);
  train({});
  CHECK(std::filesystem::last_write_time(file) == written);
  std::filesystem::rename(home / ".cache", cache);
  train({"XDG_CACHE_HOME=" + cache.string()});
  CHECK(std::filesystem::last_write_time(only_file_in(cache / "heed")) == written);
  CHECK(std::filesystem::is_empty(home));
}

TEST_CASE("HEED_GEMM chooses the library, which the checkpoint names", "[commands][gemm_setting]") {
  const heed_test::Sandbox sandbox;
  const auto train = [&](const std::string& setting, const Arguments& arguments) {
    Call call = sandbox.call(arguments);
    call.environment["HEED_GEMM"] = setting;
    return heed_test::run(call);
  };
  for (const Arguments& command : {heed_test::train_tiny, Arguments{"sample", "o"}}) {
    const Finished rejected = train("fast", command);
    CHECK(rejected.code == 2);
    CHECK(rejected.err ==
          "heed: error: HEED_GEMM: the choice of libraries for matrix products is 'fast'; give "
          "openblas, xsmm or onednn\n");
  }
  CHECK(!sandbox.has_file("o"));

  for (const GemmLibrary library : all_gemm_libraries) {
    const std::string name(name_of(library));
    const Finished trained = train(name, heed_test::train_tiny + Arguments{"--replace"});
    if (!is_installed(library)) {
      CHECK(trained.code == 2);
      CHECK(trained.err == "heed: error: HEED_GEMM: the library " + name +
                               " for matrix products is not installed, or heed was built without "
                               "it; use openblas\n");
      continue;
    }
    CHECK(trained.code == 0);
    CHECK(heed_test::state(sandbox / "o").at("train.gemm") == name);
    // A resumed run keeps the library of its checkpoint, whatever HEED_GEMM says.
    REQUIRE(train("auto", {"train", "in.txt", "--out", "o", "--resume", "--steps", "22"}).code ==
            0);
    CHECK(heed_test::state(sandbox / "o").at("train.gemm") == name);
  }
}

TEST_CASE("a resumed run keeps the choice of libraries of an older version",
          "[commands][gemm_setting]") {
  const heed_test::Sandbox sandbox;
  REQUIRE(sandbox.heed(heed_test::train_tiny).code == 0);
  const std::string older =
      "openblas/openblas/openblas,openblas/openblas/openblas,openblas/openblas/openblas";
  const std::filesystem::path checkpoint = sandbox / "o/checkpoint.safetensors";
  {
    const SafetensorsFile file = read_safetensors(checkpoint);
    Metadata metadata = file.metadata;
    for (const char* own : {"heed.checksum", "heed.format"}) metadata.erase(own);
    metadata["train.gemm"] = older;
    write_safetensors(checkpoint, metadata, file.tensors);
  }
  REQUIRE(sandbox.heed({"sample", "o", "--tokens", "5"}).code == 0);
  const Finished resumed =
      sandbox.heed({"train", "in.txt", "--out", "o", "--resume", "--steps", "22"});
  CHECK(resumed.code == 0);
  CHECK(heed_test::state(sandbox / "o").at("train.gemm") == older);
}

#if defined(__linux__)
// In this test the dynamic loader finds files with the names of oneDNN that are no libraries.
TEST_CASE("without the library of a run, train --resume, sample and look say so",
          "[commands][gemm_setting]") {
  if (!is_installed(GemmLibrary::onednn)) return;
  const heed_test::Sandbox sandbox;
  const auto run = [&](const Arguments& arguments, const std::string& setting, bool hidden) {
    Call call = sandbox.call(arguments);
    call.environment["HEED_GEMM"] = setting;
    if (hidden) call.environment["LD_LIBRARY_PATH"] = sandbox.path.string();
    const Finished finished = heed_test::run(call);
    CHECK(finished.code == 0);
    return finished;
  };
  run(heed_test::train_tiny, "onednn", false);
  for (const char* name : {"libdnnl.so.3", "libdnnl.so.2", "libdnnl.3.dylib"})
    sandbox.write(name, "not a library");
  const std::string note =
      "heed: note: the run computed its matrix products with onednn, and now with openblas: "
      "results may differ in their last digits\n";
  const std::vector<Arguments> commands = {{"sample", "o", "--tokens", "5"},
                                           {"look", "o", "--text", "the sea"},
                                           {"train", "--resume", "--out", "o", "--steps", "22"}};
  for (const Arguments& command : commands) {
    INFO(command[0]);
    if (command[0] != "train")
      CHECK_FALSE(heed_test::has(run(command, "openblas", false).err, "matrix products"));
    CHECK(heed_test::has(run(command, "openblas", true).err, note));
  }
}
#endif

TEST_CASE("each library trains to the same bits with one, two and four threads",
          "[commands][gemm_setting]") {
  const heed_test::Sandbox sandbox;
  const Arguments wide = {"train",        "in.txt", "--layers",       "2",  "--heads", "2",
                          "--embed-dim",  "64",     "--block-size",   "32", "--steps", "12",
                          "--batch-size", "24",     "--eval-batches", "1"};
  for (const GemmLibrary library : all_gemm_libraries) {
    if (!is_installed(library)) continue;
    INFO(name_of(library));
    for (const std::string threads : {"1", "2", "4"}) {
      Call call =
          sandbox.call(wide + Arguments{"--threads", threads, "--out", threads, "--replace"});
      call.environment["HEED_GEMM"] = std::string(name_of(library));
      REQUIRE(heed_test::run(call).code == 0);
    }
    CHECK(heed_test::difference(sandbox / "1", sandbox / "2") == "");
    CHECK(heed_test::difference(sandbox / "1", sandbox / "4") == "");
  }
}
