// output.cpp: the output of a lesson as HTML.

#include <algorithm>
#include <cmath>

#include "commands/book/parts.hpp"
#include "heed/base/file.hpp"
#include "heed/base/text.hpp"
#include "page/page.hpp"

namespace heed::app {
namespace {

using Lines = std::vector<std::string>;

bool starts_with(const std::string& text, const char* begin) { return text.rfind(begin, 0) == 0; }

bool is_underline(const std::string& line) {
  return line.size() > 2 && line.find_first_not_of('-') == line.npos;
}

// The text after "same:" or "holds:", or an empty string if the line is not a check.
std::string check_of(const std::string& line) {
  for (const char* begin : {"  same: ", "  holds: "})
    if (starts_with(line, begin)) return line.substr(2);
  return "";
}

// Whether the line is the title of a table: it ends with a shape, such as "Q K^T (3, 3)".
bool is_table_title(const std::string& line) {
  const std::size_t open = line.rfind('(');
  if (line.empty() || line[0] == ' ' || open == line.npos || open == 0) return false;
  const std::size_t close = line.find(')', open);
  const std::string shape = line.substr(open + 1, close - open - 1);
  const std::string rest = close == line.npos ? "?" : line.substr(close + 1);
  return !shape.empty() && shape.find_first_not_of("0123456789, ") == shape.npos &&
         (rest.empty() || rest == ", trained");
}

// The cells of a table's line, which two or more spaces separate.
Lines cells_of(const std::string& line) {
  Lines cells;
  for (std::size_t i = 0; i < line.size();) {
    std::size_t end = line.find("  ", i);
    if (end == line.npos) end = line.size();
    if (end > i) cells.push_back(line.substr(i, end - i));
    i = end == line.size() ? end : line.find_first_not_of(' ', end);
    if (i == line.npos) break;
  }
  return cells;
}

bool is_number(const std::string& cell) {
  return cell.find_first_of("0123456789") != cell.npos &&
         cell.find_first_not_of("0123456789+-.~e") == cell.npos;
}

std::string row_html(const Lines& cells, std::size_t columns, const char* tag) {
  if (cells.size() == 1 && cells[0][0] == '[')  // the index of a matrix in a batch, such as [0]
    return "<tr><th class=\"index\" colspan=\"" + std::to_string(columns) + "\">" +
           escaped_html(cells[0]) + "</th></tr>\n";
  std::string html = "<tr>";
  for (std::size_t i = cells.size(); i < columns; ++i) html += "<th></th>";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string name = i == 0 && !is_number(cells[i]) ? "th" : tag;
    html += "<" + name + ">" + escaped_html(cells[i]) + "</" + name + ">";
  }
  return html + "</tr>\n";
}

std::string table_html(const std::string& title, const Lines& rows) {
  std::size_t columns = 0;
  for (const std::string& row : rows) columns = std::max(columns, cells_of(row).size());
  std::string html =
      "<div class=\"scroll\"><table><caption>" + escaped_html(title) + "</caption>\n";
  for (const std::string& row : rows) {
    const Lines cells = cells_of(row);
    const bool head = row[0] == ' ' && std::none_of(cells.begin(), cells.end(), is_number);
    html += row_html(cells, columns, head ? "th" : "td");
  }
  return html + "</table></div>\n";
}

// Returns the lines from `at` while `accept` holds, and moves `at` behind them.
template <class Accept>
Lines take(const Lines& lines, std::size_t& at, Accept accept) {
  Lines taken;
  while (at < lines.size() && accept(lines[at])) taken.push_back(lines[at++]);
  return taken;
}

constexpr const char* picture_mark = "picture: ";

// Whether the line can belong to a paragraph.
bool is_text(const std::string& line) {
  return !line.empty() && !starts_with(line, picture_mark) && line[0] != ' ' && line[0] != '|' &&
         line.find("   ") == line.npos;
}

// Whether the line can begin a paragraph.
bool is_prose(const std::string& line) { return is_text(line) && !is_table_title(line); }

std::size_t indent_of(const std::string& line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

// Whether the line begins an item of a numbered list: "2. ", indented by two spaces at most.
bool is_item(const std::string& line) {
  const std::size_t indent = indent_of(line);
  return indent <= 2 && line.size() > indent + 3 && line[indent] >= '1' && line[indent] <= '9' &&
         line.compare(indent + 1, 2, ". ") == 0;
}

bool is_row(const std::string& line) { return !line.empty() && check_of(line).empty(); }

std::string element(const char* tag, const std::string& html) {
  return "<" + std::string(tag) + ">" + html + "</" + tag + ">\n";
}

// "within 0.00001", or "exactly" for 0.
std::string tolerance_text(double tolerance) {
  if (tolerance == 0) return "exactly";
  const int places = std::max(0, int(std::ceil(-std::log10(tolerance) - 1e-9)));
  const std::string text = decimal(tolerance, places);
  return "within " + (std::stod(text) == tolerance ? text : exact(tolerance));
}

std::string check_html(const std::string& check, const std::vector<Json>& notes) {
  std::string tolerance;
  for (const Json& note : notes)
    if (note.contains("tolerance") && check.find("(within ") == check.npos)
      tolerance = " <small class=\"tolerance\" title=\"no two numbers differ by more\">" +
                  tolerance_text(note.at("tolerance").number()) + "</small>";
  return "<p class=\"check\">" + escaped_html(check) + tolerance + "</p>\n";
}

// The item of a numbered list that begins at `at`. Moves `at` behind it.
std::string item_html(const Lines& lines, std::size_t& at, LinkedText& text) {
  const std::size_t indent = indent_of(lines[at]) + 3;  // of the lines that continue the item
  std::string item = lines[at].substr(indent - 3);
  for (++at; at < lines.size() && indent_of(lines[at]) == indent && indent < lines[at].size(); ++at)
    item += " " + lines[at].substr(indent);
  return "<p class=\"item\">" + text.html(item) + "</p>\n";
}

// The HTML of the block of lines that begins at `at`. Moves `at` behind them.
std::string block_html(const Lines& lines, std::size_t& at, LinkedText& text,
                       const std::vector<Json>& notes) {
  const std::string& line = lines[at];
  if (const std::string check = check_of(line); !check.empty()) {
    ++at;
    return check_html(check, notes);
  }
  const bool is_map = std::any_of(notes.begin(), notes.end(),
                                  [](const Json& note) { return note.at("kind") == "maps"; });
  if (is_map && !starts_with(line, picture_mark))
    return element("pre", escaped_html(joined(take(lines, at, is_row), "\n")));
  if (is_table_title(line)) {
    ++at;
    return table_html(line, take(lines, at, is_row));
  }
  if (is_item(line)) return item_html(lines, at, text);
  if (is_prose(line)) {
    const auto continues = [](const std::string& next) { return is_text(next) && !is_item(next); };
    return element("p", text.html(joined(take(lines, at, continues), " ")));
  }
  const Lines block = take(lines, at, [](const std::string& next) {
    const bool has_columns = next.find("  ") != next.npos;
    return !next.empty() && (!is_prose(next) || has_columns) && !is_table_title(next) &&
           check_of(next).empty() && !is_item(next);
  });
  return element("pre", escaped_html(joined(block, "\n")));
}

// ---- pictures, attention maps, loss curves, sliders, and the code that ran

// JSON for the page's script; no text in it can end the script element.
std::string figure_html(const std::string& kind, const Json& json) {
  std::string text = json.dump(-1, /*ascii=*/true);
  for (std::size_t at = 0; (at = text.find('<', at)) != text.npos;) text.replace(at, 1, "\\u003c");
  return "<figure class=\"" + kind + "\"><script type=\"application/json\">" + text +
         "</script></figure>\n";
}

// Whether the page shows the heat maps of a note as an attention map: queries by keys.
bool is_attention(const Json& note) {
  return note.at("kind") == "maps" &&
         note.at("row_title").get<std::string>().rfind("query", 0) == 0 &&
         note.at("column_title").get<std::string>().rfind("key", 0) == 0;
}

// Code that ran, with its file and line. Long code is folded.
std::string ran_html(const SourceLines& code) {
  constexpr std::ptrdiff_t max_lines = 16;
  if (code.text.empty()) return "";
  const std::string number = std::to_string(code.first), where = code.file + ", line " + number;
  const std::string html = code_html(code.text);
  const bool is_long = std::count(code.text.begin(), code.text.end(), '\n') > max_lines;
  return "<div class=\"ran\" title=\"" + escaped_html(where) + "\"><small>" + number +
         "</small>\n" + (is_long ? folded("source", where, html) : html) + "</div>\n";
}

std::string note_html(const Json& note, LessonSource& source) {
  const std::string& kind = note.at("kind").get<std::string>();
  const std::string& file = note.at("file").get<std::string>();
  const std::size_t line = note.at("line").get<std::uint64_t>();
  std::string html;
  if (kind == "section") html = ran_html(source.lines_of_main(file, line));
  html += ran_html(source.lines_before(file, line));
  if (kind == "sliders" || kind == "curves") html += figure_html(kind, note);
  if (is_attention(note)) html += figure_html("attention", note);
  return html;
}

// The picture that a line names, or the line itself if there is no such file.
std::string picture_html(const std::string& line, const PageParts& parts) {
  const std::filesystem::path file = parts.folder / line.substr(std::string(picture_mark).size());
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return element("p", escaped_html(line));
  return "<figure><img alt=\"" + escaped_html(file.stem().string()) +
         "\" src=\"data:image/svg+xml;base64," + base64(read_text(file.string())) +
         "\"><figcaption>" + escaped_html(line) + "</figcaption></figure>\n";
}

// The beginning of a lesson as a list: a name in the first 12 columns, then its text. The lines of
// the formula stay lines.
std::string opening_html(const Lines& lines) {
  constexpr std::size_t width = 12;
  std::string html, name;
  for (const std::string& line : lines) {
    if (line.size() <= width) continue;
    const bool named = line[0] != ' ';
    if (named) name = cells_of(line).at(0);
    const bool formula = name == "Formula";
    if (named)
      html += (html.empty() ? "" : "</dd>") + element("dt", escaped_html(name)) +
              (formula ? "<dd class=\"formula\">" : "<dd>");
    html += (named ? "" : formula ? "\n" : " ") + escaped_html(line.substr(width));
  }
  return "<dl class=\"opening\">" + html + "</dd></dl>\n";
}

// Writes the lines of a section as HTML. Before a block of lines stands what the notes in it say.
class SectionWriter {
 public:
  SectionWriter(const Section& section, const PageParts& parts)
      : lines_(section.lines),
        parts_(parts),
        note_(section.notes.begin()),
        end_(section.notes.end()) {}

  std::string html() {
    for (std::size_t at = 0; at < lines_.size();) {
      if (lines_[at].empty())
        ++at;
      else
        write_block(at);
    }
    write_notes(lines_.size() + 1);
    return html_;
  }

 private:
  // Writes the block that begins at line `at`, and moves `at` behind it.
  void write_block(std::size_t& at) {
    notes_.clear();
    write_notes(at + 1);
    const bool is_picture = starts_with(lines_[at], picture_mark);
    std::string block = is_picture ? picture_html(lines_[at++], parts_)
                                   : block_html(lines_, at, parts_.text, notes_);
    write_notes(at);
    if (has_map_ && (is_picture || starts_with(block, "<pre>"))) {
      block = folded("printed", is_picture ? "The map as a picture" : "The map as text", block);
      has_map_ = !is_picture;
    }
    html_ += block;
  }

  // Writes the notes before the line `end` that have not been written.
  void write_notes(std::size_t end) {
    for (; note_ != end_ && note_->first < end; ++note_)
      for (const Json& note : note_->second) {
        html_ += note_html(note, parts_.source);
        notes_.push_back(note);
        has_map_ = has_map_ || is_attention(note);
      }
  }

  const Lines& lines_;
  const PageParts& parts_;
  std::map<std::size_t, std::vector<Json>>::const_iterator note_, end_;
  std::vector<Json> notes_;  // of the block
  bool has_map_ = false;     // whether an attention map stands for the next text and picture
  std::string html_;
};

}  // namespace

std::vector<Section> sections_of(const std::string& output) {
  std::vector<Section> sections{{"", {}}};
  std::vector<std::pair<std::string, Json>> lines;  // a line, or a note
  for (const std::string& line : lines_of(output)) {
    const bool is_note = line[0] == '\x1d';
    lines.emplace_back(is_note ? "" : escaped_lines(line),
                       is_note ? Json::parse(line.substr(1)) : Json(nullptr));
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    Section& section = sections.back();
    const auto& [line, note] = lines[i];
    if (!note.is_null())
      section.notes[section.lines.size()].push_back(note);
    else if (!line.empty() && i + 1 < lines.size() && is_underline(lines[i + 1].first))
      sections.push_back({line, {}}), ++i;
    else
      section.lines.push_back(line);
  }
  if (sections[0].lines == Lines(sections[0].lines.size())) sections.erase(sections.begin());
  return sections;
}

std::string text_html(const Lines& lines, LinkedText& text) {
  std::string html;
  for (std::size_t at = 0; at < lines.size();) {
    if (lines[at].empty())
      ++at;
    else
      html += block_html(lines, at, text, {});
  }
  return html;
}

std::string section_html(const Section& section, const PageParts& parts) {
  const std::string html = SectionWriter(section, parts).html();
  return section.title == "In this lesson" ? opening_html(section.lines) : html;
}

std::string folded(const std::string& kind, const std::string& summary, const std::string& html) {
  return "<details class=\"" + kind + "\"><summary>" + escaped_html(summary) + "</summary>\n" +
         html + "</details>\n";
}

std::string code_html(const std::string& code) {
  return "<pre class=\"code\"><code>" + escaped_html(code) + "</code></pre>\n";
}

}  // namespace heed::app
