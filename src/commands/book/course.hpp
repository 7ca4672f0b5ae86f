// course.hpp: the lessons, from their files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace heed::app {

struct Lesson {
  std::string name;          // "05_query_key_value"
  std::string number;        // "05"
  std::string title, about;  // from the first line of its source
};

std::filesystem::path lessons_folder();
std::vector<Lesson> all_lessons();

// The files of a folder whose names begin and end so, in order.
std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder,
                                            const std::string& begin, const std::string& end);

// 05_query_key_value.cpp, then the headers of the lesson, 05_*.hpp.
std::vector<std::filesystem::path> source_files(const Lesson& lesson);

}  // namespace heed::app
