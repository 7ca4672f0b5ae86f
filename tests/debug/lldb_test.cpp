// lldb_test.cpp: LLDB sessions with heed's commands.

#include "debug/lldb_sessions.hpp"

using namespace heed_test;

namespace {

// What LLDB prints for these commands, after it stopped at the main function of a test program.
std::string session(const Arguments& program, Lines commands,
                    const SessionFolder& folder = SessionFolder()) {
  commands.insert(commands.begin(),
                  {"breakpoint set -n main -o true", "process launch -o out.txt"});
  Arguments path = program;
  path[0] = programs + path[0];
  const std::string out = lldb(folder.path, path, commands);
  CHECK_FALSE(has(out, "Traceback"));
  return out;
}

}  // namespace

TEST_CASE("LLDB: heed step runs to a node, and begins with what the last node passed",
          "[debug][lldb][.]") {
  if (!can_use_lldb()) return;
  const std::string out =
      session({"lesson_06_Og"}, {"heed step", "heed step Softmax", "heed step #8"});
  INFO(out);
  CHECK(has(out, "a new backward pass, from #16 DivideByConstant (), made at lessons/06_"));
  CHECK(
      has(out, "#12 MatMul 'O' passed to #11 Softmax 'A': (3, 3) norm 3.2141 [-1.1234, 2.4042]\n"));
  CHECK(has(out,
            "#11 Softmax 'A' (3, 3), made at lessons/06_backward_through_attention/lesson.cpp:"));
  CHECK(has(out, "upstream gradient (dy) = (3, 3)\n   0.0000   0.0000   0.0000\n"));
  CHECK(has(out, "#9 DivideByConstant passed to #8 MatMul 'Q K^T': (3, 3) norm 0.4810"));
}

TEST_CASE("LLDB: heed graph lists the nodes of the pass", "[debug][lldb][.]") {
  if (!can_use_lldb()) return;
  const std::string out = session(
      {"lesson_06_Og"}, {"heed graph", "heed step Softmax", "heed graph", "heed graph now.O"});
  INFO(out);
  CHECK(has(out, "error: heed: no backward pass is running; `heed step` runs to the next one"));
  CHECK(has(out, "=> #11  Softmax           A      (3, 3)  from #10                   3.2141  "));
  CHECK(has(out, "   #13  Subtract                 (3, 4)  from #12, constant (3, 4)   freed  "));
}

TEST_CASE("LLDB: heed out prints the gradients that a backward returned", "[debug][lldb][.]") {
  if (!can_use_lldb()) return;
  const std::string out =
      session({"lesson_06_Og"}, {"heed out", "heed step #8", "heed out", "heed out", "heed step"});
  INFO(out);
  CHECK(has(out, "error: heed: no backward pass is running"));
  const std::string passed =
      ", passed\nto #5 MatMul 'Q': (3, 4)\n   0.0000   0.0000   0.0000   0.0000\n  -0.0158   "
      "0.0650  "
      "-0.0622  -0.0190\n   0.4072  -1.9101   1.8184   0.4609\nto #7 Permute: (4, 3)\n";
  const std::size_t first = out.find(passed);
  REQUIRE(first != out.npos);
  CHECK(out.find(passed, first + 1) != out.npos);
  CHECK(has(out, "#8 MatMul 'Q K^T' passed to #7 Permute: (4, 3) norm 2.4240 [-1.2650, 1.3681]\n"));
}

TEST_CASE("LLDB: heed check names an operation whose backward has a wrong sign",
          "[debug][lldb][.]") {
  if (!can_use_lldb()) return;
  const std::string out =
      session({"gpt_Og", "wrong"},
              {"heed step HalfSquare", "heed check", "heed check #31", "heed check token.weight"});
  INFO(out);
  CHECK(has(out, "#49 HalfSquare 'penalty' (2, 4, 5), made at tests/debug/gpt.cpp:"));
  CHECK(has(out,
            ": its backward is wrong\n  input 0, logits (2, 4, 5): differs from central "
            "differences (40 elements compared); worst at "));
  CHECK(has(out,
            ": its backward is right, for a random upstream gradient\n  input 0, blocks.0.mlp.up"));
  CHECK(has(out, "error: heed: #0 Leaf 'token.weight' (5, 8) is a leaf, so it has no backward"));
}

