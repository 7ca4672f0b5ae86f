// course.hpp: lists the lessons and exercises in the folder lessons.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace heed::app {

struct Lesson {
  std::string name;          // such as "04_query_key_value"
  std::string number;        // such as "04"
  std::string title, about;  // title, from the first line of lesson.cpp

  std::filesystem::path folder() const;
};

std::filesystem::path lessons_folder();
std::vector<Lesson> all_lessons();

// The files of a folder whose names have this beginning and this end, sorted.
std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder,
                                            const std::string& begin, const std::string& end);

// The sources of a lesson: lesson.cpp, then its headers.
std::vector<std::filesystem::path> source_files(const Lesson& lesson);
// The exercises of a lesson: exercise.cpp, exercise_b.cpp, ...
std::vector<std::filesystem::path> exercise_files(const Lesson& lesson);
// The hints to exercise "04b", from hints.md in the lesson's folder.
std::vector<std::string> hints_of(const std::filesystem::path& folder, const std::string& exercise);

}  // namespace heed::app
