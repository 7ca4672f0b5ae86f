// exercises_test.cpp: each exercise fails as handed out, and passes with its solution.

#include <cstdint>
#include <map>

#include "lessons/programs.hpp"
#include "scratch_folder.hpp"

namespace {

using namespace heed_test;
namespace fs = std::filesystem;

LessonRun run_program(const std::string& name) {
  const ScratchFolder folder(name);
  return run_in(folder.path, HEED_BINARY_DIR "/lessons/" + name);
}

// Fowler, Noll and Vo's hash, 64 bits, variant 1a.
std::uint64_t fingerprint(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

// Of every exercise as handed out: lines "01_running_mean 8f3c...".
std::map<std::string, std::string> handed_out() {
  std::map<std::string, std::string> all;
  std::ifstream file(HEED_TESTS_DIR "/lessons/handed_out.txt");
  for (std::string name, hash; file >> name >> hash;) all[name] = hash;
  return all;
}

std::string fingerprint_of(const fs::path& file) {
  std::ostringstream text;
  text << std::hex << fingerprint(contents(file));
  return text.str();
}

// Whether nobody has worked on it yet; else there is nothing to hold it to.
bool untouched(const fs::path& exercise) {
  const std::string name = exercise.stem().string();
  INFO("if you changed what is handed out, its line in tests/lessons/handed_out.txt is now: "
       << name << " " << fingerprint_of(exercise));
  const std::map<std::string, std::string> all = handed_out();
  REQUIRE(all.count(name) == 1);
  const bool same = all.at(name) == fingerprint_of(exercise);
  if (!same) WARN(name << " has been worked on");
  return same;
}

// What the reader may not change, and what lies between the marks.
std::string part(const std::string& text, bool between) {
  std::string kept;
  bool inside = false;
  for (const std::string& line : lines_of(text)) {
    if (line.find("// Your part ends here.") != line.npos) inside = false;
    if (inside == between && line.rfind("// Hint: ", 0) != 0) kept += line + "\n";
    if (line.find("// Your part begins here.") != line.npos) inside = true;
  }
  return kept;
}

}  // namespace

TEST_CASE("each exercise fails as handed out, and says what was expected", "[lessons][exercises]") {
  for (const fs::path& exercise : numbered("lessons/exercises")) {
    if (!untouched(exercise)) continue;
    const std::string name = exercise.stem().string();
    INFO(name);
    const LessonRun run = run_program("exercise_" + name);
    CHECK(run.exit_code == 1);
    CHECK(contains(run.output, "not yet: "));
    CHECK(contains(run.output, " are right so far.\n"));
  }
}

TEST_CASE("each exercise passes with its solution", "[lessons][exercises]") {
  for (const fs::path& exercise : numbered("lessons/exercises")) {
    const std::string name = exercise.stem().string();
    INFO(name);
    const LessonRun run = run_program("solution_" + name);
    CHECK(run.exit_code == 0);
    CHECK(contains(run.output, "\nRight, all "));
    CHECK_FALSE(contains(run.output, "not yet"));
  }
}

TEST_CASE("a solution is its exercise with the part between the marks filled in, and a hint",
          "[lessons][exercises]") {
  for (const fs::path& exercise : numbered("lessons/exercises")) {
    if (!untouched(exercise)) continue;
    INFO(exercise.filename().string());
    const std::string task = contents(exercise);
    const std::string solution =
        contents(fs::path(HEED_SOURCE_DIR "/lessons/solutions") / exercise.filename());
    CHECK(part(task, false) == part(solution, false));
    CHECK(part(task, true) != part(solution, true));
    CHECK(contains(solution, "\n// Hint: "));
  }
}

TEST_CASE("there is an exercise for each lesson", "[lessons][exercises]") {
  const auto numbers = [](const std::string& folder) {
    std::string all;
    for (const fs::path& file : numbered(folder))
      all += file.filename().string().substr(0, 2) + " ";
    return all;
  };
  CHECK(numbers("lessons/exercises") == numbers("lessons"));
  CHECK(numbers("lessons/solutions") == numbers("lessons"));
  CHECK(numbers("lessons/exercises/checks") == numbers("lessons"));
}
