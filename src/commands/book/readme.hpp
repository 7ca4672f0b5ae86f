// readme.hpp: the README.md, output.txt and pictures that a lesson's run writes into its folder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "commands/book/course.hpp"

namespace heed::app {

// The content of output.txt: what the lesson prints without HEED_BOOK, from the records.
std::string plain_output(const std::vector<Json>& records);

// A lesson that has run.
struct FinishedLesson {
  std::vector<Json> records;
  std::filesystem::path folder;  // the folder in which it ran, which has its pictures
  Lesson lesson;
  std::vector<std::filesystem::path> sources;        // lesson.cpp, then the headers of the lesson
  const Lesson *before = nullptr, *after = nullptr;  // the previous and the next lesson, or null
};

// The lesson as Markdown: prose, the code of each section, output and pictures, which are links to
// the folder pictures. Appendices are folded. Throws an error if the lesson has no lesson.md, or if
// a picture was not drawn.
std::string readme(const FinishedLesson& run);

// Writes README.md, output.txt and pictures/*.svg into the folder. Removes pictures that the lesson
// does not draw any more.
void write_readme(const FinishedLesson& run, const std::filesystem::path& folder);

}  // namespace heed::app