TEST_CASE("LLDB: expressions and unusual names are printed in one line", "[debug][lldb][.]") {
  if (!can_use_lldb()) return;
  const std::string out =
      session({"expressions_Og"}, {"breakpoint set -n stop_here", "continue", "up",
                                   "frame variable product column row_sums x", "heed graph loss"});
  INFO(out);
  CHECK(has(out, " product = unevaluated xtensor expression; declare it as Array\n"));
  CHECK(
      has(out, " column = unevaluated xtensor expression of shape (2, 1); declare it as Array\n"));
  CHECK(has(out, " row_sums = unevaluated xtensor expression of shape (2); declare it as Array\n"));
  CHECK(has(out, " x = 'two\\nlines \\x01' = Leaf (2, 2) 1.0000 2.0000 3.0000 4.0000, "));
  CHECK(has(out, "#0  Leaf      two\\nlines \\x01  (2, 2) "));
}

TEST_CASE("LLDB: heed grad and heed why print a gradient and its contributions",
          "[debug][lldb][.]") {
  if (!can_use_lldb()) return;
  const std::string out = session(
      {"lesson_06_Og"},
      {"heed step Softmax", "heed grad A", "heed why O", "heed why W_K", "heed grad nobody"});
  INFO(out);
  CHECK(has(out, "the gradient of #11 Softmax 'A' (3, 3) = (3, 3)\n"));
  CHECK(
      has(out, "the gradient of #12 MatMul 'O' (3, 4), norm 1.0056\n  += from Subtract, made at "));
  CHECK(has(out, "error: heed: #3 Leaf 'W_K' (5, 4) has no gradient yet"));
  CHECK(has(out,
            "error: heed: there is no variable or tensor 'nobody'; tensors with names: A, K, O"));
}

TEST_CASE("LLDB: heed show prints arrays and tensors by variable, name and number",
          "[debug][lldb][.]") {
  if (!can_use_lldb()) return;
  const std::string out =
      session({"gpt_Og"}, {"heed step Attention", "heed show dout", "heed show #7",
                           "heed show norm.weight", "heed show grad logits"});
  INFO(out);
  CHECK(has(out, "dout = (2, 4, 8)\n  [0]\n   0.0011   0.0014"));
  CHECK(has(out, "#7 Leaf 'blocks.1.attention.query.weight' = (8, 8)\n"));
  CHECK(has(out, "#1 Leaf 'norm.weight' = (8)  1.0000  1.0000"));
  CHECK(has(out, "the gradient of #47 Linear 'logits' = (2, 4, 5)\n"));
}

TEST_CASE("LLDB: heed nan stops at the first value and gradient that is not finite",
          "[debug][lldb][.]") {
  if (!can_use_lldb()) return;
  const std::string forward = session({"training_Og", "forward"}, {"heed nan", "heed back"});
  INFO(forward);
  CHECK(has(forward, "forward: Log (4, 3), made at tests/debug/training.cpp:"));
  CHECK(has(forward, "has 8 NaN\n  input Leaf 'model.head.weight' (4, 3), made at "));
  CHECK(has(forward, "main at tests/debug/training.cpp:"));
  const std::string backward = session({"training_Og", "backward"}, {"heed nan"});
  INFO(backward);
  CHECK(has(backward, "backward: Sqrt (), made at tests/debug/training.cpp:"));
  CHECK(has(backward, "passes a gradient with 1 +inf to its input 0\n"));
  CHECK(has(session({"training_Og"}, {"heed nan"}),
            "the program ended; since `heed nan` all values"));
}

