// lesson.cpp: prints a lesson's headings, text, tables, checks and pictures.

#include "lesson.hpp"

#include <errno.h>  // program_invocation_short_name

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "book_notes.hpp"
#include "heed/draw/table.hpp"

namespace heed {

namespace fs = std::filesystem;

void (*before_ending)(const std::string& error) = nullptr;

namespace {

[[noreturn]] void fail_check(const std::string& what, const std::string& difference) {
  std::cout.flush();
  std::cerr << "  NOT the same: " << what << ": " << difference << '\n';
  std::exit(1);
}

// Ends a lesson in which an error was not caught: prints the error in one line, after the output.
[[noreturn]] void end_with_error() {
  std::cout.flush();
  try {
    std::rethrow_exception(std::current_exception());
  } catch (const std::exception& error) {
    if (before_ending != nullptr) before_ending(error.what());
    std::cerr << "heed: error: " << printable(error.what()) << std::endl;
  }
  std::_Exit(1);
}

// The folder of a lesson's pictures.
std::string picture_folder(const std::string& lesson) {
  std::string folder = "runs/lessons/" + lesson;
  std::error_code ignored;  // the drawing reports a folder that cannot be written
  fs::create_directories(folder, ignored);
  return folder;
}

// " (within 0.001)" if the tolerance is larger than that of most checks, 0.00001.
std::string tolerance_text(double tolerance) {
  if (tolerance <= 1e-5) return "";
  std::ostringstream text;
  text << " (within " << tolerance << ")";
  return text.str();
}

// The number of this lesson, from the name of its program: "5" for 05_query_key_value.
std::string lesson_number() {
#ifdef __linux__
  const std::string name = program_invocation_short_name;
#else
  const std::string name = getprogname();  // macOS and BSD
#endif
  const std::size_t first = name.find_first_not_of('0');
  const std::string number = name.substr(first, name.find('_') - first);
  return number.find_first_not_of("0123456789") == number.npos && !number.empty() ? number : "N";
}

// The exercises of a lesson, in order: 05_read_token_0.cpp and 05b_attention_end_to_end.cpp for
// "5".
std::vector<fs::path> exercises_of(const std::string& number) {
  std::vector<fs::path> files;
  std::error_code ignored;  // without the folder there are no exercises to show
  for (const auto& entry : fs::directory_iterator(HEED_DATA_DIR "/../lessons/exercises", ignored)) {
    const std::string name = entry.path().filename().string();
    const std::size_t first = name.find_first_not_of('0');
    const bool same = first != name.npos && name.compare(first, number.size(), number) == 0 &&
                      std::isdigit(static_cast<unsigned char>(name[first + number.size()])) == 0;
    if (same && entry.path().extension() == ".cpp") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Prints the file, what the exercise is about (from the file's first line), and how to check it.
void show_exercise(const fs::path& file) {
  const std::string name = file.filename().string();
  const std::size_t first = name.find_first_not_of('0');
  const std::string number = name.substr(first, name.find('_') - first);
  std::ifstream text(file);
  std::string line;
  std::getline(text, line);
  say("", "Exercise " + number + ", lessons/exercises/" + name + ":",
      line.substr(line.find(": ") + 2), "To check your solution: ./heed exercise " + number);
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

// The text with its label before the first line, and the other lines below the first.
static void labeled(const std::string& label, const std::string& text) {
  std::string start = label;
  for (const std::string& line : lines_of(text)) {
    say(start + line);
    start.assign(label.size(), ' ');
  }
}

void opening(const Opening& opening, SourceLocation location) {
  section("In this lesson", location);
  labeled("You learn   ", opening.after);
  labeled("Formula     ", opening.formula);
  labeled("Literature  ", opening.literature);
  labeled("PyTorch     ", opening.pytorch);
}

void questions(const std::string& first, const std::string& second, const std::string& third,
               SourceLocation location) {
  section("Three questions", location);
  say("Change a line of this lesson and run it again to answer them. To read the",
      "answers: ./heed lesson " + lesson_number() + " --answers", "");
  labeled("1. ", first);
  labeled("2. ", second);
  labeled("3. ", third);
  for (const fs::path& file : exercises_of(lesson_number())) show_exercise(file);
}

void section(const std::string& title, SourceLocation location) {
  std::cout << '\n' << title << '\n' << std::string(display_width(title), '-') << '\n';
  book::note("section", location);
}

void begin_text(const FirstLine& first) {
  book::note("say", first.location);
  std::cout << first.text << '\n';
}

void show(const std::string& name, const Array& x, const Names& rows, const Names& columns,
          SourceLocation location) {
  book::note("show", location);
  std::cout << '\n' << table(x, {name, rows, columns});
}

void show(const std::string& name, const Tensor& x, const Names& rows, const Names& columns,
          SourceLocation location) {
  show(name, x.value(), rows, columns, location);
}

void check(const std::string& what, const Array& a, const Array& b, double tolerance,
           SourceLocation location) {
  if (shape_of(a) != shape_of(b))
    fail_check(what, "shapes " + str(shape_of(a)) + " and " + str(shape_of(b)));
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double left = a.data()[i], right = b.data()[i];
    // The first comparison is for infinities. A NaN equals nothing.
    if (!(left == right || std::abs(left - right) <= tolerance))
      fail_check(what, "element " + std::to_string(i) + " is " + decimal(left, 10) + " and " +
                           decimal(right, 10) + ", more than " + scientific(tolerance, 0) +
                           " apart");
  }
  book::note("check", location, {{"tolerance", book::json_number(tolerance)}});
  std::cout << "  same: " << what << tolerance_text(tolerance) << '\n';
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
  if (!holds) {
    std::cout.flush();
    std::cerr << "  does NOT hold: " << what << ": " << measured << '\n';
    std::exit(1);
  }
  book::note("claim", location);
  std::cout << "  holds: " << what << '\n';
}

std::string trained(double value, int decimals) { return "~" + decimal(value, decimals); }

void show_trained(const std::string& name, const Array& x, const Names& rows, const Names& columns,
                  SourceLocation location) {
  book::note("show", location);
  TableOptions options{name + ", trained", rows, columns};
  options.decimals = 2;
  std::cout << '\n' << table(x, options);
}

void quote(const std::string& text, SourceLocation location) {
  book::note("say", location);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    std::cout << (line.empty() ? "  |" : "  | ") << line << '\n';
}

bool brief() {
  const char* const value = std::getenv("HEED_BRIEF");
  return value != nullptr && *value != '\0' && std::string(value) != "0";
}

std::int64_t in_brief(std::int64_t steps, std::int64_t fewer_steps) {
  return brief() ? fewer_steps : steps;
}

static void draw(const std::string& lesson, const std::string& name, const Array& x,
                 const HeatmapOptions& options) {
  const Plot plot = draw_heatmap(picture_folder(lesson), name, x, options);
  std::cout << "\npicture: " << plot.message << '\n';
}

void picture(const std::string& lesson, const std::string& name, const Array& x,
             const HeatmapOptions& options, SourceLocation location) {
  book::note_of_maps(location, {x}, {""}, options);
  std::cout << '\n' << heatmap_text(x, options);
  draw(lesson, name, x, options);
}

void picture_trained(const std::string& lesson, const std::string& name, const Array& x,
                     const HeatmapOptions& options, SourceLocation location) {
  book::note_of_maps(location, {x}, {""}, options);
  std::cout << '\n';
  quote(heatmap_text(x, options));
  draw(lesson, name, x, options);
}

void picture_points(const std::string& lesson, const std::string& name, const Array& points,
                    const ScatterOptions& options, SourceLocation location) {
  book::note("picture", location);
  std::cout << '\n';
  quote(scatter_text(points, options));
  const Plot plot = draw_scatter(picture_folder(lesson), name, points, options);
  std::cout << "\npicture: " << plot.message << '\n';
}

void picture(const std::string& lesson, const std::string& name, const Tensor& x,
             const HeatmapOptions& options, SourceLocation location) {
  picture(lesson, name, x.value(), options, location);
}

void picture(const std::string& lesson, const std::string& name, const std::vector<Array>& panels,
             const Names& titles, const HeatmapOptions& options, std::size_t columns,
             SourceLocation location) {
  book::note_of_maps(location, panels, titles, options);
  const Plot plot =
      draw_heatmap_sheet(picture_folder(lesson), name, panels, titles, options, columns);
  std::cout << "\npicture: " << plot.message << '\n';
}

void picture(const std::string& lesson, const std::string& name, const std::vector<Series>& curves,
             const CurveOptions& options, SourceLocation location) {
  book::note("picture", location);
  const Plot plot = draw_curve(picture_folder(lesson), name, curves, options);
  std::cout << "\npicture: " << plot.message << '\n';
}

void picture(const std::string& lesson, const std::string& name, const std::string& graph,
             SourceLocation location) {
  book::note("picture", location);
  say("picture: " + draw_with_graphviz(picture_folder(lesson), name, graph).message);
}

void loss_curves(const std::string& y_title, const std::vector<Series>& losses,
                 SourceLocation location) {
  book::note_of_curves(location, y_title, losses);
}

void sliders(const std::string& widget, const Names& names, const std::vector<NamedArray>& arrays,
             SourceLocation location) {
  std::vector<std::string> matrices;
  for (const auto& [name, array] : arrays)
    matrices.push_back("[" + book::json_text(name) + "," + book::json_matrix(array) + "]");
  book::note("sliders", location,
             {{"widget", book::json_text(widget)},
              {"names", book::json_names(names)},
              {"arrays", "[" + joined(matrices, ",") + "]"}});
}

}  // namespace heed
