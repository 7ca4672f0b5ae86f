// debug_test.cpp: gdb and LLDB sessions with heed's commands, compared with transcripts.
//
// A transcript (*.txt) has the program on its first line, then the commands after "(gdb)" and their
// output. Numbers must agree to four digits; line numbers of source files may differ. If
// HEED_WRITE_TRANSCRIPTS is set, the tests write the transcripts; review the changes afterwards.

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <regex>

#include "app/child.hpp"
#include "catch.hpp"
#include "heed/base/text.hpp"
#include "lessons/programs.hpp"
#include "scratch_folder.hpp"

using namespace heed_test;

namespace {

using Lines = std::vector<std::string>;

const std::string programs = HEED_BINARY_DIR "/tests/debug/";

// The path of a program in PATH, or "".
std::string path_of(const std::string& program) {
  const char* const path = std::getenv("PATH");
  for (const std::string& folder : heed::split(path != nullptr ? path : "", ':'))
    if (::access((folder + "/" + program).c_str(), X_OK) == 0) return folder + "/" + program;
  return "";
}

// Runs these commands in gdb, which prints each one before its output.
Finished gdb(const std::filesystem::path& folder, const Arguments& program, const Lines& commands) {
  Arguments arguments = {"/bin/sh",
                         "-c",
                         "exec \"$@\" 2>&1",
                         "sh",
                         path_of("gdb"),
                         "-q",
                         "-nx",
                         "-batch",
                         "-iex",
                         "set pagination off",
                         "-iex",
                         "set debuginfod enabled off",
                         "-iex",
                         "set confirm off",
                         "-iex",
                         "set width 0"};
  for (const std::string& line : commands)
    arguments = arguments + Arguments{"-ex", "echo \\n(gdb) " + line + "\\n", "-ex", line};
  return run({arguments + Arguments{"--args"} + program,
              folder,
              "",
              {{"OMP_NUM_THREADS", "1"}, {"OPENBLAS_NUM_THREADS", "1"}, {"NO_COLOR", "1"}}});
}

// The reason why gdb cannot be tested on this machine, or "".
std::string reason_to_skip() {
  if (path_of("gdb").empty()) return "gdb is not installed";
  const std::string out = gdb("/", {"/bin/true"}, {"python print(6 * 7)", "run"}).out;
  if (!has(out, "\n42\n")) return "this gdb has no Python";
  return has(out, "exited normally") ? "" : "gdb may not trace programs here";
}

bool can_debug() {
  static const std::string reason = reason_to_skip();
  if (!reason.empty()) WARN("skipped: " + reason);
  return reason.empty();
}

// Replaces paths, addresses and line numbers, which depend on the machine or on source edits.
std::string normalized(std::string text) {
  const std::string root = HEED_SOURCE_DIR "/";
  for (std::size_t i; (i = text.find(root)) != text.npos;) text.erase(i, root.size());
  text = std::regex_replace(text, std::regex("0x[0-9a-f]+"), "0x");
  text = std::regex_replace(text, std::regex("([ch]pp):[0-9]+"), "$1:N");
  text = std::regex_replace(text, std::regex("\n[0-9]+\t"), "\nN\t");
  text = std::regex_replace(text, std::regex("line = [0-9]+"), "line = N");
  return std::regex_replace(text, std::regex("process [0-9]+"), "process N");
}

// Whether gdb itself printed this line. Transcripts omit such lines.
bool is_gdb_message(const std::string& line) {
  for (const char* start : {"[Thread debugging", "Using host lib", "[New ", "[Thread ",
                            "warning: ", "Core was generated", "Saved corefile", "[Detaching",
                            "[Current thread", "Program terminated", "Breakpoint "})
    if (line.rfind(start, 0) == 0) return true;
  return line.empty() || std::regex_search(line, std::regex("^#[0-9]+ +0x in "));
}

Lines session_lines(const std::string& output) {
  Lines result;
  for (const std::string& line : lines_of(normalized(output)))
    if (!is_gdb_message(line)) result.push_back(line);
  return result;
}

// Whether two lines are equal up to the last digits of numbers with a decimal point.
bool near_line(const std::string& a, const std::string& b) {
  static const std::regex number("-?[0-9]+\\.[0-9]+(e[-+][0-9]+)?");
  const auto without_numbers = [](const std::string& line) {
    return std::regex_replace(std::regex_replace(line, number, "#"), std::regex(" +"), " ");
  };
  if (without_numbers(a) != without_numbers(b)) return false;
  const std::sregex_iterator end;
  std::sregex_iterator x(a.begin(), a.end(), number), y(b.begin(), b.end(), number);
  for (; x != end; ++x, ++y) {
    const double p = std::stod(x->str()), q = std::stod(y->str());
    if (std::abs(p - q) > 1.01e-4 * std::max({1.0, std::abs(p), std::abs(q)}) &&
        std::abs(p - q) > 1e-3 * std::abs(q))
      return false;
  }
  return true;
}

std::string transcript_path(const std::string& name) {
  return HEED_SOURCE_DIR "/tests/debug/" + name + ".txt";
}

struct Transcript {
  Arguments program;
  Lines commands, lines;  // `lines` has the commands and their output
};

Transcript read_transcript(const std::string& name) {
  Transcript result;
  for (const std::string& line : lines_of(content(transcript_path(name)))) {
    if (line.rfind("$ ", 0) == 0) {
      result.program = heed::split(line.substr(2), ' ');
      continue;
    }
    if (line.rfind("(gdb) ", 0) == 0) result.commands.push_back(line.substr(6));
    if (!line.empty()) result.lines.push_back(line);
  }
  return result;
}

void write_transcript(const std::string& name, const Transcript& expected, const Lines& lines) {
  std::ofstream file(transcript_path(name));
  file << "$ " << heed::joined(expected.program, " ") << '\n';
  for (const std::string& line : lines) {
    if (line.rfind("(gdb) ", 0) == 0) file << '\n';
    file << line << '\n';
  }
}

void compare(const std::string& name, const Transcript& expected, const Lines& lines) {
  if (std::getenv("HEED_WRITE_TRANSCRIPTS") != nullptr)
    return write_transcript(name, expected, lines);
  for (std::size_t i = 0; i < std::max(lines.size(), expected.lines.size()); ++i) {
    const std::string line = i < lines.size() ? lines[i] : "(no more lines)";
    const std::string wanted = i < expected.lines.size() ? expected.lines[i] : "(no more lines)";
    INFO(name << ", line " << i + 1 << "\n  expected " << wanted << "\n  printed  " << line);
    REQUIRE(near_line(line, wanted));
  }
}

// A folder for a session, with a link to the project's tools.
struct SessionFolder : ScratchFolder {
  SessionFolder() {
    std::filesystem::create_directory_symlink(HEED_SOURCE_DIR "/tools", path / "tools");
  }
};

Lines session(const std::filesystem::path& folder, const Arguments& program, Lines commands) {
  commands.insert(commands.begin(), "source tools/debugger/heed_gdb.py");
  return session_lines(gdb(folder, program, commands).out);
}

std::string text_of(const Lines& lines) { return heed::joined(lines, "\n"); }

// Removes source lines: which line of a function comes first depends on the optimisation level.
Lines without_source(const Lines& lines) {
  Lines result;
  for (const std::string& line : lines)
    if (line.rfind("N\t", 0) != 0) result.push_back(line);
  return result;
}

// The output of the transcript's commands, in the transcript's program unless one is given.
Lines replayed(const std::string& name, const std::filesystem::path& folder, Arguments program) {
  const Transcript expected = read_transcript(name);
  REQUIRE(!expected.commands.empty());
  if (program.empty()) {
    program = expected.program;
    program[0] = programs + program[0];
  }
  const Finished finished = gdb(folder, program, expected.commands);
  CHECK(finished.out.find("Traceback") == std::string::npos);
  return session_lines(finished.out);
}

void check_transcript(const std::string& name) {
  const SessionFolder folder;
  compare(name, read_transcript(name), replayed(name, folder.path, {}));
}

void check_lesson_09_at(const std::string& level) {
  const SessionFolder folder;
  Transcript expected = read_transcript("lesson_09");
  expected.lines = without_source(expected.lines);
  if (std::getenv("HEED_WRITE_TRANSCRIPTS") != nullptr) return;  // only the test at -Og writes
  compare("lesson_09 at -" + level, expected,
          without_source(replayed("lesson_09", folder.path, {programs + "lesson_09_" + level})));
}

const std::string lesson = programs + "lesson_09_Og";

}  // namespace

