// back_in_time_test.cpp: heed goto, back-step, rewind, first and blame in gdb and LLDB.

#include <algorithm>

#include "commands/diary.hpp"
#include "debug/lldb_sessions.hpp"

using namespace heed_test;

namespace {

// A folder for sessions, with the run of a diary that has a line of tildes.
struct DiaryFolder : Sandbox {
  DiaryFolder() {
    std::filesystem::create_directory_symlink(HEED_SOURCE_DIR "/tools", path / "tools");
    train_diary(*this);
  }
};

}  // namespace

TEST_CASE("gdb goes back to the step, the window and the node of a bad loss", "[debug][time][.]") {
  if (!can_debug()) return;
  const DiaryFolder folder;
  compare("back_in_time", read_transcript("back_in_time"),
          replayed("back_in_time", folder.path, {}));
}

TEST_CASE("the session in docs/debugging.md is an excerpt from the transcript of the way back",
          "[debug][time][.]") {
  const Lines session = read_transcript("back_in_time").lines;
  const std::string page = content(HEED_SOURCE_DIR "/docs/debugging.md");
  const std::size_t begin = page.find("(gdb) heed first train_loss");
  REQUIRE(begin != page.npos);
  auto next = session.begin();
  for (const std::string& line :
       lines_of(normalized(page.substr(begin, page.find("```", begin) - begin)))) {
    if (line == "..." || line.empty()) continue;
    next = std::find_if(next, session.end(),
                        [&](const std::string& other) { return near_line(line, other); });
    INFO("in docs/debugging.md, not in tests/debug/back_in_time.txt: " << line);
    REQUIRE(next != session.end());
  }
}

TEST_CASE("gdb goes back in a program that is no replay, past breakpoints", "[debug][time][.]") {
  if (can_debug()) check_transcript("rewind");
}

TEST_CASE("LLDB: heed goto, back-step, rewind, first and blame", "[debug][lldb][time][.]") {
  if (!can_use_lldb()) return;
  const DiaryFolder folder;
  const std::string out =
      lldb(folder.path, {programs + "replay_Og", "runs/diary", "--to", "246", "--near"},
           {"heed goto 3", "breakpoint set -n heed::app::compute_last_step",
            "process launch -o out.txt -e err.txt", "heed first train_loss > 1.6 * median",
            "heed blame token.weight[32,5] --step 246", "heed goto 246", "heed step Linear",
            "heed back-step", "heed back-step", "heed rewind", "heed goto 401", "heed goto 51",
            "heed step", "heed back-step", "heed first 3", "heed rewind now", "breakpoint list"});
  INFO(out);
  CHECK_FALSE(has(out, "Traceback"));
  CHECK(has(out, "error: heed: the program is not running; type `run`"));
  CHECK(has(out, "step 246: train_loss > 1.6 * median"));
  CHECK(has(out, "The gradient of token.weight[32,5] in step 246 is 1.14"));
  CHECK(has(out, "`heed goto 246` goes there\n"));
  CHECK(has(out, "heed::app::compute_last_step, src/commands/replay/replay.cpp:"));
  CHECK(has(out, "#28 CrossEntropy passed to #27 Linear 'logits': (4, 16, 33) norm "));
  CHECK(has(out, "#12 Slice passed to #4 Leaf 'position.weight': (16, 16) norm "));
  CHECK(has(out, "heed::Trainer::train_on"));
  CHECK(has(out, "error: heed: the program did not get to step 401; `heed goto` or `run` starts"));
  CHECK(has(out, "error: heed: no backward pass was computed before; `heed goto STEP` goes to an"));
  CHECK(has(out, "heed: CONDITION, column 2: expected >, >=, < or <="));
  CHECK(has(out, "error: heed: `heed rewind` takes no argument"));
  CHECK(has(out, "1: name = 'heed::app::compute_last_step', locations = 1, resolved = 1"));
}
