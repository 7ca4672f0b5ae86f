// readme.hpp: reads README.md, for tests that compare it with files and programs of the project.
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

inline std::string readme() { return content(project / "README.md"); }

// All texts that the first group of the pattern matches.
inline std::vector<std::string> matches(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at)
    found.push_back((*at)[1]);
  return found;
}

// The words of the text in one line, because the width of a line decides where it is broken.
inline std::string one_line(const std::string& text) {
  std::string line;
  for (const std::string_view word : heed::words_of(text)) line += std::string(word) + " ";
  return line;
}

// The lines of the first block in the README that contains `text`. The block is C++, or of another
// kind: "" for output.
inline std::vector<std::string> block_with(const std::string& text,
                                           const std::string& kind = "cpp") {
  for (const std::string& block : matches(readme(), "\n```" + kind + "\n([^`]*)\n```"))
    if (block.find(text) != block.npos) return heed::lines_of(block);
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
