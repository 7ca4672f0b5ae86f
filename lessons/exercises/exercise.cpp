// exercise.cpp: how an exercise is judged.

#include "exercise.hpp"

#include <cmath>

#include "heed/array/shape.hpp"

namespace heed {
namespace {

std::size_t asked = 0, right = 0;

bool told(const std::string& what, bool holds) {
  ++asked;
  if (holds) ++right;
  say((holds ? "  right:   " : "  not yet: ") + what);
  return holds;
}

// A NaN is the same as a NaN here: a judge may want one.
bool same(double came, double expected, double tolerance) {
  if (came == expected || (std::isnan(came) && std::isnan(expected))) return true;
  return std::abs(came - expected) <= tolerance;
}

// The first number in which they differ, or their size: they have the same shape.
std::size_t first_difference(const Array& came, const Array& expected, double tolerance) {
  std::size_t i = 0;
  while (i < came.size() && same(came.data()[i], expected.data()[i], tolerance)) ++i;
  return i;
}

std::string number(const Array& x, std::size_t i) {
  return decimal(static_cast<double>(x.data()[i]), 4);
}

}  // namespace

void expect(const std::string& what, const Array& came, const Array& expected, double tolerance) {
  static bool shown = false;  // one wrong answer in full is enough to look at
  const bool fits = shape_of(came) == shape_of(expected);
  const std::size_t i = fits ? first_difference(came, expected, tolerance) : 0;
  if (told(what, fits && i == came.size())) return;
  if (!shown) {
    show("expected", expected);
    show("came", came);
    say("");
  } else if (fits) {
    say("           number " + std::to_string(i) + ": expected " + number(expected, i) + ", came " +
        number(came, i));
  } else {
    say("           expected the shape " + str(shape_of(expected)) + ", came " +
        str(shape_of(came)));
  }
  shown = true;
}

void expect(const std::string& what, bool holds, const std::string& otherwise) {
  if (!told(what, holds)) say("           " + otherwise);
}

int verdict() {
  const std::string all = std::to_string(asked);
  say("", right == asked ? "Right, all " + all + "."
                         : std::to_string(right) + " of " + all + " are right so far.");
  return right == asked ? 0 : 1;
}

}  // namespace heed
