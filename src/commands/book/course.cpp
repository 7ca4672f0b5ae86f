// course.cpp: the lessons, from their files.

#include "commands/book/course.hpp"

#include <algorithm>

#include "heed/base/file.hpp"
#include "heed/base/text.hpp"

namespace heed::app {
namespace {

namespace fs = std::filesystem;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Reads "// 05 query_key_value: scaled dot-product attention ...".
Lesson lesson_of(const fs::path& file) {
  const std::string line = lines_of(read_text(file.string())).at(0);
  const std::size_t colon = line.find(": ");
  std::string title = line.substr(6, colon - 6);
  std::replace(title.begin(), title.end(), '_', ' ');
  return {file.stem().string(), line.substr(3, 2), title, line.substr(colon + 2)};
}

}  // namespace

fs::path lessons_folder() { return HEED_LESSONS_DIR; }

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
  for (const fs::path& file : files_in(lessons_folder(), "", ".cpp")) {
    const std::string name = file.filename().string();
    if (is_digit(name[0]) && is_digit(name[1])) lessons.push_back(lesson_of(file));
  }
  return lessons;
}

std::vector<fs::path> source_files(const Lesson& lesson) {
  std::vector<fs::path> files{lessons_folder() / (lesson.name + ".cpp")};
  for (const fs::path& header : files_in(lessons_folder(), lesson.number + "_", ".hpp"))
    files.push_back(header);
  return files;
}

}  // namespace heed::app
