// process_test.cpp: a child gets what it is given, and says how it ended.

#include "heed/base/process.hpp"

#include <fstream>

#include "catch.hpp"
#include "heed/report/plot_program.hpp"
#include "scratch_folder.hpp"

namespace {

using namespace heed;

ChildResult shell(const std::string& script, const std::string& input = "") {
  return run_child({{"sh", "-c", script}, "", input, {{"HEED_A", "1"}, {"HOME", {}}}});
}

}  // namespace

TEST_CASE("a child has its own input and environment, and its outputs are kept apart",
          "[base][child_program]") {
  const ChildResult child =
      shell("read -r a; echo \"$a $HEED_A ${HOME-none}\"; echo b >&2", "in\n");
  CHECK(child.code == 0);
  CHECK(child.out == "in 1 none\n");
  CHECK(child.err == "b\n");
}

TEST_CASE("a child runs in its folder", "[base][child_program]") {
  CHECK(run_child({{"pwd"}, "/"}).out == "/\n");
  CHECK(run_child({{"pwd"}, "/no/such/folder"}).code == 126);
}

TEST_CASE("how a child ended is its code", "[base][child_program]") {
  CHECK(shell("exit 3").code == 3);
  CHECK(shell("kill -9 $$").code == 128 + 9);
  CHECK(run_child({{"no-such-program-of-heed"}}).code == 127);
}

TEST_CASE("the last line of what a child complains about says what went wrong",
          "[base][child_program]") {
  CHECK(shell("printf 'here:\\nthe \\033 error\\n\\n' >&2").last_error() == "the \\x1b error");
  CHECK(shell("true").last_error() == "");
}

TEST_CASE("an older picture is not taken for one that was drawn", "[base][child_program]") {
  const ScratchFolder folder("older_picture");
  std::ofstream(folder.path + "/a.svg") << "old";
  const PlotProgram idle{"true", "coreutils"};
  const Plot plot = draw_with(idle, {"true"}, folder.path, "a", ".gp", "");
  CHECK_FALSE(plot.ok);
  CHECK(plot.message == "true did not write " + folder.path + "/a.svg");
}
