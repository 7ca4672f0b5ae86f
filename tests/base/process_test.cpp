// process_test.cpp: run_child passes input and environment and returns output and exit code.

#include "heed/base/process.hpp"

#include <fstream>

#include "catch.hpp"
#include "heed/report/plot_program.hpp"
#include "scratch_folder.hpp"

namespace {

using namespace heed;
using heed_test::ScratchFolder;

ChildResult shell(const std::string& script, const std::string& input = "") {
  return run_child({{"sh", "-c", script}, "", input, {{"HEED_A", "1"}, {"HOME", {}}}});
}

}  // namespace

TEST_CASE("a child gets its input and environment, and its two outputs are captured separately",
          "[base][child_program]") {
  const ChildResult child =
      shell("read -r a; echo \"$a $HEED_A ${HOME-none}\"; echo b >&2", "in\n");
  CHECK(child.code == 0);
  CHECK(child.out == "in 1 none\n");
  CHECK(child.err == "b\n");
}

TEST_CASE("a child runs in the given folder", "[base][child_program]") {
  CHECK(run_child({{"pwd"}, "/"}).out == "/\n");
  CHECK(run_child({{"pwd"}, "/no/such/folder"}).code == 126);
}

TEST_CASE("the result code is the exit code, 128 + signal, or 127", "[base][child_program]") {
  CHECK(shell("exit 3").code == 3);
  CHECK(shell("kill -9 $$").code == 128 + 9);
  CHECK(run_child({{"no-such-program-of-heed"}}).code == 127);
}

TEST_CASE("last_error returns the last line of the error output", "[base][child_program]") {
  CHECK(shell("printf 'here:\\nthe \\033 error\\n\\n' >&2").last_error() == "the \\x1b error");
  CHECK(shell("true").last_error() == "");
}

TEST_CASE("draw_with reports an error if only an older picture exists", "[base][child_program]") {
  const ScratchFolder folder("older_picture");
  folder.write("a.svg", "old");
  const PlotProgram no_output{"true", "coreutils"};
  const Plot plot = draw_with(no_output, {"true"}, folder.path, "a", ".gp", "");
  CHECK_FALSE(plot.ok);
  CHECK(plot.message == "true did not write " + (folder / "a.svg").string());
}
