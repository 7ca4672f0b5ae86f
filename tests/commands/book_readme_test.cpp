// book_readme_test.cpp: the README.md of a lesson, from the records of its run.

#include "catch.hpp"
#include "commands/book/output.hpp"
#include "commands/book/readme.hpp"
#include "lessons/programs.hpp"
#include "message_of.hpp"

using heed::app::FinishedLesson;
using heed::app::Lesson;
using heed::app::readme;
using heed::app::write_readme;
using heed::test::message_of;
using namespace heed_test;

namespace {

const Lesson previous_lesson{"02_naive_attention", "02", "naive attention", ""};

// The records in a run of tests/lessons/03_small_lesson.
FinishedLesson run_of_small_lesson(const ScratchFolder& scratch) {
  const EnvironmentVariable for_book("HEED_BOOK", "1");
  const std::string output =
      run_in(scratch.path, HEED_BINARY_DIR "/tests/heed_small_lesson").output;
  return {heed::app::records_of(output),
          scratch.path,
          {"03_small_lesson", "03", "small lesson", ""},
          {HEED_TESTS_DIR "/lessons/03_small_lesson/lesson.cpp"},
          &previous_lesson,
          nullptr};
}

// A record of a picture that the run has drawn.
heed::Json picture_of(const ScratchFolder& scratch, const std::string& name) {
  scratch.write(name, "<svg/>");
  return {{"kind", "picture"}, {"picture", name}, {"plain", "picture: " + name + "\n"}};
}

}  // namespace

TEST_CASE("the README of a lesson has its prose, code and output; write_readme() writes it",
          "[commands][book]") {
  const ScratchFolder scratch, out;
  write_readme(run_of_small_lesson(scratch), out.path);
  CHECK(out.read("README.md") == content(HEED_TESTS_DIR "/lessons/03_small_lesson/README.md"));
  CHECK(out.read("output.txt") ==
        run_in(scratch.path, HEED_BINARY_DIR "/tests/heed_small_lesson").output);
}

TEST_CASE("the code of a section stands before the paragraph that announces its output",
          "[commands][book]") {
  const ScratchFolder scratch;
  FinishedLesson run = run_of_small_lesson(scratch);
  const std::string before = "The sum is a number.\n\n", announcement = "Computed twice:\n\n";
  for (heed::Json& record : run.records)
    if (record.contains("markdown") &&
        has(record["markdown"].get<std::string>(), "The sum of 1 and 2"))
      record["markdown"] = before + "Computed twice:\n";
  const std::string text = readme(run);
  CHECK(has(text, "## A sum\n\n" + before + "```cpp\n"));
  CHECK(has(text, "}\n```\n\n" + announcement + "```text\n"));
}

TEST_CASE("a picture of a README stands where it is drawn, with the sentence before it",
          "[commands][book]") {
  const ScratchFolder scratch, out;
  FinishedLesson run = run_of_small_lesson(scratch);
  run.records.resize(1);  // the title
  run.records.push_back({{"kind", "prose"},
                         {"markdown", "One. See: the *two* dots\n(0.5, 1) meet.\n\n```\nx\n```\n"},
                         {"plain", ""}});
  run.records.push_back(picture_of(scratch, "dots.svg"));
  std::filesystem::create_directory(out / "pictures");
  out.write("pictures/old.svg", "");
  write_readme(run, out.path);
  CHECK(has(out.read("README.md"), "\n```\n\n![the two dots (0.5, 1) meet](pictures/dots.svg)\n"));
  CHECK(out.read("pictures/dots.svg") == "<svg/>");
  CHECK_FALSE(std::filesystem::exists(out / "pictures/old.svg"));
}

TEST_CASE("a README is not written without lesson.md or without a picture", "[commands][book]") {
  const ScratchFolder scratch;
  FinishedLesson run = run_of_small_lesson(scratch);
  run.records.push_back({{"kind", "picture"}, {"picture", "gnuplot is not installed"}});
  CHECK(message_of([&] { readme(run); }) ==
        "lesson 03_small_lesson: a picture is missing: gnuplot is not installed");
  run.records.erase(run.records.begin());
  CHECK(message_of([&] { readme(run); }) == "lesson 03_small_lesson: the lesson has no lesson.md");
}

TEST_CASE("a line that a lesson prints by itself is not in the line of a check",
          "[commands][book]") {
  std::vector<heed::Json> records;
  records.push_back({{"kind", "check"}, {"plain", "  same: a"}});
  records.push_back({{"kind", "check"}, {"plain", "; b"}});
  records.push_back({{"kind", "text"}, {"text", "c\n"}});
  CHECK(heed::app::plain_output(records) == "  same: a; b\nc\n");
}