TEST_CASE("LLDB: heed back lists the frames without those of the engine", "[debug][lldb][.]") {
  if (!can_use_lldb()) return;
  const std::string out = session({"lesson_06_Og"}, {"heed step Softmax", "heed back"});
  const std::string listed = out.substr(out.find("(lldb) heed back"));
  INFO(listed);
  CHECK(has(listed, "#0  heed::Softmax::backward at src/ops/softmax.cpp:"));
  CHECK(has(listed, "main at lessons/06_backward_through_attention/lesson.cpp:"));
  CHECK_FALSE(has(listed, "heed::backward "));
  CHECK_FALSE(has(listed, "libc"));
}

TEST_CASE("LLDB: heed save writes .npy and .csv files", "[debug][lldb][.]") {
  if (!can_use_lldb()) return;
  const SessionFolder folder;
  const std::string out = session(
      {"lesson_06_Og"},
      {"heed step Softmax", "heed save grad A g.csv", "heed save A a.npy", "heed save A a.txt"},
      folder);
  INFO(out);
  CHECK(near_line(lines_of(content(folder / "g.csv")).at(2), "2.4042,-1.1234,1.7477"));
  CHECK(content(folder / "a.npy").size() == 128 + 9 * sizeof(float));
  CHECK(has(out, "error: heed: a.txt: the file name must end in .npy or .csv"));
}

TEST_CASE("LLDB: arrays and tensors are one line, in variables and in frames", "[debug][lldb][.]") {
  if (!can_use_lldb()) return;
  const std::string out = session({"lesson_06_Og"}, {"heed step Softmax", "frame variable", "bt 1",
                                                     "frame select 4", "frame variable now.A"});
  INFO(out);
  CHECK(has(out, "(const heed::Array &) dy = (3, 3) norm 3.2141 [-1.1234, 2.4042]\n"));
  CHECK(has(out, "dy=(3, 3) norm 3.2141 [-1.1234, 2.4042], y="));
  CHECK(has(out, "now.A = 'A' = Softmax (3, 3) norm 1.5786 [0.0000, 1.0000], grad norm 3.2141"));
  CHECK_FALSE(has(out, "m_storage"));
}

TEST_CASE("LLDB: a pass without the wanted node ends, and its operations are listed",
          "[debug][lldb][.]") {
  if (!can_use_lldb()) return;
  const std::string out =
      session({"lesson_06_Og"},
              {"heed step", "heed step Nobody", "heed step W_K", "heed step Relu", "heed step 0"});
  INFO(out);
  CHECK(has(out, "error: heed: this pass has no operation and no tensor named 'Nobody'"));
  CHECK(has(out, "error: heed: 'W_K' is a leaf and has no backward"));
  CHECK(has(out, "error: heed: this pass had no 'Relu', only 5 MatMul, 1 Permute"));
  CHECK(has(out, "error: heed: `heed step` takes a positive number of steps"));
}

TEST_CASE("LLDB: wrong uses get one line that names the remedy", "[debug][lldb][.]") {
  if (!can_use_lldb()) return;
  const SessionFolder folder;
  const std::string out =
      lldb(folder.path, {programs + "lesson_06_Og"},
           {"heed", "heed graph", "heed nonsense", "breakpoint set -n main -o true",
            "process launch -o out.txt", "heed out now", "heed save A", "heed show"});
  INFO(out);
  CHECK(has(out, "heed check [T]     compare a node's gradients"));
  CHECK(has(out, "error: heed: the program is not running; type `run`"));
  CHECK(has(out, "error: heed: there is no command `heed nonsense`"));
  CHECK(has(out, "error: heed: `heed out` takes no argument"));
  CHECK(has(out, "error: heed: save takes an array and a file"));
  CHECK(has(out, "error: heed: give a variable, a tensor's name, #3, or `grad` and a tensor"));
}

