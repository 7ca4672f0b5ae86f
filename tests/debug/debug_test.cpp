// debug_test.cpp: gdb sessions with heed's commands, compared with transcripts (see sessions.hpp).

#include <algorithm>

#include "debug/sessions.hpp"

using namespace heed_test;

namespace {

// Compares a transcript with a session of the same program at another optimisation level.
void check_at(const std::string& level, const std::string& name) {
  const SessionFolder folder;
  Transcript expected = read_transcript(name);
  expected.lines = without_source(expected.lines);
  if (std::getenv("HEED_WRITE_TRANSCRIPTS") != nullptr) return;  // only the test at -Og writes
  Arguments program = expected.program;
  program[0] = programs + program[0].substr(0, program[0].rfind('_') + 1) + level;
  compare(name + " at -" + level, expected, without_source(replayed(name, folder.path, program)));
}

// Compares a transcript with a session on a core file of its program, written at this function.
void check_core(const std::string& name, const std::string& function) {
  const SessionFolder folder;
  const Transcript expected = read_transcript(name);
  const Lines printed =
      session(folder.path, {programs + expected.program.at(0)},
              {"set environment HEED_TRACE provenance", "break main", "run > out.txt",
               "break " + function, "continue", "generate-core-file program.core"});
  INFO(name << '\n' << text_of(printed));
  REQUIRE(std::filesystem::exists(folder / "program.core"));
  compare(name, expected, replayed(name, folder.path, {}));
}

const std::string lesson = programs + "lesson_06_Og";

}  // namespace

TEST_CASE("the transcript that HEED_TRANSCRIPT names", "[debug][transcript][.]") {
  const char* const name = std::getenv("HEED_TRANSCRIPT");
  if (name == nullptr || !can_debug()) return;
  const std::string transcript = name;
  if (transcript.rfind("core", 0) != 0) return check_transcript(transcript);
  check_core(transcript, transcript.rfind("core_gpt", 0) == 0 ? "heed::Attention::backward"
                                                              : "heed::Softmax::backward");
}

TEST_CASE("gdb stops where an error ends a lesson, with the calls that led to it", "[debug][.]") {
  if (can_debug()) check_transcript("lesson_error");
}

TEST_CASE("gdb steps the backward pass of lesson 06 node by node", "[debug][.]") {
  if (can_debug()) check_transcript("lesson_06");
}

TEST_CASE("the session of lesson 06 is the same at -O0 and -O2", "[debug][.]") {
  if (!can_debug()) return;
  check_at("O0", "lesson_06");
  check_at("O2", "lesson_06");
}

TEST_CASE("sessions at -O2 print what they print at -Og", "[debug][O2][.]") {
  if (!can_debug()) return;
  for (const char* name : {"nan_backward", "printers", "weights"}) check_at("O2", name);
}

// What differs at -O2 are the lines at which gdb stops, and which calls are inlined.
TEST_CASE("every command works at -O2", "[debug][O2][.]") {
  if (!can_debug()) return;
  for (const char* name : {"finish", "gpt", "in", "nan_forward", "training"})
    check_transcript(name + std::string("_O2"));
  if (!can_call()) return;
  for (const char* name : {"check", "mark", "walk"}) check_transcript(name + std::string("_O2"));
}

TEST_CASE("heed out prints the gradients that a backward returned, and to whom", "[debug][.]") {
  if (!can_debug()) return;
  check_transcript("out");
  check_at("O0", "out");
  check_at("O2", "out");
}

TEST_CASE("gdb prints expressions, optional masks and unusual names in one line", "[debug][.]") {
  if (!can_debug()) return;
  check_transcript("expressions");
  check_at("O2", "expressions");
}

TEST_CASE("gdb's finish prints the returned arrays", "[debug][.]") {
  if (can_debug()) check_transcript("finish");
}

TEST_CASE("heed in and gdb's step do not enter the engine and libraries", "[debug][.]") {
  if (can_debug()) check_transcript("in");
}

TEST_CASE("heed check names an operation whose backward has a wrong sign", "[debug][.]") {
  if (can_call()) check_transcript("check");
}

TEST_CASE("the README's walk through an exercise is a real session", "[debug][.]") {
  if (can_call()) check_transcript("walk");
}

TEST_CASE("heed goto and heed check find the first step with a wrong gradient of exercise 06d",
          "[debug][.]") {
  if (can_call()) check_transcript("late_error");
}

