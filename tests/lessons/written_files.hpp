// written_files.hpp: compares the README.md, output.txt and pictures of a lesson with those that
// `./heed lesson N --write` writes now.
#pragma once

#include <filesystem>
#include <string>

#include "commands/book/output.hpp"
#include "commands/book/readme.hpp"
#include "heed/base/error.hpp"
#include "lessons/differences.hpp"

namespace heed_test {

// Runs the lesson in `folder` and writes its files to the folder `written` in it. Returns its
// output as output.txt has it, or an error.
inline LessonRun write_lesson(const std::filesystem::path& lesson, const std::string& folder) {
  const EnvironmentVariable for_book("HEED_BOOK", "1");
  const std::string name = lesson.filename().string();
  LessonRun run = run_in(folder, HEED_BINARY_DIR "/lessons/" + name);
  if (run.exit_code != 0) return run;
  const std::vector<heed::app::Lesson> course = heed::app::all_lessons();
  std::size_t i = 0;
  while (course.at(i).name != name) ++i;
  std::filesystem::create_directory(folder + "/written");
  try {
    heed::app::write_readme(
        {heed::app::records_of(run.output), folder, course[i], heed::app::source_files(course[i]),
         i > 0 ? &course[i - 1] : nullptr, i + 1 < course.size() ? &course[i + 1] : nullptr},
        folder + "/written");
  } catch (const heed::Error& error) {
    return {1, error.what()};
  }
  return {0, content(folder + "/written/output.txt")};
}

// Compares the pictures of a lesson with those in another folder.
inline void check_pictures_of(const std::filesystem::path& lesson,
                              const std::filesystem::path& written) {
  const auto names_in = [](const std::filesystem::path& folder) {
    std::vector<std::string> names;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "pictures", ignored))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  };
  REQUIRE(names_in(lesson) == names_in(written));
  for (const std::string& name : names_in(lesson)) {
    INFO(name);
    CHECK(picture_difference(content(lesson / "pictures" / name),
                             content(written / "pictures" / name), trains(lesson)) == "");
  }
}

}  // namespace heed_test