TEST_CASE("LLDB: every command works at -O2", "[debug][lldb][.]") {
  if (!can_use_lldb()) return;
  const SessionFolder folder;
  const std::string out = session(
      {"lesson_06_O2"},
      {"heed step Softmax", "heed graph", "heed back", "heed check", "heed show A", "heed grad A",
       "heed why O", "heed save A a.npy", "heed out", "heed step", "heed step #8", "heed out",
       "heed in", "heed graph --svg o2.svg", "heed graph", "heed watch W_K 30", "heed nan"},
      folder);
  INFO(out);
  CHECK(has(out, "a new backward pass, from #16 DivideByConstant (), made at lessons/06_"));
  CHECK(has(out, "#12 MatMul 'O' passed to #11 Softmax 'A': (3, 3) norm 3.2141 [-1.1234, 2.4042]"));
  CHECK(has(out, "upstream gradient (dy) = (3, 3)\n   0.0000   0.0000   0.0000\n"));
  CHECK(has(out, "=> #11  Softmax           A      (3, 3)  from #10                   3.2141  "));
  CHECK(has(out, "main at lessons/06_backward_through_attention/lesson.cpp:"));
  CHECK(has(out, ": its backward is right\n  input 0, S (3, 3): agrees with central differences"));
  CHECK(has(out, "min 0.0000, max 1.0000, mean 0.3333, norm 1.5786, all finite"));
  CHECK(has(out, "the gradient of #11 Softmax 'A' (3, 3) = (3, 3)\n"));
  CHECK(
      has(out, "the gradient of #12 MatMul 'O' (3, 4), norm 1.0056\n  += from Subtract, made at "));
  CHECK(content(folder / "a.npy").size() == 128 + 9 * sizeof(float));
  CHECK(has(out, "passed\nto #10 MaskedFill 'S': (3, 3)\n   0.0000   0.0000   0.0000\n  -0.0252"));
  CHECK(has(out, "#11 Softmax 'A' passed to #10 MaskedFill 'S': (3, 3) norm 0.9621 "));
  CHECK(has(out, ", passed\nto #5 MatMul 'Q': (3, 4)\n"));
  CHECK(has(out, "heed::Permute::backward at src/ops/shape.cpp:"));
  CHECK(std::regex_search(out,
                          std::regex("   #8 +MatMul +Q K\\^T +\\(3, 3\\) +from #5, #7 +freed ")));
  CHECK(has(content(folder / "o2.gv"), "n8 [label=\"#8 MatMul 'Q K^T'\\n"));
  CHECK(std::regex_search(out, std::regex("\n +2[345] +4\\.8494 +4\\.8115 +0\\.0481 +0\\.0099\n")));
  CHECK(has(out, "the program ended; since `heed nan` all values"));
}

TEST_CASE("LLDB: a GPT and a value that is not finite at -O2", "[debug][lldb][.]") {
  if (!can_use_lldb()) return;
  const std::string out =
      session({"gpt_O2", "wrong"}, {"heed step HalfSquare", "heed check", "heed step Attention",
                                    "heed show norm.weight", "heed out"});
  INFO(out);
  CHECK(std::regex_search(out,
                          std::regex("#49 HalfSquare 'penalty'[^\n]*: its backward is wrong\n")));
  CHECK(has(out, "#1 Leaf 'norm.weight' = (8)  1.0000  1.0000"));
  CHECK(has(out, "passed\nto #35 Linear 'blocks.1.attention.query': (2, 4, 8)\n"));
  const std::string nan = session({"training_O2", "forward"}, {"heed nan", "heed back"});
  INFO(nan);
  CHECK(has(nan, "forward: Log (4, 3), made at tests/debug/training.cpp:"));
  CHECK(has(nan, "has 8 NaN\n"));
}