TEST_CASE("gdb steps the backward pass of lesson 09 node by node", "[debug][.]") {
  if (can_debug()) check_transcript("lesson_09");
}

TEST_CASE("the session of lesson 09 is the same at -O0 and -O2", "[debug][.]") {
  if (!can_debug()) return;
  check_lesson_09_at("O0");
  check_lesson_09_at("O2");
}

TEST_CASE("gdb steps through the several backward passes of lesson 08", "[debug][.]") {
  if (can_debug()) check_transcript("lesson_08");
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

TEST_CASE("heed commands work on a core file", "[debug][.]") {
  if (!can_debug()) return;
  const SessionFolder folder;
  const Lines printed = session(
      folder.path, {lesson},
      {"break heed::Softmax::backward", "run > out.txt", "generate-core-file program.core"});
  INFO(text_of(printed));
  REQUIRE(std::filesystem::exists(folder / "program.core"));
  compare("core", read_transcript("core"), replayed("core", folder.path, {lesson}));
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
  REQUIRE(std::regex_search(out, location,
                            std::regex("=> #\\d+ +Softmax +A .* (lessons/09_\\w+\\.cpp):(\\d+)")));
  const std::vector<std::string> lines = lines_of(content(HEED_SOURCE_DIR "/" + location[1].str()));
  CHECK(lines.at(std::stoul(location[2]) - 1).find("softmax(") != std::string::npos);
}

TEST_CASE("an IDE can expand tensors and arrays", "[debug][.]") {
  if (!can_debug()) return;
  const SessionFolder folder;
  const Arguments arguments = {path_of("gdb"), "-q", "-nx", "-i=mi", "--args", lesson};
  const std::string commands =
      "source tools/debugger/heed_gdb.py\n-enable-pretty-printing\nset print heed-matrices "
      "off\nbreak "
      "heed::Softmax::backward\n"
      "run > out.txt\nframe function main\n-var-create t * now.A\n-var-list-children 1 t\n"
      "-var-list-children 1 t.value\n-var-list-children 1 t.value.[1]\n-gdb-exit\n";
  const std::string out =
      run({arguments, folder.path, commands, {{"OPENBLAS_NUM_THREADS", "1"}}}).out;
  INFO(out);
  CHECK(out.find("exp=\"shape\",numchild=\"0\",value=\"(3, 3)\"") != out.npos);
  CHECK(out.find("exp=\"grad\"") != out.npos);
  CHECK(out.find("exp=\"[1]\"") != out.npos);
  CHECK(std::regex_search(out, std::regex("exp=\"0\",[^{]*value=\"0\\.954")));
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

TEST_CASE("LLDB prints the graph, steps to a node and prints its upstream gradient", "[debug][.]") {
  const std::string lldb = path_of("lldb").empty() ? path_of("lldb-14") : path_of("lldb");
  if (lldb.empty()) {
    WARN("skipped: LLDB is not installed");
    return;
  }
  const SessionFolder folder;
  Arguments arguments = {"/bin/sh", "-c", "exec \"$@\" 2>&1", "sh", lldb, "-b"};
  for (const char* line : {"command script import tools/debugger/heed_lldb.py",
                           "breakpoint set -n heed::Softmax::backward", "run", "heed graph",
                           "heed step K", "heed show dy"})
    arguments = arguments + Arguments{"-o", line};
  // Debian's LLDB 14 does not find its Python module by itself.
  const char* const modules = "/usr/lib/llvm-14/lib/python3.11/dist-packages";
  const std::string out =
      run({arguments + Arguments{lesson}, folder.path, "", {{"PYTHONPATH", modules}}}).out;
  if (has(out, "error: module importing failed") || !has(out, "stop reason = breakpoint")) {
    WARN("skipped: this LLDB has no Python, or may not trace programs here");
    return;
  }
  INFO(out);
  CHECK(has(out, "=> #11  Softmax           A      (3, 3)  from #10     3.2141"));
  CHECK(has(out, "#6 MatMul 'K' (3, 4), made at "));
  CHECK(has(out, "-0.0747  -0.9687  -1.2650   0.3933"));
  CHECK(has(out, "min -1.2650, max 1.3681, "));
}
