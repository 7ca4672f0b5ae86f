// help.cpp: the text that --help prints: sections of names and descriptions.

#include "commands/help.hpp"

#include "heed/base/text.hpp"

namespace heed::app {
namespace {

constexpr std::size_t width = 80, description_column = 24;

// The words in lines of at most `width` columns, the first one behind `start`, the others indented.
std::string wrapped(const std::string& text, const std::string& start, std::size_t indent) {
  std::string result, line = start;
  for (const std::string_view word : words_of(text)) {
    const bool is_first = line.size() <= indent;
    if (!is_first && display_width(line) + 1 + display_width(word) > width) {
      result += line + "\n";
      line = std::string(indent, ' ') + std::string(word);
    } else {
      line += (is_first ? "" : " ") + std::string(word);
    }
  }
  return result + line + "\n";
}

}  // namespace

std::string help_start(const std::string& name, const std::string& about,
                       const std::string& usage) {
  return name + ": " + about + "\n\nUsage: " + usage + "\n";
}

std::string help_title(const std::string& title) { return "\n" + title + ":\n"; }

std::string help_line(const std::string& name, const std::string& description) {
  const std::string start = "  " + name, indent(description_column, ' ');
  return start.size() + 2 > description_column
             ? start + "\n" + wrapped(description, indent, description_column)
             : wrapped(description, pad_right(start, description_column), description_column);
}

std::string help_paragraph(const std::string& text) {
  std::string paragraph = "\n";
  for (const std::string& line : lines_of(text))
    paragraph += line.rfind(' ', 0) == 0 ? line + "\n" : wrapped(line, "", 0);
  return paragraph;
}

}  // namespace heed::app