TEST_CASE("the sessions in docs/debugging.md are excerpts from the transcript of the walk",
          "[debug][.]") {
  const Lines walk = read_transcript("walk").lines;
  const std::string page = content(HEED_SOURCE_DIR "/docs/debugging.md");
  std::size_t found = 0, quoted = 0;
  for (const std::string& line :
       lines_of(normalized(page.substr(0, page.find("## Back in time"))))) {
    if (line == "```") quoted = 1 - quoted;
    if (quoted == 0 || line == "```" || line == "...") continue;
    // The lines come in the order of the transcript.
    const auto same = std::find_if(
        walk.begin() + static_cast<std::ptrdiff_t>(found), walk.end(),
        [&](const std::string& other) { return near_line(line, other) || "N\t" + line == other; });
    INFO("in README.md, not in tests/debug/walk.txt: " << line);
    REQUIRE(same != walk.end());
    found = static_cast<std::size_t>(same - walk.begin());
  }
  CHECK(found > 60);
}

TEST_CASE("heed watch prints the norms of a parameter and of its updates", "[debug][.]") {
  if (!can_debug()) return;
  check_transcript("watch");
  check_transcript("watch_O2");
}

TEST_CASE("heed again returns to the place that heed mark marked", "[debug][.]") {
  if (can_call()) check_transcript("mark");
}

TEST_CASE("heed weights prints the attention weights of one head", "[debug][.]") {
  if (can_debug()) check_transcript("weights");
}

TEST_CASE("heed graph --svg draws the graph with the norms of gradients", "[debug][.]") {
  if (!can_debug()) return;
  const SessionFolder folder;
  const Lines lines = session(folder.path, {programs + "gpt_Og"},
                              {"set environment HEED_TRACE provenance", "break main", "run",
                               "heed step blocks.1", "heed graph --svg", "heed graph --svg"});
  INFO(text_of(lines));
  CHECK(has(text_of(lines), "runs/graph-2.svg"));
  const std::string source = content(folder / "runs/graph.gv");
  INFO(source);
  CHECK(has(source, "n45 [label=\"#45 Add 'blocks.1'\\n(2, 4, 8)\", style=filled"));
  CHECK(has(source, "n49 -> n47 [label=\"0.0124\"];"));
  CHECK(has(source, "n45 -> n44;"));
  if (!path_of("dot").empty()) CHECK(has(content(folder / "runs/graph.svg"), "blocks.1.mlp"));
}

TEST_CASE("gdb steps through a GPT, whose tensors have the names of their layers", "[debug][.]") {
  if (can_debug()) check_transcript("gpt");
}

TEST_CASE("gdb steps through the several backward passes of lesson 05", "[debug][.]") {
  if (can_debug()) check_transcript("lesson_05");
}

TEST_CASE("gdb prints arrays, shapes, parameters, scopes and generators", "[debug][.]") {
  if (can_debug()) check_transcript("printers");
}

TEST_CASE("gdb steps through the backward passes of a training loop", "[debug][.]") {
  if (can_debug()) check_transcript("training");
}

TEST_CASE("heed nan stops at the first value that is not finite", "[debug][.]") {
  if (can_debug()) check_transcript("nan_forward");
}

TEST_CASE("heed nan stops at the first gradient that is not finite", "[debug][.]") {
  if (can_debug()) check_transcript("nan_backward");
}

TEST_CASE("every wrong use of a heed command gets one line that names the remedy", "[debug][.]") {
  if (can_debug()) check_transcript("wrong_use");
}

TEST_CASE("heed commands work on core files, of a lesson and a GPT, at -Og and -O2",
          "[debug][core][.]") {
  if (!can_debug()) return;
  check_core("core", "heed::Softmax::backward");
  check_core("core_O2", "heed::Softmax::backward");
  check_core("core_gpt", "heed::Attention::backward");
  check_core("core_gpt_O2", "heed::Attention::backward");
}

TEST_CASE("a program without -g or without heed gets a one-line error", "[debug][.]") {
  if (!can_debug() || path_of("strip").empty()) return;
  const SessionFolder folder;
  const std::string bare = folder / "bare";
  REQUIRE(run({{path_of("strip"), "-g", "-o", bare, lesson}, folder.path, "", {}}).code == 0);
  for (const char* command : {"heed graph", "heed step", "heed show A", "heed nan"}) {
    const Lines lines = session(folder.path, {bare}, {"break main", "run > out.txt", command});
    INFO(text_of(lines));
    CHECK(lines.at(lines.size() - 1) ==
          "heed: this program was built without -g, so gdb finds no variables; build it with "
          "`cmake --preset debug && cmake --build --preset debug`");
    const Lines other = session(folder.path, {"/bin/true"}, {command});
    INFO(text_of(other));
    CHECK(other.back().rfind("heed: this is not a heed program; start gdb with one", 0) == 0);
  }
}

TEST_CASE("a program with -g whose library has none gets an error about the library",
          "[debug][.]") {
  if (!can_debug()) return;
#ifdef NDEBUG  // a release build compiles lessons with -g, and the library without
  const SessionFolder folder;
  const std::string release = HEED_BINARY_DIR "/lessons/06_backward_through_attention";
  for (const char* command : {"heed graph", "heed step", "heed nan"}) {
    const Lines lines = session(folder.path, {release}, {"break main", "run > out.txt", command});
    INFO(text_of(lines));
    CHECK(has(lines.back(), "heed: this program has -g, but its library heed was built without"));
  }
#endif
}

