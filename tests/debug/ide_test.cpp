// ide_test.cpp: gdb's machine interface (MI), with the messages that VS Code's C++ extension sends,
// and the debug adapter protocol, with LLDB's adapter.

#include "debug/lldb_sessions.hpp"

using namespace heed_test;

namespace {

// What gdb answers to these MI commands in lesson 06, with the settings of .vscode/launch.json.
std::string answers(const Lines& commands) {
  const SessionFolder folder;
  Lines lines = {"-enable-pretty-printing",
                 "-interpreter-exec console \"set breakpoint pending on\"",
                 "-interpreter-exec console \"source tools/debugger/heed_gdb.py\"",
                 "-interpreter-exec console \"set print heed-matrices off\"",
                 "-interpreter-exec console \"set args > out.txt\"",
                 "-break-insert -f main",
                 "-exec-run"};
  lines.insert(lines.end(), commands.begin(), commands.end());
  lines.push_back("-gdb-exit");
  const Arguments arguments = {path_of("gdb"), "-q",     "-nx",
                               "-i=mi",        "--args", programs + "lesson_06_Og"};
  return run({arguments,
              folder.path,
              heed::joined(lines, "\n") + "\n",
              {{"OPENBLAS_NUM_THREADS", "1"}, {"OMP_NUM_THREADS", "1"}}})
      .out;
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t i = 0; (i = text.find(part, i)) != text.npos; ++i) ++count;
  return count;
}

}  // namespace

TEST_CASE("an IDE can expand tensors and arrays", "[debug][ide][.]") {
  if (!can_debug()) return;
  const std::string out =
      answers({"-interpreter-exec console \"heed step Softmax\"",
               "-interpreter-exec console \"frame function main\"", "-var-create t * now.A",
               "-var-list-children 1 t", "-var-list-children 1 t.value",
               "-var-list-children 1 t.value.[1]"});
  INFO(out);
  CHECK(has(out, "exp=\"shape\",numchild=\"0\",value=\"(3, 3)\""));
  CHECK(has(out, "exp=\"grad\""));
  CHECK(has(out, "exp=\"[1]\""));
  CHECK(std::regex_search(out, std::regex("exp=\"0\",[^{]*value=\"0\\.954")));
}

TEST_CASE("the variables pane of an IDE shows an array in one line", "[debug][ide][.]") {
  if (!can_debug()) return;
  const std::string out = answers({"-interpreter-exec console \"heed step Softmax\"",
                                   "-stack-list-variables --thread 1 --frame 0 --all-values"});
  INFO(out);
  CHECK(has(out, "{name=\"dy\",arg=\"1\",value=\"(3, 3) norm 3.2141 [-1.1234, 2.4042] = {"));
}

TEST_CASE("each stop of a heed command has a reason for the IDE", "[debug][ide][.]") {
  if (!can_debug()) return;
  const std::string out = answers({"-interpreter-exec console \"heed step Softmax\"",
                                   "-interpreter-exec console \"heed out\"",
                                   "-interpreter-exec console \"heed nan\"", "-exec-next"});
  INFO(out);
  CHECK(count_of(out, "*stopped") >= 5);
  CHECK(count_of(out, "*stopped") == count_of(out, "*stopped,reason=\""));
  CHECK(has(out, "*stopped,reason=\"breakpoint-hit\""));
}

TEST_CASE("an IDE shows the array that a backward returned", "[debug][ide][.]") {
  if (!can_debug()) return;
  const std::string out =
      answers({"-interpreter-exec console \"heed step Softmax\"", "-exec-finish"});
  INFO(out);
  CHECK(has(out, "reason=\"function-finished\""));
  CHECK(has(out, "return-value=\"(3, 3) norm 0.9621 [-0.7048, 0.6517] = {"));
}

TEST_CASE("a debug adapter stops with a reason, and shows arrays and tensors in one line",
          "[debug][ide][lldb][.]") {
  if (!can_use_lldb()) return;
  std::string adapter;
  for (const char* name : {"lldb-vscode", "lldb-vscode-14", "lldb-vscode-15", "lldb-vscode-16",
                           "lldb-vscode-17", "lldb-dap", "lldb-dap-18", "lldb-dap-19"})
    if (adapter.empty()) adapter = path_of(name);
  // LLDB's Python looks for its library near the first python3 in PATH.
  const std::string python =
      ::access("/usr/bin/python3", X_OK) == 0 ? "/usr/bin/python3" : path_of("python3");
  if (adapter.empty() || python.empty()) {
    WARN("skipped: lldb-vscode or python3 is not installed");
    return;
  }
  const SessionFolder folder;
  const Finished finished =
      run({{python, HEED_SOURCE_DIR "/tests/debug/dap_client.py", adapter,
            HEED_SOURCE_DIR "/.vscode/launch.json", "heed: the open lesson (CodeLLDB)",
            programs + "lesson_06_Og", folder.path.string(), "heed::Softmax::backward"},
           folder.path,
           "",
           {{"PYTHONPATH", module_folders()}}});
  INFO(finished.out << finished.err);
  CHECK(finished.code == 0);
  CHECK(count_of(finished.out, "stopped, reason ") == 3);
  CHECK(has(finished.out, "stopped, reason breakpoint\nframe heed::Softmax::backward("));
  CHECK(has(finished.out, "stopped, reason step\n"));
  CHECK(std::regex_search(finished.out, std::regex("\nframe main lesson\\.cpp:[0-9]+\n")));
  CHECK(
      std::regex_search(finished.out, std::regex("\n  dy = (0x[0-9a-f]+)? *\\(3, 3\\) norm 3.2141 "
                                                 "\\[-1.1234, 2.4042\\]\n")));
  CHECK(has(finished.out,
            "'A' = Softmax (3, 3) norm 1.5786 [0.0000, 1.0000], grad norm 3.2141 [-1.1234, "
            "2.4042] (can be expanded)\n"));
  CHECK(std::regex_search(
      finished.out, std::regex("\n      grad = +\\(3, 3\\) norm 3.2141 \\[-1.1234, 2.4042\\]\n")));
  CHECK(has(finished.out, "console: heed out\n"));
  CHECK(has(finished.out, "passed\nto #10 MaskedFill 'S': (3, 3)\n"));
  CHECK(has(finished.out, ": its backward is right\n"));
  CHECK_FALSE(has(finished.out, "m_storage"));
}

TEST_CASE("VS Code's launch configurations build what they start, and stop at its beginning",
          "[debug][ide][.]") {
  const std::string launch = content(HEED_SOURCE_DIR "/.vscode/launch.json");
  const std::string tasks = content(HEED_SOURCE_DIR "/.vscode/tasks.json");
  const std::size_t configurations = count_of(launch, "\"request\": \"launch\"");
  CHECK(configurations == 6);
  CHECK(count_of(launch, "\"stopAtEntry\": true") + count_of(launch, "\"stopOnEntry\": true") ==
        configurations);
  CHECK(count_of(launch, "provenance") == configurations);
  const std::regex task("\"preLaunchTask\": \"([^\"]+)\"");
  std::size_t built = 0;
  for (std::sregex_iterator i(launch.begin(), launch.end(), task), end; i != end; ++i, ++built)
    CHECK(has(tasks, "\"label\": \"" + (*i)[1].str() + "\""));
  CHECK(built == configurations);
  CHECK(count_of(tasks, "\"--build\"") == 3);
}
