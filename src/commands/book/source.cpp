// source.cpp: the lines of a lesson's source that ran before each of its calls.

#include "commands/book/source.hpp"

#include <algorithm>
#include <cctype>

#include "heed/base/file.hpp"
#include "heed/base/text.hpp"

namespace heed::app {
namespace {

using Lines = std::vector<std::string>;

// Whether a line is empty or has only closing braces and semicolons.
bool is_frame(const std::string& line) { return line.find_first_not_of(" };") == line.npos; }

// The first line of the body of the function around a line. Its head may have several lines.
std::size_t function_body(const Lines& lines, std::size_t line) {
  std::size_t head = line;
  while (head > 0 &&
         (lines[head].empty() || std::isalpha(static_cast<unsigned char>(lines[head][0])) == 0))
    --head;
  while (head < line && (lines[head].empty() || lines[head].back() != '{')) ++head;
  return head + 1;
}

// The line after the statement that begins at line `first`: the statement's other lines are
// indented more, or begin with the brace that ends a lambda.
std::size_t statement_end(const Lines& lines, std::size_t first) {
  const std::size_t indent = indent_of(lines[first]);
  std::size_t end = first + 1;
  while (end < lines.size() && indent_of(lines[end]) >= indent &&
         (indent_of(lines[end]) > indent || lines[end][indent] == '}'))
    ++end;
  return end;
}

std::size_t smallest_indent(const Lines& lines, std::size_t first, std::size_t end) {
  std::size_t indent = std::string::npos;
  for (std::size_t i = first; i < end; ++i)
    if (!lines[i].empty()) indent = std::min(indent, indent_of(lines[i]));
  return indent;
}

bool calls(const std::string& line, const std::string& function) {
  const std::size_t at = line.find(function + "(");
  return at != line.npos &&
         (at == 0 ||
          (std::isalnum(static_cast<unsigned char>(line[at - 1])) == 0 && line[at - 1] != '_'));
}

}  // namespace

std::size_t indent_of(const std::string& line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

LessonSource::LessonSource(const std::vector<std::filesystem::path>& files) {
  for (const std::filesystem::path& path : files) {
    const Lines lines = lines_of(read_text(path.string()));
    files_[path.filename().string()] = {lines, std::vector<bool>(lines.size())};
  }
}

SourceLines LessonSource::lines_before(const std::string& name, std::size_t line, bool with_call) {
  const auto found = files_.find(name);
  if (found == files_.end() || line == 0 || line > found->second.lines.size()) return {};
  auto& [lines, shown] = found->second;
  const std::size_t call = line - 1, body = function_body(lines, call);
  if (shown[call]) return {};

  std::size_t first = call, end = statement_end(lines, call);
  while (first > body && !shown[first - 1]) --first;
  std::fill_n(shown.begin() + static_cast<std::ptrdiff_t>(first), end - first, true);
  while (first < call && is_frame(lines[first])) ++first;  // skips braces of the code before
  if (!with_call) end = call;
  while (end > first && lines[end - 1].empty()) --end;
  if (end == first) return {};

  // Appends the closing braces of a loop around the call.
  const std::size_t indent = smallest_indent(lines, first, end);
  while (with_call && end < lines.size() && is_frame(lines[end]) && indent_of(lines[end]) >= indent)
    shown[end++] = true;
  std::string text;
  for (std::size_t i = first; i < end; ++i)
    text += (lines[i].empty() ? "" : lines[i].substr(indent)) + "\n";
  return {text, name, first + 1};
}

SourceLines LessonSource::lines_of_main(const std::string& function) {
  if (function.empty() || function == "main") return {};
  for (const auto& [name, file] : files_) {
    std::size_t i = 0;
    while (i < file.lines.size() && file.lines[i].rfind("int main(", 0) != 0) ++i;
    for (++i; i < file.lines.size(); ++i)
      if (calls(file.lines[i], function))
        return lines_before(name, i + 1, file.lines[i] != "  " + function + "();");
  }
  return {};
}

}  // namespace heed::app
