// course.cpp: lists the lessons and exercises in the folder lessons.

#include "commands/book/course.hpp"

#include <algorithm>

#include "heed/base/file.hpp"
#include "heed/base/text.hpp"

namespace heed::app {
namespace {

namespace fs = std::filesystem;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Parses the first line of a lesson: "// 04 query_key_value: scaled dot-product attention ...".
Lesson lesson_of(const fs::path& file) {
  const std::string line = lines_of(read_text(file.string())).at(0);
  const std::size_t colon = line.find(": ");
  const std::size_t name = line.find(' ', 3) + 1;
  std::string title = line.substr(name, colon - name);
  std::replace(title.begin(), title.end(), '_', ' ');
  return {file.parent_path().filename().string(), line.substr(3, line.find(' ', 3) - 3), title,
          line.substr(colon + 2)};
}

}  // namespace

fs::path lessons_folder() { return HEED_LESSONS_DIR; }

fs::path Lesson::folder() const { return lessons_folder() / name; }

std::vector<fs::path> files_in(const fs::path& folder, const std::string& begin,
                               const std::string& end) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind(begin, 0) == 0 && name.size() > end.size() &&
        name.compare(name.size() - end.size(), end.size(), end) == 0)
      files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<Lesson> all_lessons() {
  std::vector<Lesson> lessons;
  for (const fs::path& folder : files_in(lessons_folder(), "", ""))
    if (is_digit(folder.filename().string()[0]) && fs::exists(folder / "lesson.cpp"))
      lessons.push_back(lesson_of(folder / "lesson.cpp"));
  return lessons;
}

std::vector<fs::path> source_files(const Lesson& lesson) {
  std::vector<fs::path> files{lesson.folder() / "lesson.cpp"};
  for (const fs::path& header : files_in(lesson.folder(), "", ".hpp"))
    if (header.filename().string().rfind("exercise", 0) != 0) files.push_back(header);
  return files;
}

std::vector<fs::path> exercise_files(const Lesson& lesson) {
  std::vector<fs::path> files;
  for (const fs::path& check : files_in(lesson.folder(), "exercise", "_check.cpp")) {
    const std::string name = check.filename().string();
    files.push_back(lesson.folder() / (name.substr(0, name.find("_check.cpp")) + ".cpp"));
  }
  std::sort(files.begin(), files.end());  // exercise.cpp before exercise_b.cpp
  return files;
}

// hints.md has a heading "## Exercise 4b" for each exercise, and a line "1. ..." for each hint.
std::vector<std::string> hints_of(const fs::path& folder, const std::string& exercise) {
  const std::string heading = "## Exercise " + exercise.substr(exercise[0] == '0' ? 1 : 0);
  std::vector<std::string> hints;
  bool inside = false;
  for (const std::string& line : lines_of(read_text((folder / "hints.md").string()))) {
    if (line.rfind("## ", 0) == 0) inside = line == heading;
    const std::size_t dot = line.find(". ");
    if (inside && dot != line.npos && dot == line.find_first_not_of("0123456789"))
      hints.push_back(line.substr(dot + 2));
  }
  return hints;
}

}  // namespace heed::app
