// teaching_test.cpp: the plans of docs/teaching.md fit the course map: hours, and what lessons
// need.

#include <map>
#include <set>

#include "heed/base/text.hpp"
#include "lessons/programs.hpp"
#include "readme.hpp"

namespace {

using namespace heed_test;
using Numbers = std::set<int>;

struct CourseMap {
  std::map<int, int> minutes;                    // of lessons
  std::map<int, Numbers> needs;                  // the lessons that a lesson needs
  std::map<std::string, int> exercises_minutes;  // of "4" and "4b"
};

// The cells of a line of a table, "| a | b |".
std::vector<std::string> cells_of(const std::string& line) { return matches(line, "\\| ([^|]*)"); }

Numbers numbers_in(const std::string& text) {
  Numbers numbers;
  for (const std::string& each : matches(text, "\\b([0-9]{2})\\b")) numbers.insert(std::stoi(each));
  return numbers;
}

CourseMap course_map() {
  CourseMap map;
  for (const std::string& line : heed::lines_of(content(project / "lessons/README.md"))) {
    if (!std::regex_search(line, std::regex("^\\| [0-9]{2} \\| \\["))) continue;
    const std::vector<std::string> cells = cells_of(line);
    REQUIRE(cells.size() == 6);
    const int number = std::stoi(cells[0]);
    map.minutes[number] = std::stoi(cells[3]);
    map.needs[number] = numbers_in(cells[4]);
    const std::regex link("/exercise_?([a-z]?)\\.cpp\\) ([0-9]+)");
    for (std::sregex_iterator at(line.begin(), line.end(), link), end; at != end; ++at)
      map.exercises_minutes[std::to_string(number) + (*at)[1].str()] = std::stoi((*at)[2]);
  }
  return map;
}

// The lines of the table in a section of docs/teaching.md, without its head.
std::vector<std::string> table_of(const std::string& section) {
  const std::string page = content(project / "docs/teaching.md");
  const std::size_t begin = page.find("\n## " + section + "\n");
  REQUIRE(begin != page.npos);
  const std::string text = page.substr(begin, page.find("\n## ", begin + 1) - begin);
  std::vector<std::string> rows;
  for (const std::string& line : heed::lines_of(text))
    if (line[0] == '|') rows.push_back(line);
  REQUIRE(rows.size() > 3);
  return {rows.begin() + 2, rows.end()};
}

// The exercises in a list such as "1, 4b, 7 to 15"; `every` for "all".
std::set<std::string> exercises_in(const std::string& list, const std::set<std::string>& every) {
  if (has(list, "all")) return every;
  std::set<std::string> found;
  for (const std::string& each : matches(list, "\\b([0-9]{1,2}[a-z]?)\\b")) found.insert(each);
  for (const std::string& range : matches(list, "([0-9]+ to [0-9]+)"))
    for (int i = std::stoi(range); i < std::stoi(range.substr(range.find("to") + 2)); ++i)
      found.insert(std::to_string(i));
  return found;
}

Numbers range_in(const std::string& list) {  // "00 to 03"
  const Numbers ends = numbers_in(list);
  REQUIRE(ends.size() == 2);
  Numbers all;
  for (int i = *ends.begin(); i <= *ends.rbegin(); ++i) all.insert(i);
  return all;
}

std::string in_hours(int minutes) { return heed::decimal(minutes / 60.0, 1); }

struct Plan {
  Numbers lessons;
  std::set<std::string> exercises;
};

// The plan of a row, whose hours are tested.
Plan tested_plan(const std::vector<std::string>& cells, const CourseMap& map) {
  std::set<std::string> every;
  for (const auto& [exercise, minutes] : map.exercises_minutes) every.insert(exercise);
  Plan plan{range_in(cells[1]), exercises_in(cells[3], every)};
  int lessons = 0, exercises = 0;
  for (const int lesson : plan.lessons) lessons += map.minutes.at(lesson);
  for (const std::string& each : plan.exercises) {
    exercises += map.exercises_minutes.at(each);
    CHECK(plan.lessons.count(std::stoi(each)) == 1);
  }
  CHECK(cells[2] == in_hours(lessons) + " ");
  CHECK(cells[4] == (exercises == 0 ? "" : in_hours(exercises) + " "));
  return plan;
}

// Tests that each lesson comes after those that it needs, and each exercise after its lesson.
Plan tested_timetable(const std::string& section, const CourseMap& map) {
  Plan plan;
  for (const std::string& row : table_of(section)) {
    INFO(row);
    const std::vector<std::string> cells = cells_of(row);
    REQUIRE(cells.size() == 4);
    for (const std::size_t cell : {1U, 2U}) {
      const Numbers lessons = numbers_in(cells[cell]);
      plan.lessons.insert(lessons.begin(), lessons.end());
      for (const int lesson : lessons)
        for (const int needed : map.needs.at(lesson)) CHECK(plan.lessons.count(needed) == 1);
    }
    for (const std::string& each : exercises_in(cells[3], {})) {
      CHECK(plan.lessons.count(std::stoi(each)) == 1);
      plan.exercises.insert(each);
    }
  }
  return plan;
}

}  // namespace

TEST_CASE("the plans for teaching have what their lessons need, and the course map's hours",
          "[lessons][readme]") {
  const CourseMap map = course_map();
  CHECK(map.minutes.size() == lesson_folders().size());
  CHECK(map.exercises_minutes.size() == all_exercises().size());
  std::map<std::string, Plan> plans;
  for (const std::string& row : table_of("Plans")) {
    INFO(row);
    const std::vector<std::string> cells = cells_of(row);
    REQUIRE(cells.size() == 6);
    const Plan plan = tested_plan(cells, map);
    for (const int lesson : plan.lessons)
      for (const int needed : map.needs.at(lesson)) CHECK(plan.lessons.count(needed) == 1);
    plans[cells[0]] = plan;
  }
  const auto check_timetable = [&](const std::string& section, const std::string& name) {
    const Plan timetable = tested_timetable(section, map), plan = plans.at(name);
    INFO(section);
    CHECK(timetable.lessons == plan.lessons);
    CHECK(timetable.exercises == plan.exercises);
  };
  check_timetable("Five sessions", "five sessions of two hours ");
  check_timetable("A week, day by day", "a week ");
}

TEST_CASE("the pages for students and for teachers name the same prerequisites",
          "[lessons][readme]") {
  const std::string course = one_line(content(project / "lessons/README.md"));
  const std::string page = one_line(content(project / "docs/teaching.md"));
  const std::string begin = "C++ at the level of ", end = " first need them.";
  REQUIRE(has(page, begin));
  const std::size_t at = page.find(begin);
  CHECK(has(course, page.substr(at, page.find(end) - at) + end));
}
