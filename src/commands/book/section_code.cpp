// section_code.cpp: finds the source code that belongs to each section of a lesson's README.md.

#include "commands/book/section_code.hpp"

#include <algorithm>
#include <cctype>
#include <regex>

#include "heed/base/file.hpp"
#include "heed/base/text.hpp"

namespace heed::app {
namespace {

bool starts_with(const std::string& text, const std::string& start) {
  return text.compare(0, start.size(), start) == 0;
}

// Whether the line begins a definition at namespace scope, such as "void scores(const Array& X) {".
bool begins_definition(const std::string& line) {
  return !line.empty() && std::isalpha(static_cast<unsigned char>(line[0])) != 0;
}

bool calls(const std::string& line, const std::string& function) {
  return std::regex_search(line, std::regex("\\b" + function + "\\("));
}

// Whether the line is a call that prints prose without a value of the code.
bool prints_prose(const std::string& line) {
  const std::string code = line.substr(std::min(line.find_first_not_of(' '), line.size()));
  return code == "say();" || code == "opening();" || code == "ending();" ||
         (starts_with(code, "section(\"") && code.find("\");") != code.npos);
}

}  // namespace

SectionCode::SectionCode(const std::filesystem::path& file)
    : lines_(lines_of(read_text(file.string()))), shown_(lines_.size()) {
  std::size_t head = 0;  // after the #include and using lines
  for (std::size_t i = 0; i < lines_.size(); ++i)
    if (starts_with(lines_[i], "#include") || starts_with(lines_[i], "using namespace"))
      head = i + 1;
  std::fill_n(shown_.begin(), head, true);
}

SectionCode::Span SectionCode::find(const std::string& function) const {
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    if (!begins_definition(lines_[i]) || !calls(lines_[i], function)) continue;
    std::size_t last = i;
    while (last < lines_.size() && lines_[last] != "}" &&
           lines_[last].find(';') == std::string::npos)
      ++last;
    if (last == i) continue;  // a declaration
    while (last < lines_.size() && lines_[last] != "}") ++last;
    return {i, std::min(last + 1, lines_.size())};
  }
  return {};
}

bool SectionCode::prints_section(const Span& function) const {
  return std::any_of(
      lines_.begin() + static_cast<std::ptrdiff_t>(function.begin),
      lines_.begin() + static_cast<std::ptrdiff_t>(function.end),
      [](const std::string& line) { return calls(line, "section") || calls(line, "appendix"); });
}

std::string SectionCode::of(const std::string& function) {
  const Span span = find(function);
  if (span.end == 0 || shown_[span.begin]) return "";
  // The code before the function, up to the end of a function that prints another section.
  std::size_t begin = span.begin;
  while (begin > 0 && !shown_[begin - 1]) {
    if (lines_[begin - 1] == "}") {
      std::size_t head = begin - 1;
      while (head > 0 && !begins_definition(lines_[head])) --head;
      if (prints_section({head, begin})) break;
    }
    --begin;
  }
  std::fill_n(shown_.begin() + static_cast<std::ptrdiff_t>(begin), span.end - begin, true);
  while (lines_[begin].empty()) ++begin;
  if (function != "main") return without_prose(begin, span.end);
  return joined({lines_.begin() + static_cast<std::ptrdiff_t>(begin),
                 lines_.begin() + static_cast<std::ptrdiff_t>(span.end)},
                "\n") +
         "\n";
}

std::string SectionCode::called_in(std::size_t line) const {
  if (line == 0 || line > lines_.size()) return "";
  std::smatch call;
  static const std::regex statement("\\)\\)\\s*(\\w+)\\(");
  std::string text = lines_[line - 1];
  for (std::size_t i = line; i < lines_.size() && text.find(';') == text.npos; ++i)
    text += lines_[i];
  if (!std::regex_search(text, call, statement)) return "";
  return find(call[1]).end > 0 ? call[1].str() : "";
}

std::string SectionCode::without_prose(std::size_t begin, std::size_t end) const {
  std::string code;
  bool has_code = false, after_gap = true;  // after_gap: an empty line would be the second
  for (std::size_t i = begin; i < end; ++i) {
    if (prints_prose(lines_[i])) continue;
    if (lines_[i].empty() && after_gap) continue;
    after_gap = lines_[i].empty() || lines_[i].back() == '{';
    has_code = has_code ||
               (lines_[i][0] == ' ' && lines_[i].find_first_not_of(" };") != std::string::npos);
    code += lines_[i] + "\n";
  }
  return has_code ? code : "";
}

}  // namespace heed::app
