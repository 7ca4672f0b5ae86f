// lesson_text.cpp: reads the prose of a lesson (lesson.md), and formats it for a terminal.

#include <algorithm>
#include <cctype>

#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "lesson_text.hpp"

namespace heed {
namespace {

bool starts_with(const std::string& text, const std::string& start) {
  return text.compare(0, start.size(), start) == 0;
}

bool is_fence(const std::string& line) { return starts_with(line, "```"); }

// The text without the empty lines at its beginning and end; one newline ends it.
std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of('\n');
  if (first == text.npos) return "";
  return text.substr(first, text.find_last_not_of('\n') + 1 - first) + "\n";
}

bool is_name(const std::string& text) {
  const auto in_name = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
         std::all_of(text.begin(), text.end(), in_name);
}

}  // namespace

// ---- the sections and their parts

LessonText::LessonText(std::string file, const std::string& markdown) : file_(std::move(file)) {
  bool in_fence = false;
  for (const std::string& line : lines_of(markdown)) {
    if (is_fence(line)) in_fence = !in_fence;
    const bool is_heading = sections_.empty() || (!in_fence && starts_with(line, "#"));
    if (is_heading)
      add_section(line);
    else if (!in_fence && line == "---")
      sections_.back().parts.emplace_back();
    else
      sections_.back().parts.back() += line + "\n";
  }
  if (sections_.empty()) throw_error(file_, ": the file is empty");
  if (in_fence) throw_error(file_, ": a block that begins with ``` does not end");
}

void LessonText::add_section(const std::string& line) {
  const std::string mark = sections_.empty() ? "# " : "## ";
  if (!starts_with(line, mark))
    throw_error(file_, ": '", line, "': the first line is '# ' and the title, and each section ",
                "begins with '## ' and its heading");
  const std::string heading = line.substr(mark.size());
  if (has(heading)) throw_error(file_, ": two sections have the heading '", heading, "'");
  sections_.push_back({heading});
}

bool LessonText::has(const std::string& heading) const {
  return std::any_of(sections_.begin(), sections_.end(),
                     [&](const Section& section) { return section.heading == heading; });
}

bool LessonText::has_left(const std::string& heading) const {
  return std::any_of(sections_.begin(), sections_.end(), [&](const Section& section) {
    return section.heading == heading && section.printed == 0;
  });
}

LessonText::Section& LessonText::section(const std::string& heading) {
  for (Section& section : sections_)
    if (section.heading == heading) return section;
  throw_error(file_, ": there is no section '## ", heading, "'");
}

void LessonText::check_printed(const Section& section) const {
  if (section.printed < section.parts.size())
    throw_error(file_, ": section '", section.heading, "' has ",
                counted(section.parts.size(), "part"), ", but the lesson prints ", section.printed);
}

std::string LessonText::begin(const std::string& heading, const Values& values) {
  if (sections_[current_].printed > 0) check_printed(sections_[current_]);
  Section& next_section = section(heading);
  if (next_section.printed > 0) throw_error(file_, ": section '", heading, "' begins twice");
  current_ = static_cast<std::size_t>(&next_section - sections_.data());
  return next(values);
}

std::string LessonText::next(const Values& values) {
  Section& section = sections_[current_];
  if (section.printed == section.parts.size())
    throw_error(file_, ": section '", section.heading, "' has only ",
                counted(section.parts.size(), "part"));
  return with_values(section.parts[section.printed++], values);
}

void LessonText::skip(const std::string& heading) {
  Section& skipped = section(heading);
  skipped.printed = skipped.parts.size();
}

void LessonText::end() const {
  for (const Section& section : sections_) check_printed(section);
}

