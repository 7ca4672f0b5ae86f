// exercises_test.cpp: each exercise fails before it is solved, passes with its solution, and fails
// with each wrong answer.

#include <cstdint>
#include <map>
#include <regex>
#include <set>

#include "lessons/programs.hpp"
#include "readme.hpp"
#include "scratch_folder.hpp"

namespace {

using namespace heed_test;
namespace fs = std::filesystem;

LessonRun run_program(const std::string& name) {
  const ScratchFolder folder(name);
  return run_in(folder.path, HEED_BINARY_DIR "/lessons/" + name);
}

// FNV-1a, 64 bits.
std::uint64_t fnv1a(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

// The wrong answers to an exercise: the name of each, and the line below it.
std::map<std::string, std::string> wrong_answers(const std::string& exercise) {
  std::map<std::string, std::string> answers;
  for (const auto& entry : fs::directory_iterator(HEED_TESTS_DIR "/lessons/wrong_answers")) {
    if (entry.path().filename().string().rfind(exercise + "_", 0) != 0) continue;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);)
      if (line.rfind("# ", 0) == 0) std::getline(file, answers[line.substr(2)]);
  }
  return answers;
}

// The hash of each original exercise by name, from lines "01 8f3c...".
std::map<std::string, std::string> original_hashes() {
  std::map<std::string, std::string> hashes;
  std::ifstream file(HEED_TESTS_DIR "/lessons/handed_out.txt");
  for (std::string name, hash; file >> name >> hash;) hashes[name] = hash;
  return hashes;
}

std::string hash_of(const fs::path& file) {
  std::ostringstream text;
  text << std::hex << fnv1a(content(file));
  return text.str();
}

// Whether the exercise is unchanged. Exercises that a reader has started to solve are not tested.
bool is_original(const ExerciseFiles& exercise) {
  const std::string& name = exercise.number;
  INFO("if you changed the original exercise, its line in tests/lessons/handed_out.txt is now: "
       << name << " " << hash_of(exercise.task));
  const std::map<std::string, std::string> hashes = original_hashes();
  REQUIRE(hashes.count(name) == 1);
  const bool same = hashes.at(name) == hash_of(exercise.task);
  if (!same) WARN(name << " has been changed");
  return same;
}

// The text between the two "Your part" comments, or the text outside them.
std::string part(const std::string& text, bool between) {
  std::string result;
  bool inside = false;
  for (const std::string& line : lines_of(text)) {
    if (line.find("// Your part ends here.") != line.npos) inside = false;
    if (inside == between) result += line + "\n";
    if (line.find("// Your part begins here.") != line.npos) inside = true;
  }
  return result;
}

// A course that is handed out has no solutions.
bool has_solutions() {
  const std::vector<ExerciseFiles> exercises = all_exercises();
  return std::any_of(exercises.begin(), exercises.end(),
                     [](const ExerciseFiles& each) { return fs::exists(each.solution); });
}

ExerciseFiles exercise_06c() {
  return exercises_of(project / "lessons/06_backward_through_attention").at(2);
}

}  // namespace

TEST_CASE("each original exercise fails and prints what was expected", "[lessons][exercises][.]") {
  for (const ExerciseFiles& exercise : all_exercises()) {
    if (!is_original(exercise)) continue;
    const std::string& name = exercise.number;
    INFO(name);
    const LessonRun run = run_program("exercise_" + name);
    CHECK(run.exit_code == 1);
    CHECK(has(run.output, "not yet: "));
    CHECK(has(run.output, " are right so far.\n"));
  }
}

TEST_CASE("HEED_TRACE=check names the operation with the wrong sign in exercise 06c",
          "[lessons][exercises][.]") {
  if (!is_original(exercise_06c())) return;
  const EnvironmentVariable trace("HEED_TRACE", "check");
  const ScratchFolder folder;
  const LessonRun run = run_in(folder.path, HEED_BINARY_DIR "/lessons/exercise_06c", "2>&1");
  CHECK(run.exit_code == 1);
  CHECK(has(run.output,
            "\nheed: error: HEED_TRACE=check: the gradient of RowSoftmax 'A' (3, 3) made at "
            "lessons/06_backward_through_attention/exercise_c.cpp:"));
  CHECK_FALSE(has(run.output, "the gradient of Product"));
  CHECK_FALSE(has(run.output, "the gradient of Scaling"));
  const LessonRun solved = run_in(folder.path, HEED_BINARY_DIR "/lessons/solution_06c", "2>&1");
  CHECK(solved.exit_code == 0);
  CHECK_FALSE(has(solved.output, "HEED_TRACE"));
}

