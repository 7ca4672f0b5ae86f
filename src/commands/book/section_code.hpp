// section_code.hpp: the code of each section of a lesson, for its README.md.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace heed::app {

// The source of a lesson, lesson.cpp, in which a function prints a section. The file is indented as
// clang-format does it. The calls that print prose are left out: the prose stands around the code.
class SectionCode {
 public:
  explicit SectionCode(const std::filesystem::path& file);

  // The code of the function, and all above it that no call has returned and that belongs to no
  // other section. "" if it is not in the file, or has no code but calls that print prose. That of
  // main, the table of contents, has all its calls.
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