TEST_CASE("a program that runs no operation is not said to lack -g", "[debug][.]") {
  if (!can_debug()) return;
  const SessionFolder folder;
  const Lines lines = session(folder.path, {programs + "exercise_06_Og"},
                              {"break softmax_rows", "run > out.txt", "up", "print scores",
                               "delete", "heed step", "heed watch Q", "heed nan"});
  const std::string text = text_of(lines);
  INFO(text);
  CHECK(has(text, "$1 = (3, 3)\n"));
  CHECK(has(text, "heed: this program runs no operation of heed, which `heed step` needs; gdb's"));
  CHECK(has(text, "heed: this program runs no operation of heed, which `heed watch` needs; gdb's"));
  CHECK(has(text, "the program ended; since `heed nan` all values and gradients were finite"));
}

TEST_CASE("gdb's commands read a program that computes in double", "[debug][.]") {
  if (can_call()) check_transcript("double");
}

TEST_CASE("heed check works at -O2", "[debug][.]") {
  if (!can_call()) return;
  const SessionFolder folder;
  const Lines lines = session(folder.path, {programs + "lesson_06_O2"},
                              {"break main", "run > out.txt", "heed step MatMul", "heed check",
                               "heed step Softmax", "heed check", "heed check K"});
  INFO(text_of(lines));
  CHECK(
      std::regex_search(text_of(lines), std::regex("#12 MatMul 'O' [^\n]*: its backward is right\n"
                                                   "  input 0, A [^\n]*\n  input 1, V ")));
  CHECK(std::regex_search(text_of(lines),
                          std::regex("#11 Softmax 'A' [^\n]*: its backward is right")));
  CHECK(has(text_of(lines), "its backward is right, for a random upstream gradient"));
}

TEST_CASE("a breakpoint on every backward stops in every operation", "[debug][.]") {
  if (!can_debug()) return;
  const SessionFolder folder;
  const Lines commands = {"set breakpoint pending on", "rbreak ^heed::[A-Z][A-Za-z]*::backward",
                          "run > out.txt",  // rbreak also sets breakpoints in lambdas
                          "python [gdb.execute('continue') for _ in range(100)]"};
  const std::string out = gdb(folder.path, {lesson}, commands).out;
  for (const char* operation : {"Sum", "Power", "Subtract", "MatMul", "Softmax", "MaskedFill",
                                "DivideByConstant", "Permute"}) {
    INFO(operation << "\n" << out);
    CHECK(std::regex_search(
        out, std::regex("Breakpoint [0-9]+, heed::" + std::string(operation) + "::backward \\(")));
  }
}

TEST_CASE("the location of a node is the line that calls the operation", "[debug][.]") {
  if (!can_debug()) return;
  const SessionFolder folder;
  const std::string out = gdb(folder.path, {lesson},
                              {"source tools/debugger/heed_gdb.py", "break heed::Softmax::backward",
                               "run > out.txt", "heed graph"})
                              .out;
  std::smatch location;
  INFO(out);
  REQUIRE(std::regex_search(
      out, location, std::regex("=> #\\d+ +Softmax +A .* (lessons/06_\\w+/lesson\\.cpp):(\\d+)")));
  const std::vector<std::string> lines = lines_of(content(HEED_SOURCE_DIR "/" + location[1].str()));
  CHECK(lines.at(std::stoul(location[2]) - 1).find("softmax(") != std::string::npos);
}

TEST_CASE("heed save writes .npy and .csv files", "[debug][.]") {
  if (!can_debug()) return;
  const SessionFolder folder;
  const Lines lines = session(folder.path, {lesson},
                              {"break heed::Softmax::backward", "run > out.txt",
                               "heed save A a.npy", "heed save A a.csv", "heed save grad A g.csv"});
  INFO(text_of(lines));
  const std::string npy = content(folder / "a.npy");
  REQUIRE(npy.size() == 128 + 9 * sizeof(float));
  CHECK(npy.substr(0, 8) == std::string("\x93NUMPY\x01\x00", 8));
  CHECK(npy.find("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 3), }") == 10);
  float first = 0, fourth = 0;
  std::memcpy(&first, npy.data() + 128, sizeof first);
  std::memcpy(&fourth, npy.data() + 128 + 3 * sizeof fourth, sizeof fourth);
  CHECK(first == 1);
  CHECK(near_line("0.9546", std::to_string(fourth)));
  const Lines rows = lines_of(content(folder / "a.csv"));
  REQUIRE(rows.size() == 3);
  CHECK(rows[0] == "1,0,0");
  CHECK(near_line(rows[2], "0.2563,0.7156,0.0281"));
  CHECK(near_line(lines_of(content(folder / "g.csv")).at(2), "2.4042,-1.1234,1.7477"));
}
