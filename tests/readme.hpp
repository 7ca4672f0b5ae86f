// readme.hpp: reads README.md and docs, for tests that compare them with files and programs of the
// project.
#pragma once

#include <algorithm>
#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "heed/base/text.hpp"
#include "scratch_folder.hpp"

namespace heed_test {

inline const std::filesystem::path project = HEED_SOURCE_DIR;

// All texts that the first group of the pattern matches.
inline std::vector<std::string> matches(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at)
    found.push_back((*at)[1]);
  return found;
}

// README.md, the pages of docs in the order of docs/README.md, and others that a reader comes to.
inline std::vector<std::filesystem::path> pages() {
  std::vector<std::filesystem::path> files = {"README.md", "docs/README.md"};
  for (const std::string& page :
       matches(content(project / "docs/README.md"), "\\]\\(([a-z-]+\\.md)\\)"))
    if (std::find(files.begin(), files.end(), "docs/" + page) == files.end())
      files.push_back("docs/" + page);
  for (const char* file : {"lessons/README.md", "CONTRIBUTING.md", "SECURITY.md"})
    files.push_back(file);
  return files;
}

inline std::string documentation() {
  std::string text;
  for (const std::filesystem::path& page : pages()) text += content(project / page) + "\n";
  return text;
}

// The words of the text in one line, because the width of a line decides where it is broken.
inline std::string one_line(const std::string& text) {
  std::string line;
  for (const std::string_view word : heed::words_of(text)) line += std::string(word) + " ";
  return line;
}

// The lines of the first block in the documentation that contains `text`. The block is C++, or of
// another kind: "" for output.
inline std::vector<std::string> block_with(const std::string& text,
                                           const std::string& kind = "cpp") {
  std::vector<std::string> block;
  bool inside = false, wanted = false;
  for (const std::string& line : heed::lines_of(documentation())) {
    if (line.rfind("```", 0) != 0) {
      block.push_back(line);
      continue;
    }
    const auto has_text = [&](const std::string& each) { return each.find(text) != each.npos; };
    if (inside && wanted && std::any_of(block.begin(), block.end(), has_text)) return block;
    inside = !inside;
    wanted = line == "```" + kind;
    block.clear();
  }
  return {};
}

// The first line of the block that is not in the output, or "" if all are, in this order. "..." in
// the block stands for any number of lines.
inline std::string line_not_in(const std::string& output, const std::vector<std::string>& block) {
  const std::vector<std::string> printed = heed::lines_of(output);
  auto at = printed.begin();
  bool skips = false;
  for (const std::string& line : block) {
    if (one_line(line) == "... ") {
      skips = true;
      continue;
    }
    if (skips) at = std::find(at, printed.end(), line);
    if (at == printed.end() || *at != line) return line;
    skips = false;
    ++at;
  }
  return "";
}

}  // namespace heed_test
