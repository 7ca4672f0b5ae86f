// output.cpp: the records that a lesson prints as HTML.

#include "commands/book/output.hpp"

#include <algorithm>
#include <cmath>

#include "heed/base/file.hpp"
#include "heed/base/text.hpp"
#include "page/page.hpp"

namespace heed::app {
namespace {

using Lines = std::vector<std::string>;

const std::string& string_in(const Json& record, const char* field) {
  return record.at(field).get<std::string>();
}

std::string html_of(const std::string& text) { return escaped_html(escaped_lines(text)); }

std::string element(const std::string& tag, const std::string& html) {
  return "<" + tag + ">" + html + "</" + tag + ">\n";
}

std::string pre_html(const Lines& lines) {
  return element("pre", escaped_html(joined(lines, "\n")));
}

// ---- text

// Takes the lines from index `at` on for which accept(line) is true, and moves `at` after them.
template <class Accept>
Lines take(const Lines& lines, std::size_t& at, Accept accept) {
  Lines taken;
  while (at < lines.size() && accept(lines[at])) taken.push_back(lines[at++]);
  return taken;
}

// Whether the line can be part of a paragraph.
bool is_prose(const std::string& line) {
  return !line.empty() && line[0] != ' ' && line[0] != '|' && line.find("   ") == line.npos;
}

// The width of the list marker if the line begins a list item, "2. " or "- ", indented by two
// spaces at most; otherwise 0.
std::size_t item_mark(const std::string& line) {
  const std::size_t indent = indent_of(line);
  if (indent > 2) return 0;
  const std::string start = line.substr(indent, 3);
  if (start.size() == 3 && start[0] >= '1' && start[0] <= '9' && start.substr(1) == ". ") return 3;
  return start.substr(0, 2) == "- " ? 2 : 0;
}

bool is_item(const std::string& line) { return item_mark(line) > 0; }

// Converts the block of lines that begins at `at` to HTML, and moves `at` after the block.
std::string block_html(const Lines& lines, std::size_t& at, LinkedText& linked) {
  if (is_item(lines[at])) {
    const std::size_t mark = item_mark(lines[at]);
    const std::size_t indent = indent_of(lines[at]) + mark;  // of the item's other lines
    std::string item = lines[at++].substr(indent - mark);
    for (const std::string& line : take(lines, at, [&](const std::string& next) {
           return indent_of(next) == indent && indent < next.size();
         }))
      item += " " + line.substr(indent);
    return "<p class=\"item\">" + linked.html(item) + "</p>\n";
  }
  if (is_prose(lines[at])) {
    const auto continues = [](const std::string& next) { return is_prose(next) && !is_item(next); };
    return element("p", linked.html(joined(take(lines, at, continues), " ")));
  }
  const Lines block = take(lines, at, [](const std::string& next) {
    const bool has_columns = next.find("  ") != next.npos;
    return !next.empty() && (!is_prose(next) || has_columns) && !is_item(next);
  });
  return pre_html(block);
}

// ---- headings, tables and checks

// The HTML elements around an appendix, which is folded.
const std::string fold_begin = "<details class=\"appendix\"><summary>Show</summary>\n";
const std::string fold_end = "</details>\n";

std::string heading_html(const std::string& title) {
  return "<h2 id=\"" + anchor_of(title) + "\">" + html_of(title) + "</h2>\n";
}

// A table row as HTML. The first cell is the row's name, if the rows have names.
std::string row_html(const Json::List& row, bool is_head, bool has_names) {
  std::string html;
  for (std::size_t i = has_names ? 0 : 1; i < row.size(); ++i) {
    const char* const tag = i == 0 || is_head ? "th" : "td";
    const std::string& cell = row[i].get<std::string>();
    const std::string text = cell.substr(std::min(cell.find_first_not_of(' '), cell.size()));
    html += "<" + std::string(tag) + ">" + html_of(text) + "</" + tag + ">";
  }
  return element("tr", html);
}

std::string table_html(const Json& record) {
  const Json::List& rows = record.at("rows").get<Json::List>();
  const bool has_head = record.at("has_head").get<bool>();
  const bool has_names = record.at("has_names").get<bool>();
  const std::size_t columns = rows.back().get<Json::List>().size() - (has_names ? 0 : 1);
  std::string html;
  bool begins = true;  // whether a matrix, or a group of its columns, begins
  for (const Json& row : rows) {
    const Json::List& cells = row.get<Json::List>();
    const bool is_title = cells.size() == 1;  // such as [0], the index of a matrix in its batch
    html += is_title ? "<tr><th class=\"index\" colspan=\"" + std::to_string(columns) + "\">" +
                           html_of(cells[0].get<std::string>()) + "</th></tr>\n"
                     : row_html(cells, begins && has_head, has_names);
    begins = is_title;
  }
  return "<div class=\"scroll\"><table><caption>" + html_of(string_in(record, "title")) +
         "</caption>\n" + html + "</table></div>\n";
}

// A tolerance as text: "within 0.00001", or "exactly" for 0.
std::string tolerance_text(double tolerance) {
  if (tolerance == 0) return "exactly";
  const int places = std::max(0, int(std::ceil(-std::log10(tolerance) - 1e-9)));
  const std::string text = decimal(tolerance, places);
  return "within " + (std::stod(text) == tolerance ? text : exact(tolerance));
}

std::string check_html(const Json& record) {
  std::string html = html_of(string_in(record, "text"));
  if (const Json* const tolerance = record.find("tolerance"))
    html += " <small class=\"tolerance\" title=\"no two numbers differ by more\">" +
            tolerance_text(tolerance->number()) + "</small>";
  return "<p class=\"check\">" + html + "</p>\n";
}

// ---- figures, pictures

// JSON for a <script> element: no text in it can end the element.
std::string figure_html(const std::string& kind, const Json& json) {
  std::string text = json.dump(-1, /*ascii=*/true);
  for (std::size_t at = 0; (at = text.find('<', at)) != text.npos;) text.replace(at, 1, "\\u003c");
  return "<figure class=\"" + kind + "\"><script type=\"application/json\">" + text +
         "</script></figure>\n";
}

// The picture in a file as HTML, or the message that explains why there is none.
std::string picture_html(const std::string& message, const std::filesystem::path& folder) {
  const std::string line = html_of("picture: " + message);
  const std::filesystem::path file = folder / message;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return element("p", line);
  return "<figure><img alt=\"" + escaped_html(file.stem().string()) +
         "\" src=\"data:image/svg+xml;base64," + base64(read_text(file.string())) +
         "\"><figcaption>" + line + "</figcaption></figure>\n";
}

// The figure, the printed lines and the picture of a record, if it has them. An interactive
// attention map replaces its text and its picture, which are folded.
std::string drawn_html(const Json& record, const std::filesystem::path& folder) {
  const std::string& kind = string_in(record, "kind");
  const auto part = [&](const char* summary, const std::string& html) {
    return kind == "attention" ? folded("printed", summary, html) : html;
  };
  std::string html;
  if (const Json* const figure = record.find("figure")) html += figure_html(kind, *figure);
  if (const Json* const printed = record.find("printed"))
    html += part("The map as text", pre_html(lines_of(escaped_lines(printed->get<std::string>()))));
  if (const Json* const picture = record.find("picture"))
    html += part("The map as a picture", picture_html(picture->get<std::string>(), folder));
  return html;
}

std::string record_html(const Json& record, const PageParts& parts) {
  const std::string& kind = string_in(record, "kind");
  if (kind == "table") return table_html(record);
  if (kind == "check") return check_html(record);
  return drawn_html(record, parts.folder);
}

// ---- the code that ran

// Code with its file and line. Long code is folded.
std::string ran_html(const SourceLines& code) {
  constexpr std::ptrdiff_t max_lines = 16;
  if (code.text.empty()) return "";
  const std::string number = std::to_string(code.first), where = code.file + ", line " + number;
  const std::string html = code_html(code.text);
  const bool is_long = std::count(code.text.begin(), code.text.end(), '\n') > max_lines;
  return "<div class=\"ran\" title=\"" + escaped_html(where) + "\"><small>" + number +
         "</small>\n" + (is_long ? folded("source", where, html) : html) + "</div>\n";
}

std::string code_before(const Json& record, LessonSource& source) {
  if (!record.contains("file")) return "";
  std::string html;
  if (const Json* const function = record.find("function"))
    html = ran_html(source.lines_of_main(function->get<std::string>()));
  const Json* const hides_call = record.find("hides_call");
  return html + ran_html(source.lines_before(string_in(record, "file"),
                                             record.at("line").get<std::uint64_t>(),
                                             hides_call == nullptr || !hides_call->get<bool>()));
}

}  // namespace

std::vector<Json> records_of(const std::string& output) {
  std::vector<Json> records;
  for (const std::string& line : lines_of(output))
    records.push_back(line[0] == '\x1d' ? Json::parse(line.substr(1))
                                        : Json({{"kind", "text"}, {"text", line + "\n"}}));
  return records;
}

std::string output_html(const std::vector<Json>& records, const PageParts& parts) {
  std::string html, text;  // text: after an empty line, so that the next record may continue it
  bool in_appendix = false;
  for (const Json& record : records) {
    const std::string& kind = string_in(record, "kind");
    const bool is_prose = kind == "prose", is_text = kind == "text" || is_prose;
    const std::string next =
        (is_prose ? "\n" : "") + (is_text ? string_in(record, "text") : std::string());
    const bool continues = is_text && next[0] != '\n';
    const std::size_t end = continues ? text.rfind("\n\n") + 1 : text.size();
    html += text_html(text.substr(0, end), parts.text);
    text = text.substr(end) + next;
    if (kind == "section" || kind == "appendix") {
      const bool folds = kind == "appendix";
      html += (in_appendix ? fold_end : "") + heading_html(string_in(record, "title")) +
              (folds ? fold_begin : "");
      in_appendix = folds;
    }
    html += code_before(record, parts.source);
    if (!is_text) html += record_html(record, parts);
  }
  return html + text_html(text, parts.text) + (in_appendix ? fold_end : "");
}

std::string text_html(const std::string& text, LinkedText& linked) {
  const Lines lines = lines_of(escaped_lines(text));
  std::string html;
  for (std::size_t at = 0; at < lines.size();) {
    if (lines[at].empty())
      ++at;
    else
      html += block_html(lines, at, linked);
  }
  return html;
}

std::string folded(const std::string& kind, const std::string& summary, const std::string& html) {
  return "<details class=\"" + kind + "\"><summary>" + escaped_html(summary) + "</summary>\n" +
         html + "</details>\n";
}

std::string code_html(const std::string& code) {
  return "<pre class=\"code\"><code>" + escaped_html(code) + "</code></pre>\n";
}

}  // namespace heed::app
