// book_test.cpp: the pages of heed book have the words and numbers that the lessons print.

#include <cmath>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "catch.hpp"
#include "commands/heed_program.hpp"
#include "heed/base/text.hpp"
#include "lessons/programs.hpp"

using namespace heed_test;

namespace {

using Words = std::vector<std::string>;

void erase_all(std::string& text, const std::string& begin, const std::string& end) {
  for (std::size_t at; (at = text.find(begin)) != text.npos;)
    text.erase(at, text.find(end, at) + end.size() - at);
}

// The text of the lesson's output in its page: without tags, and without what the page adds.
std::string output_in(const std::string& page) {
  const std::size_t begin = page.find("<div id=\"output\">");
  const std::size_t end =  // a lesson without questions has no answers
      std::min(page.find("<details class=\"answers\">"), page.find("<h2>The source</h2>"));
  std::string html = page.substr(begin, end - begin);
  erase_all(html, "<div class=\"ran\"", "</div>");
  erase_all(html, "<small", "</small>");
  erase_all(html, "<script", "</script>");
  erase_all(html, "<summary>", "</summary>");
  for (const char* tag : {"h2", "td", "th", "dt", "dd", "p", "caption", "pre", "figcaption"})
    for (std::size_t at; (at = html.find("</" + std::string(tag) + ">")) != html.npos;)
      html.replace(at, std::string(tag).size() + 3, "\n");
  erase_all(html, "<", ">");
  const std::pair<const char*, const char*> references[] = {
      {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&#39;", "'"}, {"&amp;", "&"}};
  for (const auto& [reference, character] : references)
    html = std::regex_replace(html, std::regex(reference), character);
  return html;
}

// The output without the lesson's title, which is the heading of its page.
std::string without_title(const std::string& out) {
  const std::size_t underline = out.find("\n===");
  if (underline == out.npos) return out;
  return out.substr(0, out.rfind('\n', underline - 1)) + out.substr(out.find('\n', underline + 1));
}

// The words of a text, without underlines and the marks of checks (a page has a line for each check
// of "same: a; b"), without lines that may differ on another machine, and
// without the results of gnuplot and Graphviz, which the sandbox hides.
Words words(const std::string& text) {
  Words result;
  for (const std::string& line : heed::lines_of(text)) {
    if (line.rfind("  |", 0) == 0 || line.rfind("picture: ", 0) == 0) continue;
    for (std::string_view word : heed::words_of(line)) {
      if (word.back() == ';') word.remove_suffix(1);
      if (word != "same:" && word.find_first_not_of('-') != word.npos) result.emplace_back(word);
    }
  }
  return result;
}

// Whether two words are equal, or numbers that differ by one unit of the last digit at most.
bool agree(const std::string& a, const std::string& b) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto is_number = [&](const std::string& word) {
    return word.find_first_not_of("-.0123456789") == word.npos &&
           std::any_of(word.begin(), word.end(), is_digit);
  };
  if (a == b || !is_number(a) || !is_number(b) || a.find('.') == a.npos) return a == b;
  const std::size_t decimals = a.size() - a.find('.') - 1;
  const double difference = std::abs(std::atof(a.c_str()) - std::atof(b.c_str()));
  return b.size() - b.find('.') - 1 == decimals &&
         difference <= 1.01 * std::pow(10.0, -static_cast<double>(decimals));
}

// The words without numbers, their errors and repetitions of a word: with less training, tables
// have other numbers and fewer columns, and one seed has no standard error.
Words without_numbers(const Words& words) {
  Words rest;
  for (const std::string& word : words)
    if (word.find_first_of("0123456789") == word.npos && word != "+-" &&
        (rest.empty() || rest.back() != word))
      rest.push_back(word);
  return rest;
}

bool contains(const Words& text, const Words& part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(), agree) != text.end();
}

// The lines of output.txt that are not in the page; of a lesson that trains, without numbers.
std::string missing_lines(const std::string& out, const std::string& page, bool trains) {
  Words in_page = words(page);
  if (trains) in_page = without_numbers(in_page);
  std::string missing;
  for (const std::string& line : heed::lines_of(out)) {
    const Words in_line = trains ? without_numbers(words(line)) : words(line);
    if (!contains(in_page, in_line)) missing += line + "\n";
  }
  return missing;
}

// Checks that the page holds each picture that the lesson's output names, if gnuplot and Graphviz
// are installed.
void check_pictures(const std::string& out, const std::string& page) {
  if (has(page, " is not installed")) {
    WARN("pictures skipped: gnuplot or Graphviz is not installed");
    return;
  }
  for (const std::string& line : heed::lines_of(out)) {
    if (line.rfind("picture: ", 0) != 0) continue;
    INFO(line);
    const std::string begin = "<figure><img alt=\"" + std::filesystem::path(line).stem().string() +
                              "\" src=\"data:image/svg+xml;base64,PD94bWw";  // <?xml
    REQUIRE(has(page, begin));
    const std::size_t end = page.find('"', page.find(begin) + begin.size());
    CHECK(end - page.find(begin) > 4000);
    CHECK(page.substr(end, 14) == "\"><figcaption>");
    CHECK(has(page, "<figcaption>" + line + "</figcaption>"));
  }
}

}  // namespace

