// exercise.cpp: prints the result of each check of an exercise, and counts the passed checks.

#include <unistd.h>

#include <cmath>
#include <csignal>
#include <string_view>

#include "exercise.hpp"
#include "heed/array/shape.hpp"

namespace heed {
namespace {

std::size_t checks = 0, passed = 0;
const std::string indent(11, ' ');  // as wide as "  right:   "

// Prints `start`, as wide as `indent`, and the text, in lines of at most 80 columns.
void say_wrapped(const std::string& start, const std::string& text) {
  std::string line = start;
  for (const std::string_view part : lines_of(text)) {
    for (const std::string_view word : words_of(part)) {
      if (display_width(line) + 1 + display_width(word) > 80 && line != start) {
        say(line);
        line = indent;
      }
      line += (display_width(line) > indent.size() ? " " : "") + std::string(word);
    }
    say(line);
    line = indent;
  }
}

// Counts and prints one check.
bool print_check(const std::string& what, bool holds) {
  ++checks;
  if (holds) ++passed;
  say_wrapped(holds ? "  right:   " : "  not yet: ", what);
  return holds;
}

// NaN equals NaN here, because some checks expect NaN.
bool is_close(double got, double expected, double tolerance) {
  if (got == expected || (std::isnan(got) && std::isnan(expected))) return true;
  return std::abs(got - expected) <= tolerance;
}

// The index in memory of the first element that differs, or the size. Both have the same shape.
std::size_t first_difference(const Array& got, const Array& expected, double tolerance) {
  std::size_t i = 0;
  while (i < got.size() && is_close(got.data()[i], expected.data()[i], tolerance)) ++i;
  return i;
}

// "element 3" of a vector, "row 1, column 0" of a matrix, "element (0, 2, 1)" of other arrays.
std::string element_name(Shape shape, std::size_t i) {
  Shape index = shape;
  for (std::size_t axis = shape.size(); axis-- > 0; i /= shape[axis]) index[axis] = i % shape[axis];
  if (shape.size() == 2)
    return "row " + std::to_string(index[0]) + ", column " + std::to_string(index[1]);
  return "element " + (shape.size() == 1 ? std::to_string(index[0]) : str(index));
}

std::string value_at(const Array& x, std::size_t i) {
  return decimal(static_cast<double>(x.data()[i]), 4);
}

// Whether the array fits on the screen: 80 columns, and few rows.
bool is_small(const Array& x) {
  return x.size() <= 60 && (x.dimension() == 0 || x.shape(x.dimension() - 1) <= 7);
}

// The verdict on a part that throws.
void judge_error(const std::string& error) {
  print_check("The program ends without an error.", false);
  say_wrapped(indent, error);
  verdict();
  std::cout.flush();
}

// A loop of the reader's part may have no end.
void say_still_running(int) {
  constexpr std::string_view text =
      "\nstill running; Ctrl-C ends it, and ./heed debug exercise N shows where it is\n";
  static_cast<void>(!write(STDERR_FILENO, text.data(), text.size()));
}

const bool prepared = [] {  // runs before main
  before_ending = judge_error;
  if (isatty(STDERR_FILENO) == 1) std::signal(SIGALRM, say_still_running), alarm(20);
  return true;
}();

}  // namespace

void expect(const std::string& what, const Array& got, const Array& expected, double tolerance) {
  static bool shown = false;  // prints both arrays only once
  const bool same_shape = shape_of(got) == shape_of(expected);
  const std::size_t i = same_shape ? first_difference(got, expected, tolerance) : 0;
  if (print_check(what, same_shape && i == got.size())) return;
  if (same_shape)
    say_wrapped(indent, element_name(shape_of(got), i) + ": expected " + value_at(expected, i) +
                            ", got " + value_at(got, i));
  else
    say_wrapped(indent,
                "expected shape " + str(shape_of(expected)) + ", got shape " + str(shape_of(got)));
  if (shown || !is_small(got) || !is_small(expected)) return;
  show("expected", expected);
  show("got", got);
  say("");
  shown = true;
}

void expect(const std::string& what, bool holds, const std::string& otherwise) {
  if (!print_check(what, holds)) say_wrapped(indent, otherwise);
}

int verdict() {
  const std::string all = std::to_string(checks);
  say(passed == checks ? "\nRight, all " + all + "."
                       : "\n" + std::to_string(passed) + " of " + all + " are right so far.");
  return passed == checks ? 0 : 1;
}

}  // namespace heed