TEST_CASE("LLDB: heed watch, in and graph --svg", "[debug][lldb][.]") {
  if (!can_use_lldb()) return;
  const SessionFolder folder;
  const std::string out =
      session({"lesson_06_Og"},
              {"heed watch now", "heed step Softmax", "heed in", "heed in", "heed graph --svg",
               "heed watch A", "heed watch W_K 200", "heed mark", "heed in now"},
              folder);
  INFO(out);
  CHECK(has(out, "heed::Softmax::backward at src/ops/softmax.cpp:"));
  CHECK(has(out, "heed::softmax_row_backward at src/ops/softmax_row.hpp:"));
  CHECK(has(content(folder / "runs/graph.gv"),
            "n11 [label=\"#11 Softmax 'A'\\n(3, 3)\", style=filled"));
  CHECK(
      has(out, "is the result of an operation, which each step computes anew; watch a parameter"));
  CHECK(std::regex_search(out, std::regex("\n +25 +4\\.8494 +4\\.8115 +0\\.0481 +0\\.0099\n")));
  CHECK(has(out, "-             -\nheed: the program ended; `run` starts it again"));
}

TEST_CASE("LLDB: the commands read a program that computes in double", "[debug][lldb][.]") {
  if (!can_use_lldb()) return;
  const std::string out = session(
      {"lesson_06_double"}, {"heed step Softmax", "frame variable dy", "heed check", "heed out"});
  INFO(out);
  CHECK(has(out,
            "#11 Softmax 'A' (3, 3), made at lessons/06_backward_through_attention/lesson.cpp:"));
  CHECK(has(out, ": its backward is right\n  input 0, S (3, 3): agrees with central differences"));
  CHECK_FALSE(has(out, "in float"));
  CHECK(has(out, "to #10 MaskedFill 'S': (3, 3)\n"));
  CHECK(has(out, "dy = (3, 3) norm 19.1519 [-11.8600, 14.6446]\n"));
}

TEST_CASE("LLDB: the commands work on core files, or say that they need a running program",
          "[debug][lldb][core][.]") {
  if (!can_use_lldb() || !can_debug()) return;  // gdb writes the core file
  for (const std::string level : {"Og", "O2"}) {
    const SessionFolder folder;
    const Arguments program = {programs + "lesson_06_" + level};
    gdb(folder.path, program,
        {"set environment HEED_TRACE provenance", "break heed::Softmax::backward", "run > out.txt",
         "generate-core-file program.core"});
    REQUIRE(std::filesystem::exists(folder / "program.core"));
    const std::string out = lldb(
        folder.path, program,
        {"target create -c program.core " + program[0], "heed graph", "heed grad A", "heed why O",
         "heed show dy", "heed back", "heed save A a.npy", "heed graph --svg g.svg", "heed out",
         "heed step", "heed step Softmax", "heed in", "heed check", "heed nan", "heed watch W_K"});
    INFO(out);
    CHECK(has(out, "=> #11  Softmax           A      (3, 3)  from #10     3.2141  lessons/06_"));
    CHECK(has(out, "the gradient of #11 Softmax 'A' (3, 3) = (3, 3)\n"));
    CHECK(has(out, "norm 1.0056\n  += from Subtract, made at lessons/06_"));
    CHECK(has(out, "dy = (3, 3)\n"));
    CHECK(has(out, "main at lessons/06_backward_through_attention/lesson.cpp:"));
    CHECK(content(folder / "a.npy").size() == 128 + 9 * sizeof(float));
    CHECK(std::filesystem::exists(folder / "g.gv"));
    const std::regex rejected(
        "error: heed: this program cannot continue \\(is it a core file\\?\\)");
    CHECK(std::distance(std::sregex_iterator(out.begin(), out.end(), rejected), {}) == 6);
    CHECK(has(out,
              "heed: `heed check` calls the program, so it needs a running program, not a core"));
    CHECK_FALSE(has(out, "Traceback"));
    CHECK_FALSE(has(out, "warning: failed to set breakpoint"));
  }
}