TEST_CASE("the pages of the book have all that the lessons print", "[commands][book]") {
  const Sandbox sandbox;
  for (const std::string lesson : {"01_averaging", "04_query_key_value"}) {
    Call call = sandbox.call({"book", lesson.substr(0, 2), "--out", "b"});
    call.environment.clear();  // with gnuplot and Graphviz on the PATH
    const Finished done = run(call);
    INFO(done.err);
    REQUIRE(done.code == 0);
    CHECK(done.out == "book   b/index.html: 1 lesson\n");
    const std::string page = content(sandbox / ("b/" + lesson + ".html"));
    const std::string out =
        without_title(content(HEED_SOURCE_DIR "/lessons/" + lesson + "/output.txt"));
    CHECK(words(output_in(page)) == words(out));
    CHECK(missing_lines(out, output_in(page), false) == "");
    check_pictures(out, page);
  }
  const std::string page = content(sandbox / "b/04_query_key_value.html");
  for (const char* part :
       {"<p class=\"check\">same: X W_V = water and money <small class=\"tolerance\" title=\"no "
        "two numbers differ by more\">within 0.00001</small></p>",
        "<caption>scores S (3, 3)</caption>",
        "href=\"glossary.html#projection-matrix\">PROJECTION MATRIX</a>",
        "\nconst Array S = products / std::sqrt(Real(4));\n",
        "check(&quot;X W_V = water and money&quot;",
        "</small>\n<pre class=\"code\"><code>const BankWeights attend = with_projections(",
        "Answers to the questions", "<h2>Exercise 04</h2>", "<h2>Exercise 04b</h2>",
        "Check it with <code>./heed exercise 04b</code>.", "<summary>Hint 1</summary>",
        "03_graph_attention.html", "05_autograd.html", "<figure class=\"attention\"><script",
        "<figure class=\"sliders\"><script"})
    CHECK(has(page, part));
  const std::string index = content(sandbox / "b/index.html");
  CHECK(has(index, "22_vision.html"));
  CHECK(has(index, "<a href=\"01_averaging.html\">01 averaging</a><br>the word after "));
  CHECK(has(content(sandbox / "b/glossary.html"), "<dt id=\"softmax\">"));
  CHECK(has(content(sandbox / "b/glossary.html"),
            "<a href=\"04_query_key_value.html#term-projection-matrix\">lesson 04</a>"));
  CHECK(has(page, "id=\"term-projection-matrix\""));
  CHECK(has(page, "`attention_of_token` computes such a row"));  // no link within a name
  for (const char* name : {"b/book.css", "b/book.js", "b/maps.js", "b/curves.js", "b/sliders.js"})
    CHECK(sandbox.has_file(name));
  CHECK_FALSE(sandbox.has_file("b/run"));
}

