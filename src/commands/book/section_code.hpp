// section_code.hpp: finds the source code that belongs to each section of a lesson's README.md.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace heed::app {

// The source code of a lesson, lesson.cpp, in which each section is printed by a function. The file
// must be formatted by clang-format. Calls that print prose are omitted, because the prose
// surrounds the code.
class SectionCode {
 public:
  explicit SectionCode(const std::filesystem::path& file);

  // The code of the function, and the code above it that belongs to no other section and was not
  // returned before. "" if it is not in the file, or has no code but calls that print prose. That
  // of main, the table of contents, has all its calls.
  std::string of(const std::string& function);

  // The name of the function that the statement in this line calls, such as numbers in
  // `if (appendix("...")) numbers(X);`, if it is in the file; otherwise "".
  std::string called_in(std::size_t line) const;

 private:
  // The lines [begin, end) of a function, counted from 0; both are 0 if it does not exist.
  struct Span {
    std::size_t begin = 0, end = 0;
  };
  Span find(const std::string& function) const;
  bool prints_section(const Span& function) const;
  std::string without_prose(std::size_t begin, std::size_t end) const;

  std::vector<std::string> lines_;
  std::vector<bool> shown_;
};

}  // namespace heed::app
