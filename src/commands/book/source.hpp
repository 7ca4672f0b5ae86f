// source.hpp: the lines of a lesson's source that ran before each of its calls.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace heed::app {

std::size_t indent_of(const std::string& line);  // the line's indentation: number of leading spaces

// A range of lines of a source file.
struct SourceLines {
  std::string text, file;
  std::size_t first = 0;  // number of the first line, counted from 1
};

// The source files of a lesson, and which of their lines the page has shown. The files are
// indented as clang-format does it.
class LessonSource {
 public:
  explicit LessonSource(const std::vector<std::filesystem::path>& files);

  // The lines that ran since the previous call of the same function that printed, up to the call
  // in this line, and the call itself if `with_call`. The text is empty if the page has shown them,
  // or if the file is not one of the lesson's.
  SourceLines lines_before(const std::string& file, std::size_t line, bool with_call);

  // The lines of main up to its call of this function, and that call unless it stands alone,
  // without arguments. The text is empty if main does not call the function.
  SourceLines lines_of_main(const std::string& function);

 private:
  struct File {
    std::vector<std::string> lines;
    std::vector<bool> shown;
  };
  std::map<std::string, File> files_;
};

}  // namespace heed::app
