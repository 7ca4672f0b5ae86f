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

// Whether a file of the lesson trains a model; then it trains for fewer steps with HEED_BRIEF=1.
inline bool trains(const std::filesystem::path& lesson) {
  for (const auto& file : std::filesystem::directory_iterator(lesson))
    if (file.is_regular_file() && content(file.path()).find("in_brief(") != std::string::npos)
      return true;
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

// The folders of the lessons, lessons/01_averaging and so on, in order. A lesson without a stored
// output is a program that the reader has written, and is left out.
inline std::vector<std::filesystem::path> lesson_folders() {
  std::vector<std::filesystem::path> folders;
  for (const auto& entry : std::filesystem::directory_iterator(HEED_SOURCE_DIR "/lessons"))
    if (std::filesystem::exists(entry.path() / "output.txt")) folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  return folders;
}

// An exercise of a lesson, with its files.
struct ExerciseFiles {
  std::string number;                           // "05b"
  std::filesystem::path task, check, solution;  // .../exercise_b.cpp, exercise_b_check.cpp, ...
};

// The exercises of a lesson, in order.
inline std::vector<ExerciseFiles> exercises_of(const std::filesystem::path& lesson) {
  const std::string number =
      lesson.filename().string().substr(0, lesson.filename().string().find('_'));
  std::vector<ExerciseFiles> exercises;
  for (const char* letter : {"", "b", "c", "d"}) {
    const std::string file = (lesson / "exercise").string() + (*letter == 0 ? "" : "_") + letter;
    if (std::filesystem::exists(file + ".cpp"))
      exercises.push_back(
          {number + letter, file + ".cpp", file + "_check.cpp", file + "_solution.cpp"});
  }
  return exercises;
}

inline std::vector<ExerciseFiles> all_exercises() {
  std::vector<ExerciseFiles> exercises;
  for (const std::filesystem::path& lesson : lesson_folders())
    for (const ExerciseFiles& exercise : exercises_of(lesson)) exercises.push_back(exercise);
  return exercises;
}

}  // namespace heed_test
