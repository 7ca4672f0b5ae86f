// lesson.cpp: prints a lesson's headings, text, tables, checks and pictures.

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <sstream>

#include "heed/base/error.hpp"
#include "heed/base/file.hpp"
#include "lesson.hpp"
#include "record.hpp"

namespace heed {

namespace fs = std::filesystem;

void (*before_ending)(const std::string& error) = nullptr;

// ./heed debug stops here: the calls that led to the error are still on the stack.
[[noreturn]] void end_after_error() { std::_Exit(1); }

namespace {

// Ends a lesson in which a check failed.
[[noreturn]] void fail(const std::string& message) {
  end_line();
  std::cerr << "  " << message << '\n';
  std::exit(1);
}

// An error's message in one line. xtensor's messages have several lines, and leave out the shapes
// in a release build.
std::string one_line(const std::string& message) {
  static const std::regex line_end("[:.]?[ \t]*\n[ \t]*"), hint(", compile in DEBUG for more info");
  return std::regex_replace(std::regex_replace(message, line_end, ": "), hint,
                            "; ./heed debug shows the shapes and the line");
}

// Ends a lesson in which an error was not caught: prints the error in one line, after the output.
[[noreturn]] void end_with_error() {
  end_line();
  try {
    std::rethrow_exception(std::current_exception());
  } catch (const std::exception& error) {
    const std::string message = one_line(error.what());
    if (before_ending != nullptr) before_ending(message);
    std::cerr << "heed: error: " << printable(message) << std::endl;
  }
  end_after_error();
}

// The folder of a lesson's pictures.
std::string picture_folder(const std::string& lesson) {
  std::string folder = "runs/lessons/" + lesson;
  std::error_code ignored;  // the drawing reports a folder that cannot be written
  fs::create_directories(folder, ignored);
  return folder;
}

// The exercises of a lesson, in order: exercise.cpp, exercise_b.cpp, ...
std::vector<fs::path> exercises_of(const std::string& lesson) {
  std::vector<fs::path> files;
  std::error_code ignored;  // without the folder there are no exercises to show
  for (const auto& entry : fs::directory_iterator(HEED_DATA_DIR "/../lessons/" + lesson, ignored)) {
    const std::string name = entry.path().stem().string();
    if (name == "exercise" || (name.rfind("exercise_", 0) == 0 && name.size() == 10))
      files.push_back(entry.path());
  }
  files.erase(std::remove_if(files.begin(), files.end(),
                             [](const fs::path& file) { return file.extension() != ".cpp"; }),
              files.end());
  std::sort(files.begin(), files.end());
  return files;
}

// Parses the first line of an exercise: "// 04b attention_end_to_end: one causal head".
struct ExerciseLine {
  std::string number, about;  // "4b", "one causal head"
};

ExerciseLine exercise_line(const fs::path& file) {
  std::ifstream text(file);
  std::string line;
  std::getline(text, line);
  const std::size_t first = line.find_first_not_of("/ 0");
  return {line.substr(first, line.find(' ', first) - first), line.substr(line.find(": ") + 2)};
}

// An exercise as text: its file, its subject, and the command that checks it.
std::string exercise_text(const std::string& lesson, const fs::path& file) {
  const auto [number, about] = exercise_line(file);
  return "\nExercise " + number + ", lessons/" + lesson + "/" + file.filename().string() + ":\n" +
         about + "\nTo check your solution: ./heed exercise " + number + "\n";
}

// The heading of a section, which begins in a call of the function.
void emit_heading(const std::string& kind, const std::string& title, SourceLocation location,
                  const std::string& function) {
  emit(kind, location, "\n" + title + "\n" + std::string(display_width(title), '-') + "\n",
       {{"title", title}, {"function", function}, {"hides_call", true}});
}

// ---- the prose of lesson.md

// A lesson with a lesson.md; begun by opening().
struct Lesson {
  fs::path folder;  // lessons/02_naive_attention
  LessonText text;
  // "02", or "2" for ./heed lesson
  std::string two_digits() const {
    const std::string name = folder.filename().string();
    return name.substr(0, name.find('_'));
  }
  std::string number() const {
    const std::string digits = two_digits();
    return digits[0] == '0' ? digits.substr(1) : digits;
  }
};
std::optional<Lesson> current_lesson;

// The lesson of a call, whose location is named by an error.
Lesson& lesson() {
  if (!current_lesson) throw_error("lesson.md: call opening() first");
  return *current_lesson;
}

// Paths of sources are relative to the folder of the project.
Lesson lesson_at(SourceLocation location) {
  const fs::path folder = fs::path(location.file).parent_path();
  const fs::path project = HEED_DATA_DIR "/..";
  return {folder, LessonText((folder / "lesson.md").string(),
                             read_text((project / folder / "lesson.md").string()))};
}

void emit_prose(const std::string& markdown, const std::string& gap, SourceLocation location) {
  if (markdown.empty()) return;
  const std::string text = terminal_text(markdown);
  emit("prose", location, gap + text,
       {{"text", text}, {"markdown", markdown}, {"hides_call", true}});
}

// In a README, the name of the exercise's file is a link.
void emit_exercise(const std::string& lesson, const fs::path& file, SourceLocation location) {
  const auto [number, about] = exercise_line(file);
  const std::string text = exercise_text(lesson, file), name = file.filename().string();
  emit("prose", location, text,
       {{"text", text},
        {"markdown", "**Exercise " + number + "**, [" + name + "](" + name + "): " + about +
                         " To check your solution: `./heed exercise " + number + "`\n"},
        {"hides_call", true}});
}

// Begins a section of lesson.md; `kind` is "section" or "appendix".
void emit_section(const std::string& kind, const std::string& title, const Values& values,
                  SourceLocation location, const std::string& function) {
  const std::string prose = lesson().text.begin(title, values);
  emit_heading(kind, title, location, function);
  emit_prose(prose, "", location);
}

// Prints the statement after its kind, "holds: " or "guards: ", or ends the lesson.
void check_statement(const std::string& kind, const std::string& what, bool holds,
                     const std::string& measured, SourceLocation location) {
  if (!holds) fail("does NOT hold: " + what + ": " + measured);
  emit("check", location, "  " + kind + what + "\n", {{"text", kind + what}});
}

// Each line after a bar.
std::string barred(const std::string& text) {
  std::string result;
  for (const std::string& line : lines_of(text))
    result += (line.empty() ? "  |" : "  | ") + line + "\n";
  return result;
}

}  // namespace

// Runs before main. The linker option -u takes this file into every lesson, also one that calls
// nothing of lesson.hpp, so that no lesson ends in std::terminate.
extern "C" {
bool heed_lesson_prepared = [] {
  std::set_terminate(end_with_error);
  if (brief())
    say("(HEED_BRIEF is set: less training. The text describes results of the full training.)");
  return true;
}();
}

void opening(SourceLocation location) { opening(Values(), location); }

void opening(const Values& values, SourceLocation location) {
  const CallSite call(location);
  current_lesson = lesson_at(location);
  const std::string title = lesson().text.title(), heading = lesson().two_digits() + " " + title;
  const std::string prose = lesson().text.begin(title, values);
  emit("title", location, "\n" + heading + "\n" + std::string(display_width(heading), '=') + "\n",
       {{"title", title}, {"hides_call", true}});
  emit_prose(prose, "", location);
}

void section(const std::string& title, const Values& values, SourceLocation location,
             const char* function) {
  const CallSite call(location);
  emit_section("section", title, values, location, function);
}

void say(const Values& values, SourceLocation location) {
  const CallSite call(location);
  emit_prose(lesson().text.next(values), "\n", location);
}

bool appendix(const std::string& title, const Values& values, SourceLocation location,
              const char* function) {
  const CallSite call(location);
  const bool is_folded = isatty(STDOUT_FILENO) == 1 && std::getenv("HEED_APPENDICES") == nullptr;
  if (is_folded) {
    lesson().text.skip(title);
    emit("text", location,
         "\nAppendix: " + title + " (to see it: ./heed lesson " + lesson().number() + " --all)\n",
         {});
  } else {
    emit_section("appendix", title, values, location, function);
  }
  return !is_folded;
}

void ending(SourceLocation location) {
  const CallSite call(location);
  if (lesson().text.has_left("To remember"))
    emit_section("section", "To remember", {}, location, "");
  if (lesson().text.has_left("Questions")) {
    emit_section("section", "Questions", {}, location, "");
    emit_prose(
        "To answer them, change a line of this lesson and run it again. The answers: `./heed "
        "lesson " +
            lesson().number() + " --answers`\n",
        "\n", location);
  }
  lesson().text.end();
  const std::string name = lesson().folder.filename().string();
  for (const fs::path& file : exercises_of(name)) emit_exercise(name, file, location);
}

void print_text(const std::string& text, bool hides_call, SourceLocation location) {
  emit("text", location, text, {{"text", text}, {"hides_call", hides_call}});
}

void show(const Array& x, const TableOptions& options, SourceLocation location) {
  emit("table", location, "\n" + table(x, options),
       {{"title", table_title(x, options)},
        {"rows", table_rows(x, options)},
        {"has_head", !options.column_names.empty()},
        {"has_names", !options.row_names.empty()}});
}

void show(const std::string& name, const Array& x, const Names& rows, const Names& columns,
          SourceLocation location) {
  show(x, {name, rows, columns}, location);
}

void show(const std::string& name, const Tensor& x, const Names& rows, const Names& columns,
          SourceLocation location) {
  show(name, x.value(), rows, columns, location);
}

void check(const std::string& what, const Array& a, const Array& b, double tolerance,
           SourceLocation location) {
  const auto fail_with = [&](const std::string& text) {
    fail("NOT the same: " + what + ": " + text);
  };
  if (shape_of(a) != shape_of(b))
    fail_with("shapes " + str(shape_of(a)) + " and " + str(shape_of(b)));
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double left = a.data()[i], right = b.data()[i];
    // The first comparison is for infinities. A NaN equals nothing.
    if (!(left == right || std::abs(left - right) <= tolerance))
      fail_with("element " + std::to_string(i) + " is " + decimal(left, 10) + " and " +
                decimal(right, 10) + ", more than " + scientific(tolerance, 0) + " apart");
  }
  std::ostringstream within;
  if (tolerance > 1e-5) within << " (within " << tolerance << ")";  // the largest excess so far
  const std::string same = what + within.str();
  Json::Object fields = {{"text", "same: " + same}};
  if (within.str().empty()) fields["tolerance"] = tolerance;  // otherwise the text contains it
  emit_same(same, location, fields);
}

