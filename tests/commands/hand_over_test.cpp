// hand_over_test.cpp: the program heed starts the program of a command, which lies beside it.

#include "catch.hpp"
#include "commands/child.hpp"
#include "scratch_folder.hpp"

using namespace heed_test;
namespace fs = std::filesystem;

namespace {

// A copy of the program heed, without the programs of the commands.
struct Copy : ScratchFolder {
  Copy() { fs::copy_file(HEED_BINARY_DIR "/heed", path / "heed"); }

  Finished heed(const Arguments& arguments, const std::string& program = "heed") const {
    return run({Arguments{(path / program).string()} + arguments,
                path,
                "",
                {{"OPENBLAS_NUM_THREADS", "3"}}});
  }
  void make_train() const {
    fs::create_directory(path / "commands");
    put(path / "commands/train",
        "#!/bin/sh\nprintf '%s|' \"$0\" \"$OPENBLAS_NUM_THREADS\" \"$GOMP_SPINCOUNT\" \"$@\"\n"
        "exit 7\n");
    fs::permissions(path / "commands/train", fs::perms::owner_all);
  }
};

}  // namespace

TEST_CASE("heed hands its arguments, the settings of threads and the exit code over",
          "[commands][hand_over]") {
  const Copy copy;
  copy.make_train();
  fs::create_directory(copy.path / "bin");
  fs::create_symlink(copy.path / "heed", copy.path / "bin/heed");
  const std::string train = (copy.path / "commands/train").string();
  for (const char* program : {"heed", "bin/heed"}) {
    const Finished run = copy.heed({"train", "a b", "", "--help"}, program);
    CHECK(run.code == 7);
    CHECK(run.out == train + "|3|10000|a b||--help|");
    CHECK(run.err == "");
  }
}

TEST_CASE("the error about a command that is not built says how to build it",
          "[commands][hand_over]") {
  const Copy copy;
  const Finished run = copy.heed({"look", "--help"});
  CHECK(run.code == 1);
  CHECK(run.out == "");
  CHECK(run.err == "heed: error: " + (copy.path / "commands/look").string() +
                       ": is not built; ./heed look builds it, or cmake --build " +
                       copy.path.string() + " --target heed_look_program\n");
  copy.make_train();
  fs::permissions(copy.path / "commands/train", fs::perms::owner_read);
  CHECK(has(copy.heed({"train"}).err, "commands/train: Permission denied\n"));
}

TEST_CASE("heed --help, --version and an unknown command need no command's program",
          "[commands][hand_over]") {
  const Copy copy;
  CHECK(copy.heed({"--version"}).out == "heed " HEED_VERSION "\n");
  CHECK(has(copy.heed({"--help"}).out, "\n  train  "));
  const Finished run = copy.heed({"trian"});
  CHECK(run.code == 2);
  CHECK(run.err == "heed: error: unknown command 'trian'; did you mean 'train'?\n");
}
