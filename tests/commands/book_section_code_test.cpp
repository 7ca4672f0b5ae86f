// book_section_code_test.cpp: the code of each section in a lesson's README.md.

#include "catch.hpp"
#include "commands/book/section_code.hpp"
#include "scratch_folder.hpp"

using heed::app::SectionCode;
using heed_test::ScratchFolder;

namespace {

const char* const two_sections =
    "// 03 x: a lesson.\n\n#include \"lesson.hpp\"\n\nusing namespace heed;\n\n"
    "const Names words = {\"a\"};\n\n"
    "// Adds.\nint sum(int a) {\n  return a;\n}\n\n"
    "void first(int a) {\n  section(\"First\",\n          {{\"a\", a}});\n  sum(a);\n\n"
    "  say();\n\n  show(a);\n}\n\n"
    "int more() {\n  return 2;\n}\n\n"
    "void second() {\n  section(\"Second\");\n  more();\n}\n\n"
    "void third() {\n  section(\"Third\");\n}\n\n"
    "int main() {\n  opening();\n  first(1);\n  if (appendix(\"A\")) second();\n}\n";

SectionCode code_of(const std::string& source, const ScratchFolder& folder) {
  folder.write("lesson.cpp", source);
  return SectionCode(folder / "lesson.cpp");
}

}  // namespace

TEST_CASE("the code of a section is its function and what it uses, without calls of mere prose",
          "[commands][book]") {
  const ScratchFolder folder;
  SectionCode code = code_of(two_sections, folder);
  CHECK(code.of("first") ==
        "const Names words = {\"a\"};\n\n// Adds.\nint sum(int a) {\n  return a;\n}\n\n"
        "void first(int a) {\n  section(\"First\",\n          {{\"a\", a}});\n  sum(a);\n\n"
        "  show(a);\n}\n");
  CHECK(code.of("second") == "int more() {\n  return 2;\n}\n\nvoid second() {\n  more();\n}\n");
  CHECK(code.of("third") == "");
  CHECK(code.of("main") == "int main() {\n  opening();\n  first(1);\n  if (appendix(\"A\")) second();\n}\n");
  CHECK(code.of("first") == "");
}

TEST_CASE("the code of a section has no code of other sections that stand above it",
          "[commands][book]") {
  const ScratchFolder folder;
  CHECK(code_of(two_sections, folder).of("second") ==
        "int more() {\n  return 2;\n}\n\nvoid second() {\n  more();\n}\n");
  CHECK(code_of(two_sections, folder).of("missing") == "");
}

TEST_CASE("an appendix is the code of the function that its line calls", "[commands][book]") {
  const ScratchFolder folder;
  const SectionCode code = code_of(two_sections, folder);
  CHECK(code.called_in(40) == "second");
  CHECK(code.called_in(39) == "");
  CHECK(code.called_in(400) == "");
}
