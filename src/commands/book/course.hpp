// course.hpp: the lessons, from their files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace heed::app {

struct Lesson {
  std::string name;          // "04_query_key_value"
  std::string number;        // "04"
  std::string title, about;  // from the first line of its source

  std::filesystem::path folder() const;
};

std::filesystem::path lessons_folder();
std::vector<Lesson> all_lessons();

// The files of a folder whose names begin and end so, in order.
std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder,
                                            const std::string& begin, const std::string& end);

// lesson.cpp, then the headers of the lesson.
std::vector<std::filesystem::path> source_files(const Lesson& lesson);
// exercise.cpp, exercise_b.cpp, ...
std::vector<std::filesystem::path> exercise_files(const Lesson& lesson);
// The hints to exercise "04b", from hints.md in the lesson's folder.
std::vector<std::string> hints_of(const std::filesystem::path& folder, const std::string& exercise);

}  // namespace heed::app