TEST_CASE("heed book of one lesson keeps the other pages and their search entries",
          "[commands][book]") {
  const Sandbox sandbox;
  for (const char* lesson : {"1", "2", "1"})
    REQUIRE(sandbox.heed({"book", lesson, "--out", "b"}).code == 0);
  const std::string entries = content(sandbox / "b/entries.js");
  for (const char* title : {"\"01: The mean of the context\"", "\"02: Convex combinations\""}) {
    const std::size_t first = entries.find(title);
    CHECK(first != entries.npos);
    CHECK(entries.find(title, first + 1) == entries.npos);
  }
  CHECK(has(content(sandbox / "b/01_averaging.html"), "<div id=\"output\">"));
  CHECK(has(content(sandbox / "b/02_naive_attention.html"), "<div id=\"output\">"));
  CHECK(has(content(sandbox / "b/03_graph_attention.html"), "<code>./heed book 03</code> runs it"));
}

namespace {

bool calls_loss_curves(const std::filesystem::path& lesson) {
  for (const auto& entry : std::filesystem::directory_iterator(lesson)) {
    const std::string type = entry.path().extension();
    if ((type == ".cpp" || type == ".hpp") && has(content(entry.path()), "loss_curves("))
      return true;
  }
  return false;
}

}  // namespace

TEST_CASE("every line of the .out files is in the book that is made in brief",
          "[commands][whole_book][.]") {
  const EnvironmentVariable brief("HEED_BRIEF", "1");
  const ScratchFolder sandbox;
  const LessonRun book = run_in(sandbox.path, HEED_BINARY_DIR "/heed", "book --brief --out b");
  REQUIRE(book.exit_code == 0);
  for (const std::filesystem::path& lesson : lesson_folders()) {
    const std::string name = lesson.filename().string();
    INFO("lesson " << name);
    const std::string html = content(sandbox / ("b/" + name + ".html"));
    const std::string page = output_in(html);
    CHECK(has(html, "<figure class=\"curves\">") == calls_loss_curves(lesson));
    const std::string out = without_title(content(lesson / "output.txt"));
    const bool differs =
        trains(lesson) || has(out, "~");  // numbers that brief runs or training change
    CHECK(missing_lines(out, page, differs) == "");
    if (trains(lesson)) continue;  // a second training would take minutes
    const ScratchFolder folder(name);
    const LessonRun run = run_in(folder.path, HEED_BINARY_DIR "/lessons/" + name);
    CHECK(run.exit_code == 0);
    CHECK(words(page) == words(without_title(run.output)));
  }
}

TEST_CASE("the comparison of a page with an .out file can fail", "[commands][book]") {
  CHECK(missing_lines("a 1.25 b\nc\n", "a 1.25 b c", false) == "");
  CHECK(missing_lines("a 1.25 b\nc\n", "a 1.26 b c", false) == "");
  CHECK(missing_lines("a 1.25 b\nc\n", "a 1.28 b c", false) == "a 1.25 b\n");
  CHECK(missing_lines("a 1.25 b\nc\n", "a 1.28 b c", true) == "");
  CHECK(missing_lines("a 1.25 b\nc\n", "a 1.28 d c", true) == "a 1.25 b\n");
  CHECK(missing_lines("40 heads\n", "41 heads", false) == "40 heads\n");
}

TEST_CASE("heed book rejects a lesson that does not exist", "[commands][book]") {
  const Sandbox sandbox;
  const Finished done = sandbox.heed({"book", "77"});
  CHECK(done.code == 2);
  CHECK(done.err.rfind("heed: error: lesson '77' does not exist; there are lessons 00 to ", 0) ==
        0);
  CHECK_FALSE(sandbox.has_file("book"));
}
