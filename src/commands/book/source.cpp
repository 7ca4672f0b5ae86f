// source.cpp: the lines of a lesson's source that ran before each of its calls.

#include <algorithm>
#include <cctype>

#include "commands/book/parts.hpp"
#include "heed/base/file.hpp"
#include "heed/base/text.hpp"

namespace heed::app {
namespace {

using Lines = std::vector<std::string>;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool begins_function(const std::string& line) {
  return !line.empty() && (std::isalpha(static_cast<unsigned char>(line[0])) != 0);
}

// Replaces texts and characters in quotes by nothing, and removes comments.
std::string without_texts(const std::string& line) {
  std::string code;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line.compare(i, 2, "//") == 0) break;
    const bool separates_digits = line[i] == '\'' && i > 0 && is_word(line[i - 1]);  // 1'000
    if ((line[i] != '"' && line[i] != '\'') || separates_digits) {
      code += line[i];
      continue;
    }
    const char quote = line[i];
    for (++i; i < line.size() && line[i] != quote; ++i)
      if (line[i] == '\\') ++i;
  }
  return code;
}

// How many more of `open` than of `close` the code has.
std::ptrdiff_t excess(const std::string& code, char open, char close) {
  return std::count(code.begin(), code.end(), open) - std::count(code.begin(), code.end(), close);
}

// The last line of the statement that begins at line `first`.
std::size_t end_of_statement(const Lines& lines, std::size_t first) {
  std::ptrdiff_t open = 0;
  for (std::size_t i = first; i < lines.size(); ++i) {
    const std::string code = without_texts(lines[i]);
    open += excess(code, '(', ')');
    if (open <= 0 && code.find(';') != code.npos) return i;
  }
  return first;
}

// The first line of the function around a line, and that of its body. A head may have several
// lines.
std::size_t function_head(const Lines& lines, std::size_t line) {
  while (line > 0 && !begins_function(lines[line])) --line;
  return line;
}
std::size_t function_body(const Lines& lines, std::size_t line) {
  std::size_t head = function_head(lines, line);
  while (head < line && (lines[head].empty() || lines[head].back() != '{')) ++head;
  return head + 1;
}

// "task_of_the_bank" of the head "void task_of_the_bank() {".
std::string function_name(const std::string& head) {
  const std::size_t end = head.find('(');
  if (end == head.npos) return "";
  std::size_t begin = end;
  while (begin > 0 && is_word(head[begin - 1])) --begin;
  return head.substr(begin, end - begin);
}

// Whether the statement has no code but one call: say("...", "...");
bool prints_only_text(const Lines& lines, std::size_t first, std::size_t last) {
  std::string code;
  for (std::size_t i = first; i <= last; ++i) code += without_texts(lines[i]);
  const std::size_t open = code.find('(');
  return open != code.npos && code.find_first_not_of(" ,(){};", open) == code.npos;
}

// Whether the statement prints several lines with say(...): the page has them already.
bool prints_long_text(const Lines& lines, std::size_t first, std::size_t last) {
  return last > first + 3 && lines[first].find_first_not_of(' ') == lines[first].find("say(");
}

// Lines between braces only, and empty lines.
bool is_frame(const std::string& line) { return line.find_first_not_of(" };") == line.npos; }

// The lines, less indented.
std::string without_indent(Lines lines) {
  std::size_t indent = std::string::npos;
  for (const std::string& line : lines)
    if (!line.empty()) indent = std::min(indent, line.find_first_not_of(' '));
  for (std::string& line : lines)
    if (!line.empty()) line.erase(0, indent);
  return joined(lines, "\n") + "\n";
}

}  // namespace

LessonSource::LessonSource(const std::vector<std::filesystem::path>& files) {
  for (const std::filesystem::path& path : files) {
    const Lines lines = lines_of(read_text(path.string()));
    files_[path.filename().string()] = {lines, std::vector<bool>(lines.size())};
  }
}

SourceLines LessonSource::lines_before(const std::string& name, std::size_t line) {
  const auto found = files_.find(name);
  if (found == files_.end() || line == 0 || line > found->second.lines.size()) return {};
  auto& [lines, shown] = found->second;
  const std::size_t call = line - 1, body = function_body(lines, call);
  if (shown[call]) return {};

  std::size_t first = call, last = end_of_statement(lines, call);
  while (first > body && !shown[first - 1]) --first;
  const bool with_call =
      !prints_only_text(lines, call, last) && !prints_long_text(lines, call, last);
  std::fill(shown.begin() + static_cast<std::ptrdiff_t>(first),
            shown.begin() + static_cast<std::ptrdiff_t>(last) + 1, true);
  while (first < call && is_frame(lines[first])) ++first;  // of the code before
  Lines part(lines.begin() + static_cast<std::ptrdiff_t>(first),
             lines.begin() + static_cast<std::ptrdiff_t>(with_call ? last + 1 : call));
  while (!part.empty() && part.back().empty()) part.pop_back();
  if (part.empty()) return {};

  // The end of a loop around the call: the braces that follow.
  std::ptrdiff_t open = 0;
  for (const std::string& one : part) open += excess(without_texts(one), '{', '}');
  for (++last; with_call && open > 0 && last < lines.size() && is_frame(lines[last]); ++last) {
    part.push_back(lines[last]);
    open += excess(lines[last], '{', '}');
    shown[last] = true;
  }
  return {without_indent(part), name, first + 1};
}

SourceLines LessonSource::lines_of_main(const std::string& name, std::size_t line) {
  const auto found = files_.find(name);
  if (found == files_.end() || line == 0 || line > found->second.lines.size()) return {};
  const Lines& around = found->second.lines;
  const std::string function = function_name(around[function_head(around, line - 1)]);
  if (function.empty() || function == "main") return {};
  for (const auto& [main_name, file] : files_) {
    const Lines& lines = file.lines;
    std::size_t i = 0;
    while (i < lines.size() && lines[i].rfind("int main(", 0) != 0) ++i;
    for (++i; i < lines.size(); ++i) {
      const std::string code = without_texts(lines[i]);
      const std::size_t at = code.find(function + "(");
      if (at != code.npos && (at == 0 || !is_word(code[at - 1])))
        return lines_before(main_name, i + 1);
    }
  }
  return {};
}

}  // namespace heed::app
