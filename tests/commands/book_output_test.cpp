// book_output_test.cpp: the records of a lesson as HTML.

#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "commands/book/output.hpp"
#include "commands/heed_program.hpp"

using namespace heed_test;

namespace {

// The HTML of the output of a lesson whose source is not known.
std::string html_of_output(const std::string& output, const std::vector<heed::app::Term>& terms) {
  heed::app::LinkedText text(terms);
  heed::app::LessonSource source({});
  return heed::app::output_html(heed::app::records_of(output), {text, source, "/nowhere"});
}

// A record as a lesson prints it.
std::string record(const std::string& kind, nlohmann::json fields) {
  fields["kind"] = kind;
  return "\x1d" + fields.dump() + "\n";
}

}  // namespace

TEST_CASE("the book tells paragraphs, numbered items and aligned lines apart", "[commands][book]") {
  CHECK(html_of_output(
            "A paragraph whose second line ends like the title of a table:\nthe factor 1 / "
            "sqrt(12)\ndoes not help.\n\n"
            "1. A question that\n   continues.\n2. Another one.\n\n"
            "      1. A deep line.\n\n"
            "seeds 1 to 3, all      ~2.34\nseeds 1 to 3, without  ~2.27\n",
            {}) ==
        "<p>A paragraph whose second line ends like the title of a table: the factor 1 / sqrt(12) "
        "does not help.</p>\n"
        "<p class=\"item\">1. A question that continues.</p>\n"
        "<p class=\"item\">2. Another one.</p>\n"
        "<pre>      1. A deep line.</pre>\n"
        "<pre>seeds 1 to 3, all      ~2.34\nseeds 1 to 3, without  ~2.27</pre>\n");
}

TEST_CASE("records of text continue a paragraph unless an empty line is between",
          "[commands][book]") {
  const std::string one = record("text", {{"text", "Rows:\n\na    1\n"}});
  CHECK(html_of_output(one + record("text", {{"text", "b    2\n"}}), {}) ==
        "<p>Rows:</p>\n<pre>a    1\nb    2</pre>\n");
  CHECK(html_of_output(one + record("text", {{"text", "\nb    2\n"}}), {}) ==
        "<p>Rows:</p>\n<pre>a    1</pre>\n<pre>b    2</pre>\n");
}

TEST_CASE("prose of lesson.md begins a paragraph of the book, and an appendix is folded",
          "[commands][book]") {
  CHECK(html_of_output(record("prose", {{"text", "One.\n"}}) +
                           record("prose", {{"text", "- Two\n  lines\n- Three\n"}}) +
                           record("appendix", {{"title", "More"}}) +
                           record("prose", {{"text", "Four.\n"}}) +
                           record("section", {{"title", "End"}}),
                       {}) ==
        "<p>One.</p>\n<p class=\"item\">- Two lines</p>\n<p class=\"item\">- Three</p>\n"
        "<h2 id=\"More\">More</h2>\n<details class=\"appendix\"><summary>Show</summary>\n"
        "<p>Four.</p>\n</details>\n<h2 id=\"End\">End</h2>\n");
}

TEST_CASE("a table of the book has headings for names and cells for numbers", "[commands][book]") {
  const nlohmann::json batch = {
      {"title", "x (1, 2, 2)"},
      {"has_head", false},
      {"has_names", false},
      {"rows", {{"[0]"}, {"", "1.0000", "  -inf"}, {"", "3.0000", "4.0000"}}}};
  CHECK(html_of_output(record("table", batch), {}) ==
        "<div class=\"scroll\"><table><caption>x (1, 2, 2)</caption>\n"
        "<tr><th class=\"index\" colspan=\"2\">[0]</th></tr>\n"
        "<tr><td>1.0000</td><td>-inf</td></tr>\n<tr><td>3.0000</td><td>4.0000</td></tr>\n"
        "</table></div>\n");
  const nlohmann::json named = {{"title", "y (1, 2)"},
                                {"has_head", true},
                                {"has_names", true},
                                {"rows", {{"   ", "   1", "   2"}, {"cat", "1.00", "2.00"}}}};
  CHECK(html_of_output(record("table", named), {}) ==
        "<div class=\"scroll\"><table><caption>y (1, 2)</caption>\n"
        "<tr><th></th><th>1</th><th>2</th></tr>\n"
        "<tr><th>cat</th><td>1.00</td><td>2.00</td></tr>\n</table></div>\n");
}

TEST_CASE("no text of a lesson becomes markup in the book", "[commands][book]") {
  const std::string visible = "</script><img src=x> \"' & \xe2\x80\xae \x1b[0m ";
  const std::string odd = visible + std::string(10000, 'x'), no_utf8 = visible + "\xed\xa0\x80";
  const nlohmann::json figure = {
      {"row_title", "query"}, {"column_title", "key"}, {"rows", {odd.substr(0, 20)}}};
  const std::string html = html_of_output(
      record("text", {{"text", odd + "\n\n"}}) + no_utf8 + "\n" +
          record("attention", {{"figure", figure}, {"printed", odd}, {"picture", odd}}) +
          record("table", {{"title", odd},
                           {"has_head", true},
                           {"has_names", true},
                           {"rows", {{odd}, {odd, odd}}}}) +
          record("check", {{"text", odd}, {"tolerance", 0.5}}),
      {{odd.substr(0, 20), "01", "a term of " + odd.substr(0, 20)}});
  for (const char* markup : {"<img", "</script><img", "\xe2\x80\xae", "\x1b", "\xed\xa0\x80"})
    CHECK_FALSE(has(html, markup));
  CHECK(has(html, "\\u003c/script>"));
  CHECK(has(html, "&lt;/script&gt;&lt;img src=x&gt; &quot;&#39; &amp; \\u202e \\x1b[0m \\xed"));
}
