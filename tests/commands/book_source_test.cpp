// book_source_test.cpp: the lines of a lesson's source that the book shows before each output.

#include "catch.hpp"
#include "commands/book/parts.hpp"
#include "scratch_folder.hpp"

using heed::app::LessonSource;
using heed::app::SourceLines;
using heed_test::ScratchFolder;

namespace {

// The source of a lesson that has one file with these lines.
struct Lesson99 {
  explicit Lesson99(const std::string& lines) { folder.write("99_x.cpp", lines); }

  SourceLines before(std::size_t line) { return source().lines_before("99_x.cpp", line); }
  SourceLines of_main(std::size_t line) { return source().lines_of_main("99_x.cpp", line); }
  LessonSource source() const { return LessonSource({folder / "99_x.cpp"}); }

  ScratchFolder folder;
};

}  // namespace

TEST_CASE("the page shows no call that prints long text, because the text follows",
          "[commands][book]") {
  const ScratchFolder folder;
  folder.write("99_x.cpp",
               "int main() {\n  int a = 1;\n  say(\"one\",\n      \"two\" + b,\n"
               "      \"three\",\n      \"four\",\n      \"five\");\n  int c = 2;\n"
               "  say(\"c \" + c);\n}\n");
  LessonSource source({folder / "99_x.cpp"});
  CHECK(source.lines_before("99_x.cpp", 3).text == "int a = 1;\n");
  CHECK(source.lines_before("99_x.cpp", 9).text == "int c = 2;\nsay(\"c \" + c);\n");
}

TEST_CASE("the page shows no call that prints only text", "[commands][book]") {
  Lesson99 lesson("int main() {\n  int a = 1;\n  say(\"one\",\n      \"two\");\n}\n");
  CHECK(lesson.before(3).text == "int a = 1;\n");
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
      "int main() {\n  int a = 1;\n  my_task();\n  task();\n}\n\nvoid task() {\n  say(1);\n}\n");
  const SourceLines shown = lesson.of_main(8);
  CHECK(shown.text == "int a = 1;\nmy_task();\n");
  CHECK(shown.first == 2);
  CHECK(lesson.of_main(3).text == "");  // a line of main itself
}
