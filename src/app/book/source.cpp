// source.cpp: the lines of a lesson's source that ran before each of its calls.

#include <algorithm>
#include <cctype>

#include "app/book/parts.hpp"
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
    if (line[i] != '"' && line[i] != '\'') {
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

// The first line of the body of the function around a line. A head may have several lines.
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

// Lines between braces only, and empty lines.
bool is_frame(const std::string& line) { return line.find_first_not_of(" };") == line.npos; }

// The lines without empty lines and closing braces at both ends, less indented.
std::string trimmed(Lines lines) {
  while (!lines.empty() && is_frame(lines.front())) lines.erase(lines.begin());
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  std::size_t indent = std::string::npos;
  for (const std::string& line : lines)
    if (!line.empty()) indent = std::min(indent, line.find_first_not_of(' '));
  for (std::string& line : lines)
    if (!line.empty()) line.erase(0, indent);
  const bool only_frames = std::all_of(lines.begin(), lines.end(), is_frame);
  return only_frames ? "" : joined(lines, "\n") + "\n";
}

}  // namespace

LessonSource::LessonSource(const std::vector<std::filesystem::path>& files) {
  for (const std::filesystem::path& path : files) {
    const Lines lines = lines_of(read_text(path.string()));
    files_[path.filename().string()] = {lines, std::vector<bool>(lines.size())};
  }
}

// The lines up to the statement at line `call` that the page has not shown, with the statement.
std::string LessonSource::part(File& file, std::size_t call) {
  if (file.shown[call]) return "";
  const std::size_t body = function_body(file.lines, call);
  std::size_t first = call;
  while (first > body && !file.shown[first - 1]) --first;
  const std::size_t last = end_of_statement(file.lines, call);
  const std::size_t end = prints_only_text(file.lines, call, last) ? call : last + 1;
  for (std::size_t i = first; i <= last; ++i) file.shown[i] = true;
  Lines lines(file.lines.begin() + static_cast<std::ptrdiff_t>(first),
              file.lines.begin() + static_cast<std::ptrdiff_t>(end));
  // The end of a loop around the call is the braces that follow.
  for (std::size_t i = last + 1; i < file.lines.size(); ++i) {
    std::string code;
    for (const std::string& line : lines) code += without_texts(line);
    if (end == call || excess(code, '{', '}') <= 0 || !is_frame(file.lines[i])) break;
    lines.push_back(file.lines[i]);
    file.shown[i] = true;
  }
  return trimmed(lines);
}

// The lines of main up to the call of the function that has the line `call`.
std::string LessonSource::part_of_main(const File& file, std::size_t call) {
  const std::string name = function_name(file.lines[function_head(file.lines, call)]);
  if (name.empty() || name == "main") return "";
  for (auto& entry : files_) {
    File& other = entry.second;
    std::size_t line = 0;
    while (line < other.lines.size() && other.lines[line].rfind("int main(", 0) != 0) ++line;
    for (++line; line < other.lines.size(); ++line) {
      const std::string code = without_texts(other.lines[line]);
      const std::size_t at = code.find(name + "(");
      if (at != code.npos && (at == 0 || !is_word(code[at - 1]))) return part(other, line);
    }
  }
  return "";
}

std::string LessonSource::lines_before(const std::string& kind, const std::string& file,
                                       std::size_t line) {
  const auto found = files_.find(file);
  if (found == files_.end() || line == 0 || line > found->second.lines.size()) return "";
  const std::string outer = kind == "section" ? part_of_main(found->second, line - 1) : "";
  return outer + part(found->second, line - 1);
}

}  // namespace heed::app