void check(const std::string& what, const Array& a, const Tensor& b, double tolerance,
           SourceLocation location) {
  check(what, a, b.value(), tolerance, location);
}

void check(const std::string& what, const Tensor& a, const Array& b, double tolerance,
           SourceLocation location) {
  check(what, a.value(), b, tolerance, location);
}

void check(const std::string& what, const Tensor& a, const Tensor& b, double tolerance,
           SourceLocation location) {
  check(what, a.value(), b.value(), tolerance, location);
}

void claim(const std::string& what, bool holds, const std::string& measured,
           SourceLocation location) {
  check_statement("holds: ", what, holds, measured, location);
}

void guard(const std::string& what, bool holds, const std::string& measured,
           SourceLocation location) {
  check_statement("guards: ", what, holds, measured, location);
}

std::string trained(double value, int decimals) { return "~" + decimal(value, decimals); }

void show_trained(const std::string& name, const Array& x, const Names& rows, const Names& columns,
                  SourceLocation location) {
  show(x, {name + ", trained", rows, columns, 2}, location);
}

void quote(const std::string& text, SourceLocation location) {
  print_text(barred(text), false, location);
}

bool brief() {
  const char* const value = std::getenv("HEED_BRIEF");
  return value != nullptr && *value != '\0' && std::string(value) != "0";
}

