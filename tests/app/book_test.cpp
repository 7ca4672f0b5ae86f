// book_test.cpp: heed book writes what the lessons print.

#include <regex>

#include "app/heed_program.hpp"
#include "catch.hpp"
#include "heed/base/text.hpp"

using namespace heed_test;

namespace {

// The text of the lesson's output in its page: without tags, and without the folded code.
std::string output_in(const std::string& page) {
  const std::size_t begin = page.find("<div id=\"output\">");
  std::string text, html = page.substr(begin, page.find("\n</div>\n", begin) - begin);
  for (std::size_t at; (at = html.find("<details>")) != html.npos;)
    html.erase(at, html.find("</details>", at) + 10 - at);
  html = std::regex_replace(html, std::regex("</(h2|td|th|dt|dd|p|caption|pre)>"), " ");
  html = std::regex_replace(html, std::regex("<[^>]*>"), "");
  const std::pair<const char*, const char*> references[] = {
      {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&#39;", "'"}, {"&amp;", "&"}};
  for (const auto& [reference, character] : references)
    html = std::regex_replace(html, std::regex(reference), character);
  return html;
}

// The words of a text, without underlines and without the results of gnuplot and Graphviz, which
// the sandbox hides.
std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> result;
  const std::string shown = std::regex_replace(text, std::regex("picture: .*"), "");
  for (const std::string_view word : heed::words_of(shown))
    if (word.find_first_not_of('-') != word.npos) result.emplace_back(word);
  return result;
}

}  // namespace

TEST_CASE("the pages of the book have all that the lessons print", "[app][book]") {
  const Sandbox sandbox;
  for (const std::string lesson : {"01_averaging", "05_query_key_value"}) {
    const Finished done = sandbox.heed({"book", lesson.substr(0, 2), "--out", "b"});
    INFO(done.err);
    REQUIRE(done.code == 0);
    CHECK(done.out == "book   b/index.html: 1 lesson\n");
    const std::string page = content(sandbox / ("b/" + lesson + ".html"));
    const std::string out = content(HEED_SOURCE_DIR "/lessons/" + lesson + ".out");
    CHECK(words(output_in(page)) == words(out));
  }
  const std::string page = content(sandbox / "b/05_query_key_value.html");
  for (const char* part :
       {"<p class=\"check\">same: K by hand = in one line</p>", "<caption>X X^T (3, 3)</caption>",
        "href=\"glossary.html#projection-matrix\">PROJECTION MATRIX</a>",
        "The code of this section", "Answers to the questions", "<h2>Exercise 05</h2>",
        "<h2>Exercise 05b</h2>", "<summary>Hint 1</summary>", "04_graph_attention.html",
        "06_scaling_and_saturation.html"})
    CHECK(has(page, part));
  CHECK(has(content(sandbox / "b/index.html"), "21_vision.html"));
  CHECK(has(content(sandbox / "b/entries.js"), "05: Queries and keys"));
  CHECK(has(content(sandbox / "b/glossary.html"), "<dt id=\"softmax\">"));
  for (const char* name : {"b/book.css", "b/book.js"}) CHECK(sandbox.has_file(name));
  CHECK_FALSE(sandbox.has_file("b/run"));
}

TEST_CASE("heed book refuses a lesson that does not exist", "[app][book]") {
  const Sandbox sandbox;
  const Finished done = sandbox.heed({"book", "77"});
  CHECK(done.code == 2);
  CHECK(done.err.rfind("heed: error: lesson '77' does not exist; there are lessons 1 to ", 0) == 0);
  CHECK_FALSE(sandbox.has_file("book"));
}
