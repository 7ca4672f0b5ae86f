// robustness_test.cpp: random input, speed, and calls into the program, in gdb.

#include <algorithm>
#include <random>

#include "debug/lldb_sessions.hpp"

using namespace heed_test;

namespace {

// Random words of a command line: commands, tensors, numbers, expressions and nonsense.
std::string random_words(std::mt19937& random) {
  static const Lines words = {"graph",     "step",
                              "out",       "in",
                              "check",     "grad",
                              "show",      "why",
                              "nan",       "back",
                              "save",      "watch",
                              "weights",   "mark",
                              "again",     "A",
                              "W_K",       "now",
                              "now.A",     "dy",
                              "#0",        "#11",
                              "#99999999", "-1",
                              "0",         "3",
                              "1e9",       "Sum",
                              "$",         "$1",
                              "(((",       "\"",
                              "'",         "\\",
                              "Grüße",     "*this",
                              "1/0",       "main",
                              "now.K",     "--svg",
                              "all",       "x.npy",
                              "/nowhere",  ".csv",
                              "Q K^T",     "&",
                              "[3]",       "words[99]",
                              "a+b",       "heed",
                              "%s%n",      "{}",
                              "::",        "grad A",
                              "main()",    "@",
                              "Softmax",   "token.weight",
                              "stdout",    "errno",
                              "nullptr",   "words",
                              "²",         "1.5",
                              "#",         "#x"};
  std::string line = "heed";
  for (std::size_t count = 1 + random() % 4; count > 0; --count) {
    line += " " + words[random() % words.size()];
    if (random() % 8 == 0) line += words[random() % words.size()];
  }
  return line;
}

// Writes command lines with 1,000 words in all.
void write_random_lines(const std::string& path) {
  std::ofstream file(path);
  std::mt19937 random(2026);
  for (std::size_t words = 0; words < 1000;) {
    const std::string line = random_words(random);
    words += static_cast<std::size_t>(std::count(line.begin(), line.end(), ' '));
    file << line << '\n';
  }
}

}  // namespace

TEST_CASE("no random command line makes a heed command print a traceback", "[debug][fuzz][.]") {
  if (!can_debug()) return;
  const SessionFolder folder;
  write_random_lines(folder / "lines.txt");
  {
    std::ofstream script(folder / "fuzz.py");
    script << "import gdb\n"
              "wrong = 0\n"
              "for i, line in enumerate(open('lines.txt', encoding='utf-8')):\n"
              "    if gdb.selected_thread() is None:\n"
              "        gdb.execute('run > out.txt', to_string=True)\n"
              "    try:\n"
              "        gdb.execute(line.rstrip('\\n'), to_string=True)\n"
              "    except gdb.error as error:\n"
              "        text = str(error)\n"
              "        if not text.startswith('heed: ') or '\\n' in text or ' failed: ' in text:\n"
              "            wrong += 1\n"
              "            print('wrong:', repr(line), repr(text))\n"
              "print('lines:', i + 1, 'wrong:', wrong)\n";
  }
  const std::string out =
      text_of(session(folder.path, {programs + "lesson_06_Og"},
                      {"break main", "break gradient_descent", "source fuzz.py"}));
  INFO(out);
  CHECK_FALSE(has(out, "Traceback"));
  CHECK(std::regex_search(out, std::regex("lines: [0-9]+ wrong: 0(\n|$)")));
}

TEST_CASE("LLDB: no random command line prints a traceback", "[debug][lldb][fuzz][.]") {
  if (!can_use_lldb()) return;
  const SessionFolder folder;
  write_random_lines(folder / "lines.txt");
  std::ofstream(folder / "fuzz.py")
      << "import lldb\n"
         "debugger, wrong = lldb.debugger, 0\n"
         "for i, line in enumerate(open('lines.txt', encoding='utf-8')):\n"
         "    result = lldb.SBCommandReturnObject()\n"
         "    if debugger.GetSelectedTarget().GetProcess().GetState() != lldb.eStateStopped:\n"
         "        debugger.HandleCommand('process launch -o out.txt')\n"
         "    debugger.GetCommandInterpreter().HandleCommand(line.rstrip('\\n'), result)\n"
         "    text = (result.GetError() or '').strip()\n"
         "    if text and (not text.startswith('error: heed: ') or '\\n' in text or ' failed: ' in "
         "text):\n"
         "        wrong += 1\n"
         "        print('wrong:', repr(line), repr(text))\n"
         "print('lines:', i + 1, 'wrong:', wrong)\n";
  const std::string out = lldb(folder.path, {programs + "lesson_06_Og"},
                               {"breakpoint set -n main", "breakpoint set -n gradient_descent",
                                "process launch -o out.txt", "command script import fuzz.py"});
  INFO(out);
  CHECK_FALSE(has(out, "Traceback"));
  CHECK(std::regex_search(out, std::regex("lines: [0-9]+ wrong: 0(\n|$)")));
}

TEST_CASE("gdb prints an array of 1,000,000 elements in less than a second", "[debug][speed][.]") {
  if (!can_debug()) return;
  const SessionFolder folder;
  {
    std::ofstream script(folder / "time.py");
    script << "import gdb, time\n"
              "for name in ('cube', 'gpt', 'tokens'):\n"
              "    times = []\n"
              "    for _ in range(7):\n"
              "        start = time.perf_counter()\n"
              "        text = gdb.execute('print ' + name, to_string=True)\n"
              "        times.append(time.perf_counter() - start)\n"
              "    print(name, 'quick' if min(times) < 1 else 'slow: %.3f s' % min(times))\n";
  }
  const std::string out = text_of(
      session(folder.path, {programs + "gpt_Og"},
              {"break heed::optim::Sgd::step", "run", "up", "print cube", "source time.py"}));
  INFO(out);
  CHECK(has(out, "= (100, 100, 100) 1000000 elements"));
  CHECK(has(out, "cube quick"));
  CHECK(has(out, "gpt quick"));
}

TEST_CASE("only heed check and heed mark call functions of the program", "[debug][calls][.]") {
  if (!can_debug()) return;
  const SessionFolder folder;
  const Lines commands = {"set may-call-functions off",
                          "break main",
                          "run > out.txt",
                          "heed step Softmax",
                          "heed graph",
                          "heed out",
                          "heed step MatMul",
                          "heed in",
                          "heed grad A",
                          "heed why O",
                          "heed show A",
                          "heed back",
                          "heed save A a.npy",
                          "info locals",
                          "frame function main",
                          "info locals",
                          "print now",
                          "heed watch W_K 2",
                          "heed nan"};
  const std::string out = text_of(session(folder.path, {programs + "lesson_06_Og"}, commands));
  INFO(out);
  CHECK_FALSE(std::regex_search(out, std::regex("\n[^(][^\n]*may-call-functions")));
  CHECK(has(out, "since `heed nan` all values and gradients were finite"));
  const std::string checked = text_of(session(folder.path, {programs + "lesson_06_Og"},
                                              {"break main", "run > out.txt", "heed step Softmax",
                                               "set may-call-functions off", "heed check"}));
  INFO(checked);
  CHECK(has(checked, "may-call-functions"));
}
