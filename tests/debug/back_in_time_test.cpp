// back_in_time_test.cpp: heed goto, back-step, rewind, first and blame in gdb and LLDB.

#include <algorithm>

#include "commands/tildes.hpp"
#include "debug/lldb_sessions.hpp"

using namespace heed_test;

namespace {

// A folder for sessions, with the run on a play with a line of tildes.
struct TildesFolder : Sandbox {
  TildesFolder() {
    std::filesystem::create_directory_symlink(HEED_SOURCE_DIR "/tools", path / "tools");
    train_tildes(*this);
  }
};

}  // namespace

TEST_CASE("gdb goes back to the step, the window and the node of a bad loss", "[debug][time][.]") {
  if (!can_debug()) return;
  const TildesFolder folder;
  compare("back_in_time", read_transcript("back_in_time"),
          replayed("back_in_time", folder.path, {}));
}

TEST_CASE("the sessions in docs/back-in-time.md are excerpts from transcripts",
          "[debug][time][.]") {
  const Lines on_run = read_transcript("back_in_time").lines;
  const Lines on_exercise = read_transcript("late_error").lines;
  const std::string page = content(HEED_SOURCE_DIR "/docs/back-in-time.md"), begin = "```\n(gdb) ";
  std::size_t sessions = 0;
  for (std::size_t i = page.find(begin); i != page.npos; i = page.find(begin, i + 4)) {
    const Lines& session = sessions++ == 0 ? on_run : on_exercise;
    auto next = session.begin();
    for (const std::string& line :
         lines_of(normalized(page.substr(i + 4, page.find("```", i + 4) - i - 4)))) {
      if (line == "..." || line.empty()) continue;
      next = std::find_if(next, session.end(),
                          [&](const std::string& other) { return near_line(line, other); });
      INFO("in docs/back-in-time.md, not in a transcript: " << line);
      REQUIRE(next != session.end());
    }
  }
  CHECK(sessions == 3);
}

TEST_CASE("gdb goes back in a program that is no replay, past breakpoints", "[debug][time][.]") {
  if (!can_debug()) return;
  check_transcript("rewind");
  check_transcript("rewind_O2");
}

TEST_CASE("LLDB: heed goto, back-step, rewind, first and blame", "[debug][lldb][time][.]") {
  if (!can_use_lldb()) return;
  const TildesFolder folder;
  const std::string out =
      lldb(folder.path, {programs + "replay_Og", "runs/tildes", "--to", "399", "--near"},
           {"heed goto 3", "breakpoint set -n heed::app::compute_last_step",
            "process launch -o out.txt -e err.txt", "heed first train_loss > 1.4 * median",
            "heed blame token.weight[64,5] --step 399", "heed goto 399", "heed step Linear",
            "heed back-step", "heed back-step", "heed rewind", "heed goto 801", "heed goto 101",
            "heed step", "heed back-step", "heed first 3", "heed rewind now", "breakpoint list"});
  INFO(out);
  CHECK_FALSE(has(out, "Traceback"));
  CHECK(has(out, "error: heed: the program is not running; type `run`"));
  CHECK(has(out, "step 399: train_loss > 1.4 * median"));
  CHECK(has(out, "The gradient of token.weight[64,5] in step 399 is -0.38"));
  CHECK(has(out, "`heed goto 399` goes there\n"));
  CHECK(has(out, "heed::app::compute_last_step, src/commands/replay/replay.cpp:"));
  CHECK(has(out, "#28 CrossEntropy passed to #27 Linear 'logits': (4, 32, 65) norm "));
  CHECK(has(out, "#12 Slice passed to #4 Leaf 'position.weight': (32, 16) norm "));
  CHECK(has(out, "heed::Trainer::train_on"));
  CHECK(has(out, "error: heed: the program did not get to step 801; `heed goto` or `run` starts"));
  CHECK(has(out, "error: heed: no backward pass was computed before; `heed goto STEP` goes to an"));
  CHECK(has(out, "heed: CONDITION, column 2: expected >, >=, < or <="));
  CHECK(has(out, "error: heed: `heed rewind` takes no argument"));
  CHECK(has(out, "1: name = 'heed::app::compute_last_step', locations = 1, resolved = 1"));
}
