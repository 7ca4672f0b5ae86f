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

bool same(const Array& came, const Array& expected, double tolerance) {
  if (shape_of(came) != shape_of(expected)) return false;
  for (std::size_t i = 0; i < came.size(); ++i)
    if (!same(came.data()[i], expected.data()[i], tolerance)) return false;
  return true;
}

}  // namespace

void expect(const std::string& what, const Array& came, const Array& expected, double tolerance) {
  if (told(what, same(came, expected, tolerance))) return;
  show("expected", expected);
  show("came", came);
  say("");
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