std::int64_t in_brief(std::int64_t steps, std::int64_t fewer_steps) {
  return brief() ? fewer_steps : steps;
}

void picture(const std::string& lesson, const std::string& name, const Array& x,
             const HeatmapOptions& options, SourceLocation location) {
  emit_maps(location, {x}, {""}, options, heatmap_text(x, options),
            draw_heatmap(picture_folder(lesson), name, x, options));
}

void picture(const std::string& lesson, const std::string& name, const Tensor& x,
             const HeatmapOptions& options, SourceLocation location) {
  picture(lesson, name, x.value(), options, location);
}

void picture_trained(const std::string& lesson, const std::string& name, const Array& x,
                     const HeatmapOptions& options, SourceLocation location) {
  emit_maps(location, {x}, {""}, options, barred(heatmap_text(x, options)),
            draw_heatmap(picture_folder(lesson), name, x, options));
}

void picture_points(const std::string& lesson, const std::string& name, const Array& points,
                    const ScatterOptions& options, SourceLocation location) {
  emit_picture("picture", location, barred(scatter_text(points, options)),
               draw_scatter(picture_folder(lesson), name, points, options));
}

void picture(const std::string& lesson, const std::string& name, const std::vector<Array>& panels,
             const Names& titles, const HeatmapOptions& options, std::size_t columns,
             SourceLocation location) {
  emit_maps(location, panels, titles, options, "",
            draw_heatmap_sheet(picture_folder(lesson), name, panels, titles, options, columns));
}

void picture(const std::string& lesson, const std::string& name, const std::vector<Series>& curves,
             const CurveOptions& options, SourceLocation location) {
  emit_picture("picture", location, "", draw_curve(picture_folder(lesson), name, curves, options));
}

void picture(const std::string& lesson, const std::string& name, const std::string& graph,
             SourceLocation location) {
  picture(draw_with_graphviz(picture_folder(lesson), name, graph), location);
}

void picture(const Plot& plot, SourceLocation location) {
  emit("picture", location, "picture: " + plot.message + "\n", {{"picture", plot.message}});
}

void loss_curves(const std::string& y_title, const std::vector<Series>& losses,
                 SourceLocation location) {
  emit("curves", location, "", {{"figure", curves_figure(y_title, losses)}});
}

void sliders(const std::string& widget, const Names& names, const std::vector<NamedArray>& arrays,
             SourceLocation location) {
  Json::List matrices;
  for (const auto& [name, array] : arrays) {
    Json pair;
    pair.push_back(name);
    pair.push_back(matrix_json(array));
    matrices.push_back(pair);
  }
  emit("sliders", location, "",
       {{"figure", Json::Object{{"widget", widget}, {"names", names}, {"arrays", matrices}}}});
}

}  // namespace heed
