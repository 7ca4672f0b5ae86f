// book_source_test.cpp: the lines of a lesson's source that the book shows before each output.

#include "catch.hpp"
#include "commands/book/source.hpp"
#include "scratch_folder.hpp"

using heed::app::LessonSource;
using heed::app::SourceLines;
using heed_test::ScratchFolder;

namespace {

// The source of a lesson that has one file with these lines.
struct Lesson99 {
  explicit Lesson99(const std::string& lines) { folder.write("99_x.cpp", lines); }

  SourceLines before(std::size_t line, bool with_call = true) {
    return source().lines_before("99_x.cpp", line, with_call);
  }
  SourceLines of_main(const std::string& function) { return source().lines_of_main(function); }
  LessonSource source() const { return LessonSource({folder / "99_x.cpp"}); }

  ScratchFolder folder;
};

}  // namespace

TEST_CASE("the page shows only the lines before a call that it does not show", "[commands][book]") {
  const ScratchFolder folder;
  folder.write("99_x.cpp",
               "int main() {\n  int a = 1;\n  say(\"one\",\n      \"two\" + b,\n"
               "      \"three\");\n  int c = 2;\n  say(\"c \" + c);\n}\n");
  LessonSource source({folder / "99_x.cpp"});
  CHECK(source.lines_before("99_x.cpp", 3, false).text == "int a = 1;\n");
  CHECK(source.lines_before("99_x.cpp", 7, true).text == "int c = 2;\nsay(\"c \" + c);\n");
}

TEST_CASE("the page shows no line twice, and none of another file", "[commands][book]") {
  Lesson99 lesson("int main() {\n  say(1);\n}\n");
  LessonSource source = lesson.source();
  CHECK(source.lines_before("99_x.cpp", 2, true).text == "say(1);\n");
  CHECK(source.lines_before("99_x.cpp", 2, true).text == "");
  CHECK(lesson.source().lines_before("lesson.cpp", 2, true).text == "");
  CHECK(lesson.before(77).text == "");
}

TEST_CASE("the code of a call in a loop ends with the loop, if it began there",
          "[commands][book]") {
  Lesson99 lesson(
      "int main() {\n  for (int a : b) {\n    if (a) {\n      say(a);\n    }\n  }\n  say(1);\n}\n");
  CHECK(lesson.before(4).text == "for (int a : b) {\n  if (a) {\n    say(a);\n  }\n}\n");
  LessonSource source = lesson.source();
  source.lines_before("99_x.cpp", 4, true);
  CHECK(source.lines_before("99_x.cpp", 7, true).text == "say(1);\n");
}

TEST_CASE("the page names the file and the first line of the code that it shows",
          "[commands][book]") {
  Lesson99 lesson("// a comment\n\nint main() {\n  int a = 1;\n  int b = 2;\n  say(a + b);\n}\n");
  const SourceLines shown = lesson.before(6);
  CHECK(shown.text == "int a = 1;\nint b = 2;\nsay(a + b);\n");
  CHECK(shown.file == "99_x.cpp");
  CHECK(shown.first == 4);
}

TEST_CASE("the code of a page ends with the whole statement", "[commands][book]") {
  CHECK(Lesson99("int main() {\n  const int sum =\n      said(1) +\n      2;\n  int a;\n}\n")
            .before(2)
            .text == "const int sum =\n    said(1) +\n    2;\n");
  CHECK(Lesson99("int main() {\n  say(f([] { return 1; }),\n      2);\n  int a;\n}\n")
            .before(2)
            .text == "say(f([] { return 1; }),\n    2);\n");
}

TEST_CASE("the code of a page ends with the lambda of its statement", "[commands][book]") {
  CHECK(Lesson99("int main() {\n  say(f([] {\n        g();\n  }), 2);\n  int a;\n}\n")
            .before(2)
            .text == "say(f([] {\n      g();\n}), 2);\n");
}

TEST_CASE("signs in comments, texts and characters do not end a statement", "[commands][book]") {
  CHECK(Lesson99("int main() {\n  say(1,  // );\n      2);\n  int a;\n}\n").before(2).text ==
        "say(1,  // );\n    2);\n");
  CHECK(Lesson99("int main() {\n  say(\");\", ')',\n      2);\n  int a;\n}\n").before(2).text ==
        "say(\");\", ')',\n    2);\n");
  CHECK(Lesson99("int main() {\n  say(1'000);\n  int a;\n}\n").before(2).text == "say(1'000);\n");
}

TEST_CASE("a section that begins in a function shows the lines of main up to its call",
          "[commands][book]") {
  Lesson99 lesson(
      "int main() {\n  int a = 1;\n  my_task();\n  task();\n  other(a);\n}\n\nvoid task() {\n"
      "  say(1);\n}\n");
  const SourceLines shown = lesson.of_main("task");
  CHECK(shown.text == "int a = 1;\nmy_task();\n");
  CHECK(shown.first == 2);
  CHECK(lesson.of_main("other").text == "int a = 1;\nmy_task();\ntask();\nother(a);\n");
  CHECK(lesson.of_main("main").text == "");
  CHECK(lesson.of_main("").text == "");
  CHECK(lesson.of_main("not_called").text == "");
}
