// process_test.cpp: run_child passes input and environment and returns output and exit code.

#include "base/process.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "catch.hpp"
#include "heed/draw/plot_program.hpp"
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

TEST_CASE("a program is searched in PATH before the folder changes", "[base][child_program]") {
  const ScratchFolder folder;
  folder.write("heed_probe", "#!/bin/sh\necho run\n");
  std::filesystem::permissions(folder / "heed_probe", std::filesystem::perms::owner_all);
  const std::string path = std::getenv("PATH");
  for (const std::string& relative : {":" + path, ".:" + path, path + ":"}) {
    ::setenv("PATH", relative.c_str(), 1);
    CHECK(run_child({{"heed_probe"}, folder.path}).code == 127);
  }
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path.parent_path());
  for (const std::string& found : {folder.path.string(), folder.path.filename().string()}) {
    ::setenv("PATH", (found + ":" + path).c_str(), 1);
    CHECK(run_child({{"heed_probe"}, "/"}).out == "run\n");
  }
  std::filesystem::current_path(before);
  ::setenv("PATH", path.c_str(), 1);
}

TEST_CASE("plotting programs run without GNUTERM", "[base][child_program]") {
  const ScratchFolder folder;
  ::setenv("GNUTERM", "x11", 1);
  const Plot plot =
      draw_with({"sh", "dash"}, {"sh"}, folder.path, "a", ".sh", "echo \"${GNUTERM-none}\"\n");
  ::unsetenv("GNUTERM");
  CHECK(plot.ok);
  CHECK(folder.read("a.svg") == "none\n");
}

#if defined(__linux__)
TEST_CASE("a child ends with the process that started it", "[base][child_program]") {
  const ScratchFolder folder;
  const pid_t parent = ::fork();
  if (parent == 0) {
    run_child({{"sh", "-c", "echo $$ >pid.new; mv pid.new pid; exec sleep 60"}, folder.path});
    ::_exit(0);
  }
  for (int i = 0; i < 1000 && !std::filesystem::exists(folder / "pid"); ++i) ::usleep(5000);
  const pid_t child = std::stoi(folder.read("pid"));
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  const auto runs = [&] {  // a killed process may stay a zombie, whose command line is empty
    const auto line = heed_test::content("/proc/" + std::to_string(child) + "/cmdline");
    return line.find("sleep") != line.npos;
  };
  for (int i = 0; i < 400 && runs(); ++i) ::usleep(5000);
  CHECK_FALSE(runs());
  if (runs()) ::kill(child, SIGKILL);
}
#endif

TEST_CASE("a child program without words is rejected", "[base][process]") {
  CHECK_THROWS_AS(run_child({}), Error);
}
