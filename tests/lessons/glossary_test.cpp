// glossary_test.cpp: the glossary's terms stand in the output of their lessons, and every lesson
// ends with three answered questions.

#include "lessons/programs.hpp"
#include "lessons/written_files.hpp"
#include "readme.hpp"

namespace {

using namespace heed_test;

struct Term {
  std::string name, lesson, definition;  // "softmax", "04", "exp of each score divided by ..."
};

// The lines "term | lesson | definition" of the glossary.
std::vector<Term> glossary() {
  std::vector<Term> terms;
  for (const std::string& line : lines_of(content(HEED_SOURCE_DIR "/lessons/glossary.txt"))) {
    const std::size_t first = line.find(" | "), second = line.find(" | ", first + 1);
    INFO(line);
    REQUIRE(second != line.npos);
    terms.push_back({line.substr(0, first), line.substr(first + 3, second - first - 3),
                     line.substr(second + 3)});
  }
  return terms;
}

// Lower case, with one space between words.
std::string normalized(const std::string& text) {
  std::string result = one_line(text);
  for (char& c : result) c = char(std::tolower(static_cast<unsigned char>(c)));
  return result.substr(0, result.find_last_not_of(' ') + 1);
}

std::string output_of(const std::filesystem::path& lesson) {
  return content(lesson / "output.txt");
}

}  // namespace

TEST_CASE("each term of the glossary occurs in the output of its lesson", "[lessons]") {
  const std::vector<Term> terms = glossary();
  CHECK(terms.size() >= 60);
  for (const Term& term : terms) {
    INFO(term.name << " in lesson " << term.lesson);
    CHECK(term.definition.back() == '.');
    bool found = false;
    for (const auto& lesson : lesson_folders())
      if (lesson.filename().string().rfind(term.lesson + "_", 0) == 0)
        found = has(normalized(output_of(lesson)), normalized(term.name));
    CHECK(found);
  }
}

TEST_CASE("every lesson says what to remember, and ends with three answered questions",
          "[lessons]") {
  for (const auto& lesson : lesson_folders()) {
    if (!std::filesystem::exists(lesson / "answers.md")) continue;  // the first and the last
    INFO(lesson);
    const std::string output = output_of(lesson), answers = content(lesson / "answers.md");
    CHECK(has(output, "\nTo remember\n"));
    const std::string questions = output.substr(output.rfind("\nQuestions\n"));
    for (const char* number : {"1. ", "2. ", "3. "}) {
      CHECK(has(questions, std::string("\n") + number));
      CHECK(has("\n" + answers, std::string("\n") + number));
    }
  }
}
