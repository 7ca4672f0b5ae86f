// lesson.cpp: how a lesson speaks.

#include "lesson.hpp"

#include <cmath>
#include <cstdlib>
#include <exception>
#include <filesystem>

#include "heed/array/shape.hpp"
#include "heed/report/table.hpp"

namespace heed {
namespace {

[[noreturn]] void differ(const std::string& what, const std::string& how) {
  std::cout.flush();
  std::cerr << "  NOT the same: " << what << ": " << how << '\n';
  std::exit(1);
}

// An error that nobody catches ends the lesson in one line, after all it has printed.
[[noreturn]] void tell_error() {
  std::cout.flush();
  try {
    std::rethrow_exception(std::current_exception());
  } catch (const std::exception& error) {
    std::cerr << "heed: error: " << error.what() << std::endl;
  }
  std::_Exit(1);
}

const bool tells_errors = (std::set_terminate(tell_error), true);

}  // namespace

void section(const std::string& title) {
  std::cout << '\n' << title << '\n' << std::string(display_width(title), '-') << '\n';
}

void show(const std::string& name, const Array& x, const Names& rows, const Names& columns) {
  std::cout << '\n' << table(x, {name, rows, columns});
}

void check(const std::string& what, const Array& a, const Array& b, double tolerance) {
  if (shape_of(a) != shape_of(b))
    differ(what, "shapes " + str(shape_of(a)) + " and " + str(shape_of(b)));
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double left = a.data()[i], right = b.data()[i];
    if (!(std::abs(left - right) <= tolerance))  // a NaN is the same as nothing
      differ(what, "number " + std::to_string(i) + " is " + decimal(left, 10) + " and " +
                       decimal(right, 10) + ", more than " + scientific(tolerance, 0) + " apart");
  }
  std::cout << "  same: " << what << '\n';
}

void picture(const std::string& lesson, const std::string& name, const Array& x,
             const HeatmapOptions& options) {
  const std::string folder = "runs/lessons/" + lesson;
  std::error_code ignored;  // what cannot be written is told by draw_heatmap
  std::filesystem::create_directories(folder, ignored);
  std::cout << '\n' << heatmap_text(x, options);
  std::cout << "\npicture: " << draw_heatmap(folder, name, x, options).message << '\n';
}

}  // namespace heed
