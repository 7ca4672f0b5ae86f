// lessons_test.cpp: the gdb commands that lessons 01 to 05 print, run on the lessons.

#include "debug/sessions.hpp"

using namespace heed_test;

namespace {

// A command, and what gdb prints after it. A number in parentheses stands in the lesson's output,
// with four decimals.
struct Step {
  std::string command, output;
};

struct LessonSession {
  std::string lesson;
  std::vector<Step> steps;
};

std::vector<Step> operator*(std::size_t n, const Step& step) { return std::vector<Step>(n, step); }

std::vector<Step> operator+(std::vector<Step> a, const std::vector<Step>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

const std::string number = "= (-?[0-9.]+)";
const Step next = {"next", ""}, again = {"continue", "Breakpoint 1, "};

std::vector<Step> start(const std::string& function) {
  return {{"break " + function, "Breakpoint 1 at "}, {"run", "Breakpoint 1, " + function}};
}

const std::vector<LessonSession> sessions = {
    {"01_averaging", start("running_mean") + 5 * next + std::vector<Step>{{"print sum", "= 0"}} +
                         3 * next + std::vector<Step>{{"print sum", "= 1"}}},
    {"02_naive_attention", start("dot_product") + 3 * next +
                               std::vector<Step>{{"print sum", "= 0.25"}} + 2 * next +
                               std::vector<Step>{{"print sum", "= 0.5"}}},
    {"03_graph_attention", start("softmax_by_hand") + 6 * next +
                               std::vector<Step>{{"print sum", "= 0.1353"}} + 3 * next +
                               std::vector<Step>{{"print sum", "= 1.1353"}}},
    {"04_query_key_value",
     start("attention_of_token") + 6 * next +
         std::vector<Step>{{"print e", "= std::vector of length 3, .*\\{0.3306[0-9]*, 0, 0\\}"}} +
         5 * next + std::vector<Step>{{"print e", "\\{0.3306[0-9]*, 0.9230[0-9]*, 0\\}"}}},
    {"09_scaling_and_saturation",
     start("softmax_derivative") +
         std::vector<Step>{{"finish", number}, again, {"finish", number}}},
    {"08_causal_mask", start("causal_weights") + 4 * next +
                           std::vector<Step>{{"display s", ""}} + 7 * next +
                           std::vector<Step>{{"next", "1: s = 0"}} + 2 * next +
                           std::vector<Step>{{"next", "1: s = 1"}}},
    {"05_autograd",
     {{"break main", ""},
      {"run", ""},
      {"break propagate", "Breakpoint 2 at "},
      {"continue", "Breakpoint 2, propagate"},
      {"print number.op", "\"\\*\""},
      {"print number.grad", "= 1"},
      {"break heed::Multiply::backward", "Breakpoint 3 at "},
      {"delete 2", ""},  // propagate runs many times before
      {"continue", "Breakpoint 3, heed::Multiply::backward"},
      {"heed graph", "=> #[0-9]+ +Multiply "},
      {"heed step", " passed to #[0-9]+ "}}},
};

// The text with one space between words.
std::string in_one_line(const std::string& text) {
  return std::regex_replace(text, std::regex("\\s+"), " ");
}

// What gdb printed after each command.
Lines outputs_of(const Lines& lines) {
  Lines result;
  for (const std::string& line : lines)
    if (line.rfind("(gdb) ", 0) == 0)
      result.emplace_back();
    else if (!result.empty())
      result.back() += line + '\n';
  return result;
}

void check_step(const Step& step, const std::string& printed, const std::string& lesson_output) {
  INFO(step.command << "\nexpected " << step.output << "\nprinted " << printed);
  CHECK_FALSE(has(printed, "No symbol"));
  std::smatch found;
  REQUIRE(std::regex_search(printed, found, std::regex(step.output)));
  if (found.size() == 1) return;
  char decimals[40];
  std::snprintf(decimals, sizeof decimals, "%.4f", std::stod(found[1]));
  INFO(decimals << " must stand in the lesson's output");
  CHECK(has(lesson_output, decimals));
}

}  // namespace

// In a release build, lessons are compiled with -O0, as their commands assume.
TEST_CASE("the gdb commands that lessons print work, and show the lessons' numbers", "[debug][.]") {
  if (!can_debug()) return;
#ifndef NDEBUG
  WARN("skipped: the lessons of this build are optimised");
  return;
#endif
  for (const auto& [lesson, steps] : sessions) {
    const bool by_heed_debug = lesson == "05_autograd";
    const std::string folder = HEED_BINARY_DIR "/lessons/";
    const std::string output = content(HEED_SOURCE_DIR "/lessons/" + lesson + "/output.txt");
    Lines commands = {by_heed_debug ? "source tools/debugger/heed_gdb.py" : "delete"};
    const std::size_t first = commands.size();
    for (const Step& step : steps) {
      commands.push_back(step.command == "run" ? "run > out.txt" : step.command);
      INFO(lesson << " must print: " << step.command);
      CHECK((by_heed_debug || has(in_one_line(output), step.command)));
    }
    const SessionFolder scratch;
    const Finished finished =
        gdb(scratch.path, {by_heed_debug ? programs + "lesson_05_Og" : folder + lesson}, commands);
    const Lines printed = outputs_of(lines_of(finished.out));
    INFO(lesson << '\n' << finished.out);
    REQUIRE(printed.size() == commands.size());
    for (std::size_t i = 0; i < steps.size(); ++i) check_step(steps[i], printed[first + i], output);
  }
}

TEST_CASE("gdb finds the function at which the head of each lesson recommends a breakpoint",
          "[debug][.]") {
  if (!can_debug()) return;
  const SessionFolder scratch;
  std::size_t lessons = 0;
  for (const std::filesystem::path& folder : lesson_folders()) {
    const std::string source = content(folder / "lesson.cpp"), name = folder.filename().string();
    std::smatch found;
    if (!std::regex_search(source, found, std::regex("// [^\n]* breakpoint: ([\\w:]*\\w)")))
      continue;
    const std::string out = gdb(scratch.path, {HEED_BINARY_DIR "/lessons/" + name},
                                {"set breakpoint pending off", "break " + found[1].str()})
                                .out;
    INFO(name << '\n' << out);
    CHECK(has(out, "\nBreakpoint 1 at "));
    ++lessons;
  }
  CHECK(lessons == lesson_folders().size());
}
