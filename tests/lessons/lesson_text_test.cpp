// lesson_text_test.cpp: LessonText, which reads a lesson.md, and terminal_text().

#include "lesson_text.hpp"

#include "catch.hpp"
#include "message_of.hpp"
#include "scratch_folder.hpp"

using heed::LessonText;
using heed::terminal_text;
using heed::test::message_of;
using heed_test::has;

static LessonText text_of(const std::string& markdown) { return {"lesson.md", markdown}; }

TEST_CASE("a lesson's text has a title, sections and parts", "[lessons]") {
  LessonText text = text_of(
      "# A title\nThe question.\n\n## One\n\nfirst\n---\n\nsecond\n\n## Two\n---\n"
      "```\n# no heading\n---\n```\n");
  CHECK(text.title() == "A title");
  CHECK(text.begin("A title", {}) == "The question.\n");
  CHECK(text.begin("One", {}) == "first\n");
  CHECK(text.next({}) == "second\n");
  CHECK(text.begin("Two", {}) == "");
  CHECK(text.next({}) == "```\n# no heading\n---\n```\n");
  text.end();
}

TEST_CASE("values of the code stand in the text of a lesson", "[lessons]") {
  const std::string markdown = "# A\n{n} losses, {loss} each, in the set {1, 2} or {}; {n}\n";
  CHECK(text_of(markdown).begin("A", {{"n", 2}, {"loss", "~0.69"}}) ==
        "2 losses, ~0.69 each, in the set {1, 2} or {}; 2\n");
  CHECK(message_of([&] {
          text_of(markdown).begin("A", {{"n", 2}});
        }) == "lesson.md: section 'A': the code gives no value for {loss}");
  CHECK(message_of([&] {
          text_of("# A\n{n}\n").begin("A", {{"n", 2}, {"m", 2}});
        }) == "lesson.md: section 'A': the text does not use the value {m}");
}

TEST_CASE("errors in a lesson.md name the file and the line or section", "[lessons]") {
  CHECK(message_of([] { text_of(""); }) == "lesson.md: the file is empty");
  CHECK(has(message_of([] { text_of("text\n"); }), "lesson.md: 'text': the first line is '# '"));
  CHECK(has(message_of([] { text_of("# A\n### B\n"); }), "lesson.md: '### B': "));
  CHECK(message_of([] { text_of("# A\n## B\n## B\n"); }) ==
        "lesson.md: two sections have the heading 'B'");
  CHECK(message_of([] { text_of("# A\n```\n"); }) ==
        "lesson.md: a block that begins with ``` does not end");
  LessonText text = text_of("# A\n## B\nb\n## C\n");
  text.begin("A", {});
  text.begin("B", {});
  CHECK(message_of([&] { text.begin("B", {}); }) == "lesson.md: section 'B' begins twice");
  CHECK(message_of([&] { text.next({}); }) == "lesson.md: section 'B' has only 1 part");
  CHECK(message_of([&] { text.end(); }) ==
        "lesson.md: section 'C' has 1 part, but the lesson prints 0");
  text.skip("C");
  text.end();
}

TEST_CASE("paragraphs and list items are wrapped for a terminal", "[lessons]") {
  CHECK(terminal_text("A paragraph of\ntwo lines.\n\nAnother one.\n", 20) ==
        "A paragraph of two\nlines.\n\nAnother one.\n");
  CHECK(terminal_text("1. A question of\n   two lines?\n2. Yes\n", 16) ==
        "1. A question of\n   two lines?\n2. Yes\n");
  CHECK(terminal_text("* an item that is long\n  - and one below it\n", 14) ==
        "* an item that\n  is long\n  - and one\n    below it\n");
  CHECK(terminal_text("\u00fcber 10 \u00dc\n", 9) == "\u00fcber 10 \u00dc\n");
}

TEST_CASE("a terminal shows fenced blocks as they are, and no marks of emphasis or links",
          "[lessons]") {
  CHECK(terminal_text("so:\n\n```\np  = a *b*\n\n- 1\n```\n\nthen\n") ==
        "so:\n\n  p  = a *b*\n\n  - 1\n\nthen\n");
  CHECK(terminal_text("a *word*, **two words**, a * b, `*p`\n") ==
        "a word, two words, a * b, `*p`\n");
  CHECK(terminal_text("see [the map](../README.md)\n") == "see the map\n");
}