std::string LessonText::with_values(const std::string& part, const Values& values) const {
  const std::string where = file_ + ": section '" + sections_[current_].heading + "': ";
  std::string text;
  std::vector<std::string> used;
  for (std::size_t at = 0, open; at < part.size(); at = open) {
    open = std::min(part.find('{', at), part.size());
    text += part.substr(at, open - at);
    if (open == part.size()) break;
    const std::size_t close = std::min(part.find('}', open), part.size());
    const std::string name = part.substr(open + 1, close - open - 1);
    if (!is_name(name)) {
      text += part[open++];
      continue;
    }
    const auto value = std::find_if(values.begin(), values.end(),
                                    [&](const Value& each) { return each.name == name; });
    if (value == values.end()) throw_error(where, "the code gives no value for {", name, "}");
    text += value->text;
    used.push_back(name);
    open = close + 1;
  }
  for (const Value& value : values)
    if (std::find(used.begin(), used.end(), value.name) == used.end())
      throw_error(where, "the text does not use the value {", value.name, "}");
  return trimmed(text);
}

// ---- text for a terminal

namespace {

// Removes the asterisks around emphasised words, outside of `code`.
std::string without_emphasis(const std::string& text) {
  std::string result;
  bool in_code = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    in_code = in_code != (text[i] == '`');
    const bool before = i > 0 && text[i - 1] != ' ';
    const bool after = i + 1 < text.size() && text[i + 1] != ' ';
    if (text[i] != '*' || in_code || !(before || after)) result += text[i];
  }
  return result;
}

// Replaces links by their text: "[the map](README.md)" becomes "the map".
std::string without_links(const std::string& text) {
  std::string result = text;
  for (std::size_t middle = 0; (middle = result.find("](", middle)) != result.npos;) {
    const std::size_t open = result.rfind('[', middle), close = result.find(')', middle);
    if (open == result.npos || close == result.npos) break;
    result = result.substr(0, open) + result.substr(open + 1, middle - open - 1) +
             result.substr(close + 1);
    middle = open;
  }
  return result;
}

// Wraps the words at `width` columns; the first line begins with `start`, the others are indented.
std::string wrapped(const std::string& text, const std::string& start, std::size_t width) {
  std::string result, line = start;
  bool is_empty = true;
  for (const std::string_view word : words_of(text)) {
    if (!is_empty && display_width(line) + 1 + display_width(word) > width) {
      result += line + "\n";
      line.assign(start.size(), ' ');
      is_empty = true;
    }
    line += (is_empty ? "" : " ") + std::string(word);
    is_empty = false;
  }
  return result + line + "\n";
}

// The marker of a list item with its indentation, such as "- ", "  - " or "2. "; otherwise "".
std::string item_start(const std::string& line) {
  const std::size_t mark = line.find_first_not_of(' ');
  if (mark == line.npos) return "";
  std::size_t end = mark;
  while (end < line.size() && std::isdigit(static_cast<unsigned char>(line[end])) != 0) ++end;
  const bool is_numbered = end > mark && line.compare(end, 2, ". ") == 0;
  if (is_numbered) return line.substr(0, end + 2);
  return line.compare(mark, 2, "- ") == 0 || line.compare(mark, 2, "* ") == 0
             ? line.substr(0, mark + 2)
             : "";
}

}  // namespace

std::string terminal_text(const std::string& markdown, std::size_t width) {
  std::string result, paragraph, start;  // start: of the list item, if the paragraph is one
  const auto end_paragraph = [&] {
    if (!paragraph.empty())
      result += wrapped(without_links(without_emphasis(paragraph)), start, width);
    paragraph.clear();
    start.clear();
  };
  bool in_fence = false;
  for (const std::string& line : lines_of(markdown)) {
    const std::string item = in_fence ? "" : item_start(line);
    if (is_fence(line) || line.empty() || !item.empty()) end_paragraph();
    if (is_fence(line)) {
      in_fence = !in_fence;
    } else if (line.empty()) {
      result += "\n";
    } else if (in_fence) {
      result += "  " + line + "\n";
    } else if (line[0] == '|') {  // a table
      end_paragraph();
      result += line + "\n";
    } else {
      if (!item.empty()) start = item;
      paragraph += (paragraph.empty() ? "" : " ") + line.substr(item.size());
    }
  }
  end_paragraph();
  return result;
}

}  // namespace heed