TEST_CASE("the README's debugger session names the right lines of exercise 06c",
          "[lessons][exercises]") {
  const std::string exercise = "lessons/06_backward_through_attention/exercise_c.cpp";
  if (!is_original(exercise_06c())) return;
  const std::string page = content(project / "docs/debugging.md");
  const std::string session = page.substr(0, page.find("## Tracing"));
  // What the source line of an operation must contain.
  const std::vector<std::pair<std::string, std::string>> parts = {
      {"Product::backward,", " backward(const Array& dy"},
      {"DivideByConstant ", ") / 2);"},
      {"Subtract ", "O - target"},
      {"Leaf ", " = Tensor("},
      {"Product ", " product("},
      {"Scaling ", " scaled("},
      {"RowSoftmax ", " row_softmax("}};
  const std::regex place("(lessons/[a-z_0-9/]+\\.cpp):([0-9]+)");
  std::size_t found = 0;
  for (const std::string& line : heed::lines_of(session)) {
    std::smatch match;
    if (!std::regex_search(line, match, place)) continue;
    const std::string source =
        heed::lines_of(content(project / match[1].str())).at(std::stoul(match[2]) - 1);
    INFO(line << "\n" << source);
    const auto part = std::find_if(parts.begin(), parts.end(),
                                   [&](const auto& each) { return has(line, each.first); });
    REQUIRE(part != parts.end());
    CHECK(has(source, part->second));
    for (const std::string& name : matches(line, "'([^']+)'"))
      CHECK(has(source, ".set_name(\"" + name + "\")"));
    ++found;
  }
  CHECK(found > 10);
  for (const std::string& quoted : matches(session, "\n([0-9]+\t[^\n]*)")) {
    const std::size_t number = std::stoul(quoted);
    CHECK(quoted == std::to_string(number) + "\t" +
                        heed::lines_of(content(project / exercise)).at(number - 1));
  }
  CHECK(has(session, "\n58\t"));
}

TEST_CASE("each exercise passes with its solution", "[lessons][exercises][.]") {
  for (const ExerciseFiles& exercise : all_exercises()) {
    const std::string& name = exercise.number;
    INFO(name);
    const LessonRun run = run_program("solution_" + name);
    CHECK(run.exit_code == 0);
    CHECK(has(run.output, "\nRight, all "));
    CHECK_FALSE(has(run.output, "not yet"));
  }
}

TEST_CASE("a solution differs from its exercise only in the reader's part, and has hints",
          "[lessons][exercises]") {
  if (!has_solutions()) return;
  for (const ExerciseFiles& exercise : all_exercises()) {
    if (!is_original(exercise)) continue;
    INFO(exercise.number);
    const std::string task = content(exercise.task), solution = content(exercise.solution);
    CHECK(part(task, false) == part(solution, false));
    CHECK(part(task, true) != part(solution, true));
    const std::string number = exercise.number.substr(exercise.number[0] == '0' ? 1 : 0);
    CHECK(has(content(exercise.task.parent_path() / "hints.md"),
              "\n## Exercise " + number + "\n\n1. "));
  }
}

TEST_CASE("`./heed train --mine` trains a GPT with the reader's heads and block, bit for bit",
          "[lessons][exercises][.]") {
  const EnvironmentVariable brief("HEED_BRIEF", "1");
  const LessonRun solved = run_program("train_mine_solution");
  CHECK(solved.exit_code == 0);
  CHECK(has(solved.output, "\nAll 106,816 parameters have the same bits as heed's."));
  for (const ExerciseFiles& exercise : all_exercises())
    if (exercise.number == "10" && !is_original(exercise)) return;
  const ScratchFolder folder;
  const LessonRun handed_out = run_in(folder.path, HEED_BINARY_DIR "/lessons/train_mine", "2>&1");
  CHECK(handed_out.exit_code == 1);
  CHECK(has(handed_out.output, ", at lessons/10_multi_head/exercise.cpp:"));
}

// Their programs take minutes to compile: the target heed_wrong_answers, built by ctest -C All.
TEST_CASE("each wrong answer is rejected", "[lessons][wrong_answers][.]") {
  for (const ExerciseFiles& exercise : all_exercises()) {
    const std::string& name = exercise.number;
    const std::map<std::string, std::string> answers = wrong_answers(name);
    INFO(name);
    REQUIRE(answers.size() >= 3);
    for (const auto& [answer, mistake] : answers) {
      const std::string program = "wrong_" + name + "_" + answer;
      INFO(program);
      CHECK(mistake.rfind("// ", 0) == 0);  // what is wrong with it
      const ScratchFolder folder(program);
      const LessonRun run = run_in(folder.path, HEED_BINARY_DIR "/tests/wrong_answers/" + program);
      CHECK(run.exit_code == 1);
      CHECK(has(run.output, "not yet: "));
    }
  }
}

TEST_CASE("each lesson has one to four exercises, each with a check and a solution",
          "[lessons][exercises]") {
  // The first lesson teaches no part yet, and the last one runs what the exercises of others made.
  const std::set<std::string> without = {"00_where_this_goes", "28_a_real_model"};
  for (const fs::path& lesson : lesson_folders()) {
    const std::vector<ExerciseFiles> exercises = exercises_of(lesson);
    INFO(lesson);
    CHECK((exercises.size() >= 1 || without.count(lesson.filename().string()) == 1));
    CHECK(exercises.size() <= 4);
    for (const ExerciseFiles& exercise : exercises) {
      CHECK(fs::exists(exercise.check));
      CHECK(fs::exists(exercise.solution) == has_solutions());
    }
  }
  CHECK(has(one_line(documentation()), "Each lesson has one to four exercises"));
}
