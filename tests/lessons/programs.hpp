// programs.hpp: runs the lessons and reads their output.
#pragma once

#include <sys/wait.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "catch.hpp"
#include "scratch_folder.hpp"

namespace heed_test {

inline std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// Whether a lesson trains a model; then it trains for fewer steps with HEED_BRIEF=1. The files of
// lesson 06, for example, are 06_*.cpp and 06_*.hpp.
inline bool trains(const std::filesystem::path& lesson) {
  const std::string number = lesson.filename().string().substr(0, 3);
  for (const auto& entry : std::filesystem::directory_iterator(lesson.parent_path())) {
    const std::string name = entry.path().filename().string(), type = entry.path().extension();
    if (name.rfind(number, 0) != 0 || (type != ".cpp" && type != ".hpp")) continue;
    const std::string source = content(entry.path());
    if (source.find("in_brief(") != source.npos || source.find("brief()") != source.npos)
      return true;
  }
  return false;
}

inline std::string in_quotes(const std::string& text) {  // for a shell
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? "'\\''" : std::string(1, c);
  return word + "'";
}

// Sets an environment variable until this object is destroyed.
struct EnvironmentVariable {
  EnvironmentVariable(const char* variable, const char* value) : name(variable) {
    setenv(name, value, 1);
  }
  ~EnvironmentVariable() { unsetenv(name); }
  EnvironmentVariable(const EnvironmentVariable&) = delete;
  EnvironmentVariable& operator=(const EnvironmentVariable&) = delete;
  const char* name;
};

struct LessonRun {
  int exit_code;
  std::string output;
};

inline LessonRun run_in(const std::string& folder, const std::string& program,
                        const std::string& arguments = "") {
  const std::string command =
      "cd " + in_quotes(folder) + " && " + in_quotes(program) + " " + arguments;
  std::FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string output;
  char buffer[4096];
  for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    output.append(buffer, n);
  const int status = pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, output};
}

// The numbered .cpp files of a folder of the project, such as "lessons", in order. A lesson without
// a stored output is a program that the reader has written, and is left out.
inline std::vector<std::filesystem::path> numbered(const std::string& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(HEED_SOURCE_DIR "/" + folder)) {
    const unsigned char first = static_cast<unsigned char>(entry.path().filename().string()[0]);
    if (entry.path().extension() != ".cpp" || !std::isdigit(first)) continue;
    std::filesystem::path output = entry.path();
    if (folder == "lessons" && !std::filesystem::exists(output.replace_extension(".out"))) continue;
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace heed_test
