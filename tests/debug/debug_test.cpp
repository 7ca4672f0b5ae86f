// debug_test.cpp: sessions in gdb print what their transcripts hold.
//
// A transcript is a session: the program on the first line, then what is typed after (gdb) and what
// comes back. Numbers are compared to four digits, lines of source files not at all. With
// HEED_WRITE_TRANSCRIPTS set, the sessions are written anew; read the difference before keeping it.

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <regex>

#include "app/child.hpp"
#include "catch.hpp"
#include "io/file_tests.hpp"
#include "lessons/programs.hpp"

using namespace heed_test;

namespace {

const std::string programs = HEED_BINARY_DIR "/tests/debug/";

std::string found(const std::string& program) {
  std::istringstream path(std::getenv("PATH") != nullptr ? std::getenv("PATH") : "");
  for (std::string folder; std::getline(path, folder, ':');)
    if (::access((folder + "/" + program).c_str(), X_OK) == 0) return folder + "/" + program;
  return "";
}

// gdb with these lines typed; each is echoed, so that what comes back can be told apart.
Finished gdb(const std::filesystem::path& folder, const Words& program, const Words& typed) {
  Words words = {"/bin/sh",
                 "-c",
                 "exec \"$@\" 2>&1",
                 "sh",
                 found("gdb"),
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
  for (const std::string& line : typed)
    words = words + Words{"-ex", "echo \\n(gdb) " + line + "\\n", "-ex", line};
  return run({words + Words{"--args"} + program,
              folder,
              "",
              {{"OMP_NUM_THREADS", "1"}, {"OPENBLAS_NUM_THREADS", "1"}, {"NO_COLOR", "1"}}});
}

// Empty, or why no session can be held here.
std::string missing() {
  if (found("gdb").empty()) return "gdb is not installed";
  const std::string said = gdb("/", {"/bin/true"}, {"python print(6 * 7)", "run"}).out;
  if (said.find("\n42\n") == said.npos) return "this gdb has no Python";
  return said.find("exited normally") == said.npos ? "gdb may not trace programs here" : "";
}

bool can_debug() {
  static const std::string why = missing();
  if (!why.empty()) WARN("skipped: " + why);
  return why.empty();
}

// What differs from one machine or one edit of a source file to the next.
std::string without_places(std::string text) {
  const std::string root = HEED_SOURCE_DIR "/";
  for (std::size_t at; (at = text.find(root)) != text.npos;) text.erase(at, root.size());
  text = std::regex_replace(text, std::regex("0x[0-9a-f]+"), "0x");
  text = std::regex_replace(text, std::regex("([ch]pp):[0-9]+"), "$1:N");
  text = std::regex_replace(text, std::regex("\n[0-9]+\t"), "\nN\t");
  text = std::regex_replace(text, std::regex("line = [0-9]+"), "line = N");
  return std::regex_replace(text, std::regex("process [0-9]+"), "process N");
}

bool chatter(const std::string& line) {
  for (const char* start : {"[Thread debugging", "Using host lib", "[New ", "[Thread ",
                            "warning: ", "Core was generated", "Saved corefile", "[Detaching",
                            "[Current thread", "Program terminated", "Breakpoint "})
    if (line.rfind(start, 0) == 0) return true;
  return line.empty() || std::regex_search(line, std::regex("^#[0-9]+ +0x in "));
}

Words session_lines(const std::string& said) {
  Words result;
  for (const std::string& line : lines_of(without_places(said)))
    if (!chatter(line)) result.push_back(line);
  return result;
}

// Equal but for numbers with a point, which may differ in their last digits.
bool near_line(const std::string& a, const std::string& b) {
  static const std::regex number("-?[0-9]+\\.[0-9]+(e[-+][0-9]+)?");
  const auto words = [](const std::string& line) {
    return std::regex_replace(std::regex_replace(line, number, "#"), std::regex(" +"), " ");
  };
  if (words(a) != words(b)) return false;
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
  Words program, typed, lines;
};

Transcript transcript(const std::string& name) {
  Transcript result;
  for (const std::string& line : lines_of(contents(transcript_path(name)))) {
    if (line.rfind("$ ", 0) == 0) {
      std::istringstream words(line.substr(2));
      for (std::string word; words >> word;) result.program.push_back(word);
      continue;
    }
    if (line.rfind("(gdb) ", 0) == 0) result.typed.push_back(line.substr(6));
    if (!line.empty()) result.lines.push_back(line);
  }
  return result;
}

void write(const std::string& name, const Transcript& golden, const Words& lines) {
  std::ofstream file(transcript_path(name));
  file << "$";
  for (const std::string& word : golden.program) file << ' ' << word;
  file << '\n';
  for (const std::string& line : lines) {
    if (line.rfind("(gdb) ", 0) == 0) file << '\n';
    file << line << '\n';
  }
}

void compare(const std::string& name, const Transcript& golden, const Words& lines) {
  if (std::getenv("HEED_WRITE_TRANSCRIPTS") != nullptr) return write(name, golden, lines);
  for (std::size_t i = 0; i < std::max(lines.size(), golden.lines.size()); ++i) {
    const std::string got = i < lines.size() ? lines[i] : "(no more lines)";
    const std::string wanted = i < golden.lines.size() ? golden.lines[i] : "(no more lines)";
    INFO(name << ", line " << i + 1 << "\n  wanted " << wanted << "\n  got    " << got);
    REQUIRE(near_line(got, wanted));
  }
}

// A folder for a session, from which heed_gdb.py is at hand as in the project.
struct Desk : TemporaryFolder {
  Desk() { std::filesystem::create_directory_symlink(HEED_SOURCE_DIR "/src", path / "src"); }
};

Words session(const std::filesystem::path& folder, const Words& program, const Words& typed) {
  return session_lines(
      gdb(folder, program, Words{"source tools/debugger/heed_gdb.py"} + typed).out);
}

std::string joined(const Words& lines) {
  std::string result;
  for (const std::string& line : lines) result += line + "\n";
  return result;
}

// Where the optimiser has put the first line is its own affair.
Words without_source(const Words& lines) {
  Words result;
  for (const std::string& line : lines)
    if (line.rfind("N\t", 0) != 0) result.push_back(line);
  return result;
}

// The session of that transcript; errors come between the rest, as one sees them.
Words held(const std::string& name, const std::filesystem::path& folder, Words program) {
  const Transcript golden = transcript(name);
  REQUIRE(!golden.typed.empty());
  if (program.empty()) {
    program = golden.program;
    program[0] = programs + program[0];
  }
  const Finished finished = gdb(folder, program, golden.typed);
  CHECK(finished.out.find("Traceback") == std::string::npos);
  return session_lines(finished.out);
}

void hold(const std::string& name) {
  const Desk desk;
  compare(name, transcript(name), held(name, desk.path, {}));
}

void hold_at(const std::string& level) {
  const Desk desk;
  Transcript golden = transcript("lesson_09");
  golden.lines = without_source(golden.lines);
  if (std::getenv("HEED_WRITE_TRANSCRIPTS") != nullptr) return;  // -Og writes it
  compare("lesson_09 at -" + level, golden,
          without_source(held("lesson_09", desk.path, {programs + "lesson_09_" + level})));
}

const std::string lesson = programs + "lesson_09_Og";

}  // namespace

TEST_CASE("gdb steps the backward pass of lesson 09 node by node", "[debug][.]") {
  if (can_debug()) hold("lesson_09");
}

TEST_CASE("gdb steps it as well without optimisation and with all of it", "[debug][.]") {
  if (!can_debug()) return;
  hold_at("O0");
  hold_at("O2");
}

TEST_CASE("gdb steps through the several backward passes of lesson 08", "[debug][.]") {
  if (can_debug()) hold("lesson_08");
}

TEST_CASE("gdb prints arrays, shapes, parameters, scopes and generators", "[debug][.]") {
  if (can_debug()) hold("printers");
}

TEST_CASE("gdb steps through a few steps of training", "[debug][.]") {
  if (can_debug()) hold("training");
}

TEST_CASE("heed nan stops at the first value that is not finite", "[debug][.]") {
  if (can_debug()) hold("nan_forward");
}

TEST_CASE("heed nan stops at the first gradient that is not finite", "[debug][.]") {
  if (can_debug()) hold("nan_backward");
}

TEST_CASE("every wrong use is answered by one line that says what to do", "[debug][.]") {
  if (can_debug()) hold("wrong_use");
}

TEST_CASE("a core file shows what the program showed", "[debug][.]") {
  if (!can_debug()) return;
  const Desk desk;
  const Words made = session(
      desk.path, {lesson},
      {"break heed::Softmax::backward", "run > out.txt", "generate-core-file program.core"});
  INFO(joined(made));
  REQUIRE(std::filesystem::exists(desk / "program.core"));
  compare("core", transcript("core"), held("core", desk.path, {lesson}));
}

TEST_CASE("a program without -g, and one that is not heed's, are told by one line", "[debug][.]") {
  if (!can_debug() || found("strip").empty()) return;
  const Desk desk;
  const std::string bare = desk / "bare";
  REQUIRE(run({{found("strip"), "-g", "-o", bare, lesson}, desk.path, "", {}}).code == 0);
  for (const char* command : {"heed graph", "heed step", "heed show A", "heed nan"}) {
    const Words lines = session(desk.path, {bare}, {"break main", "run > out.txt", command});
    INFO(joined(lines));
    CHECK(lines.at(lines.size() - 1) ==
          "heed: this program was built without -g, so its values have no names; build it with "
          "`cmake --preset debug && cmake --build --preset debug`");
    const Words other = session(desk.path, {"/bin/true"}, {command});
    INFO(joined(other));
    CHECK(other.back().rfind("heed: this is not a heed program; start gdb with one", 0) == 0);
  }
}

TEST_CASE("a breakpoint on every backward stops in every operation", "[debug][.]") {
  if (!can_debug()) return;
  const Desk desk;
  const Words typed = {"set breakpoint pending on", "rbreak ^heed::[A-Z][A-Za-z]*::backward",
                       "run > out.txt",  // it stops in lambdas inside of them as well
                       "python [gdb.execute('continue') for _ in range(100)]"};
  const std::string said = gdb(desk.path, {lesson}, typed).out;
  for (const char* operation : {"Sum", "Power", "Subtract", "MatMul", "Softmax", "MaskedFill",
                                "DivideByConstant", "Permute"}) {
    INFO(operation << "\n" << said);
    CHECK(std::regex_search(
        said, std::regex("Breakpoint [0-9]+, heed::" + std::string(operation) + "::backward \\(")));
  }
}

TEST_CASE("the place where a node was made is the line that calls the operation", "[debug][.]") {
  if (!can_debug()) return;
  const Desk desk;
  const std::string said = gdb(desk.path, {lesson},
                               {"source tools/debugger/heed_gdb.py",
                                "break heed::Softmax::backward", "run > out.txt", "heed graph"})
                               .out;
  std::smatch place;
  INFO(said);
  REQUIRE(std::regex_search(said, place,
                            std::regex("=> #\\d+ +Softmax +A .* (lessons/09_\\w+\\.cpp):(\\d+)")));
  const std::vector<std::string> lines = lines_of(contents(HEED_SOURCE_DIR "/" + place[1].str()));
  CHECK(lines.at(std::stoul(place[2]) - 1).find("softmax(") != std::string::npos);
}

TEST_CASE("an IDE can open tensors and arrays", "[debug][.]") {
  if (!can_debug()) return;
  const Desk desk;
  const Words words = {found("gdb"), "-q", "-nx", "-i=mi", "--args", lesson};
  const std::string typed =
      "source tools/debugger/heed_gdb.py\n-enable-pretty-printing\nset print heed-matrices "
      "off\nbreak "
      "heed::Softmax::backward\n"
      "run > out.txt\nframe function main\n-var-create t * now.A\n-var-list-children 1 t\n"
      "-var-list-children 1 t.value\n-var-list-children 1 t.value.[1]\n-gdb-exit\n";
  const std::string said = run({words, desk.path, typed, {{"OPENBLAS_NUM_THREADS", "1"}}}).out;
  INFO(said);
  CHECK(said.find("exp=\"shape\",numchild=\"0\",value=\"(3, 3)\"") != said.npos);
  CHECK(said.find("exp=\"grad\"") != said.npos);
  CHECK(said.find("exp=\"[1]\"") != said.npos);
  CHECK(std::regex_search(said, std::regex("exp=\"0\",[^{]*value=\"0\\.954")));
}

TEST_CASE("heed save writes what NumPy and a spreadsheet read", "[debug][.]") {
  if (!can_debug()) return;
  const Desk desk;
  const Words lines = session(desk.path, {lesson},
                              {"break heed::Softmax::backward", "run > out.txt",
                               "heed save A a.npy", "heed save A a.csv", "heed save grad A g.csv"});
  INFO(joined(lines));
  const std::string npy = content(desk / "a.npy");
  REQUIRE(npy.size() == 128 + 9 * sizeof(float));
  CHECK(npy.substr(0, 8) == std::string("\x93NUMPY\x01\x00", 8));
  CHECK(npy.find("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 3), }") == 10);
  float first = 0, fourth = 0;
  std::memcpy(&first, npy.data() + 128, sizeof first);
  std::memcpy(&fourth, npy.data() + 128 + 3 * sizeof fourth, sizeof fourth);
  CHECK(first == 1);
  CHECK(near_line("0.9546", std::to_string(fourth)));
  const Words rows = lines_of(content(desk / "a.csv"));
  REQUIRE(rows.size() == 3);
  CHECK(rows[0] == "1,0,0");
  CHECK(near_line(rows[2], "0.2563,0.7156,0.0281"));
  CHECK(near_line(lines_of(content(desk / "g.csv")).at(2), "2.4042,-1.1234,1.7477"));
}

TEST_CASE("LLDB shows the graph, steps on to a node and prints what arrived", "[debug][.]") {
  const std::string lldb = found("lldb").empty() ? found("lldb-14") : found("lldb");
  if (lldb.empty()) {
    WARN("skipped: LLDB is not installed");
    return;
  }
  const Desk desk;
  Words words = {"/bin/sh", "-c", "exec \"$@\" 2>&1", "sh", lldb, "-b"};
  for (const char* typed : {"command script import tools/debugger/heed_lldb.py",
                            "breakpoint set -n heed::Softmax::backward", "run", "heed graph",
                            "heed step K", "heed show dy"})
    words = words + Words{"-o", typed};
  // Debian's LLDB 14 looks for its own module elsewhere.
  const char* const modules = "/usr/lib/llvm-14/lib/python3.11/dist-packages";
  const std::string said =
      run({words + Words{lesson}, desk.path, "", {{"PYTHONPATH", modules}}}).out;
  if (has(said, "error: module importing failed") || !has(said, "stop reason = breakpoint")) {
    WARN("skipped: this LLDB has no Python, or may not trace programs here");
    return;
  }
  INFO(said);
  CHECK(has(said, "=> #11  Softmax           A      (3, 3)  from #10     3.2141"));
  CHECK(has(said, "#6 MatMul 'K' (3, 4), made at "));
  CHECK(has(said, "-0.0747  -0.9687  -1.2650   0.3933"));
  CHECK(has(said, "min -1.2650, max 1.3681, "));
}
