// lesson_test.cpp: what a lesson with a lesson.md prints (tests/lessons/03_small_lesson), its
// errors.

#include "commands/book/output.hpp"
#include "commands/child.hpp"
#include "lessons/programs.hpp"

namespace {

using namespace heed_test;

LessonRun small_lesson(const std::string& wrong) {
  const ScratchFolder scratch;
  return run_in(scratch.path, HEED_BINARY_DIR "/tests/heed_small_lesson",
                in_quotes(wrong) + " 2>&1");
}

// The last line of a run that ends with an error.
std::string error_of(const std::string& wrong) {
  const LessonRun run = small_lesson(wrong);
  INFO(run.output);
  CHECK(run.exit_code == 1);
  return lines_of(run.output).back();
}

const std::string small_lesson_md = "heed: error: tests/lessons/03_small_lesson/lesson.md: ";

}  // namespace

TEST_CASE("a lesson prints the sections of its lesson.md, and its checks in one line",
          "[lessons]") {
  const LessonRun run = small_lesson("");
  CHECK(run.exit_code == 0);
  CHECK(run.output == R"(
03 A small lesson
=================
What does a lesson print? Afterwards you know it.

A sum
-----
The sum of 1 and 2 is a number of this section. It is computed twice.

  same: three ones = three ones; a = a;
        some more ones, with a text that is long enough for the next line = ones;
        b = b (within 0.1)

It is 3.00.

  holds: 3 is odd

The numbers of an article
-------------------------
They are exact.

x (2)
  0.0000  0.0000

To remember
-----------
A lesson prints its text.

Questions
---------
1. What is printed last?

To answer them, change a line of this lesson and run it again. The answers:
`./heed lesson 3 --answers`
)");
}

TEST_CASE("what the reader prints begins in a line of its own, after a line of checks",
          "[lessons]") {
  CHECK(has(small_lesson("cout").output,
            " = ones\na line of the reader\n  same: b = b (within 0.1)\n\nIt is"));
}

TEST_CASE("a lesson prints the reader's guess beside what it measured", "[lessons]") {
  CHECK(has(small_lesson("guess").output, "\n  | your guess: none   measured: 3\n"));
  const EnvironmentVariable guess("HEED_GUESS", "2.5");
  CHECK(has(small_lesson("guess").output, "\n  | your guess: 2.5   measured: 3\n"));
  const EnvironmentVariable word("HEED_GUESS", "many");
  CHECK(error_of("guess") ==
        "heed: error: --guess: 'many' is not a number; give the sum, such as --guess 2.5");
}

TEST_CASE("on a terminal a lesson asks until the guess is a number", "[lessons]") {
  if (!has_terminals()) return;
  Call call{{HEED_BINARY_DIR "/tests/heed_small_lesson", "guess"}, "."};
  call.terminal = 80;
  call.typed = true;
  Child child(call);
  child.read_until("Your guess, the sum (Enter for none): ");
  child.type("three\n4\n");
  CHECK(has(child.finish().out, "| your guess: 4   measured: 3"));
}

TEST_CASE("a threshold that was set after the result is printed as a guard", "[lessons]") {
  CHECK(has(small_lesson("guard").output, "\n  guards: 3 is below 4\n"));
}

TEST_CASE("a lesson shows the sweep that chose its learning rates", "[lessons]") {
  const std::string out = small_lesson("tuning").output;
  CHECK(has(out,
            "  | loss on the tuning windows, seeds 11 to 13, by learning rate\n"
            "  |                              0.003      0.01      0.03\n"
            "  | softmax                      1.500    [1.250]    1.750\n"
            "  | linear                      [2.500]    2.750\n"));
  CHECK(has(out,
            "  holds: each chosen rate is the best of its sweep, and inside it, but at its edge: "
            "linear 0.003\n"));
  const std::string fails =
      "  does NOT hold: each chosen rate is the best of its sweep, and inside it: ";
  CHECK(error_of("worse rate") == fails + "not softmax 0.03");
  CHECK(error_of("open edge") == fails + "not linear 0.003");
  CHECK(error_of("no rate") ==
        "heed: error: tuning.txt: no row of 'cosine'; run it with HEED_TUNE=1");
}

TEST_CASE("for the page of a lesson, 400 losses become 200 means of two", "[lessons]") {
  const EnvironmentVariable for_book("HEED_BOOK", "1");
  const std::vector<heed::Json> records = heed::app::records_of(small_lesson("curves").output);
  const auto curves = std::find_if(records.begin(), records.end(), [](const heed::Json& record) {
    return record.at("kind").get<std::string>() == "curves";
  });
  REQUIRE(curves != records.end());
  const heed::Json& figure = curves->at("figure");
  CHECK(figure.at("y_title").get<std::string>() == "loss");
  const heed::Json::List all = figure.at("curves").get<heed::Json::List>();
  REQUIRE(all.size() == 1);
  CHECK(all[0].at("name").get<std::string>() == "small");
  CHECK(all[0].at("points").get<std::uint64_t>() == 2);
  const auto numbers = [&](const char* name) { return all[0].at(name).get<heed::Json::List>(); };
  REQUIRE(numbers("x").size() == 200);
  REQUIRE(numbers("y").size() == 200);
  CHECK(numbers("x")[0].get<double>() == 0.5);
  CHECK(numbers("x")[199].get<double>() == 398.5);
  CHECK(numbers("y")[0].get<double>() == 399.5);
}

TEST_CASE("an appendix is folded in a terminal, unless HEED_APPENDICES is set", "[lessons]") {
  if (!has_terminals()) return;
  Call call{{HEED_BINARY_DIR "/tests/heed_small_lesson"}, "."};
  call.terminal = 80;
  const std::string folded = Child(call).finish().out;
  CHECK(has(folded, "\nAppendix: The numbers of an article (to see it: ./heed lesson 3 --all)"));
  CHECK_FALSE(has(folded, "They are exact."));
  CHECK(has(folded, "A lesson prints its text."));
  const EnvironmentVariable all("HEED_APPENDICES", "1");
  CHECK(has(Child(call).finish().out, "They are exact."));
}

TEST_CASE("a lesson whose code and lesson.md do not fit ends with a one-line error", "[lessons]") {
  const std::string code = ", at tests/lessons/03_small_lesson/lesson.cpp:";
  CHECK(
      has(error_of("section"), small_lesson_md + "there is no section '## No sum'" + code + "24"));
  CHECK(has(error_of("values"),
            small_lesson_md + "section 'A sum': the code gives no value for {first}" + code));
  CHECK(has(error_of("part"),
            small_lesson_md + "section 'A sum' has 2 parts, but the lesson prints 1" + code));
  CHECK(has(error_of("next part"), small_lesson_md + "section 'A sum' has only 2 parts" + code));
  CHECK(has(
      error_of("appendix"),
      small_lesson_md + "section 'The numbers of an article' has 1 part, but the lesson prints 0"));
  CHECK(has(error_of("opening"), "heed: error: lesson.md: call opening() first" + code));
  CHECK(error_of("check") ==
        "  NOT the same: c = d: element 0 is 1.0000000000 and 2.0000000000, more than 1e-05 apart");
}
