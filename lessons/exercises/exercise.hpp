// exercise.hpp: how an exercise is judged: what was expected, what came, and the verdict.
#pragma once

#include "lesson.hpp"

namespace heed {

// Says that the reader's answer is right, or shows what was expected and what came: all of it the
// first time, later the first number that differs.
void expect(const std::string& what, const Array& came, const Array& expected,
            double tolerance = 1e-5);

// The same for a property: `otherwise` says what came instead, "row 1 sums to 0.7312".
void expect(const std::string& what, bool holds, const std::string& otherwise);

// The last line of main: 0 when all was as expected, else 1.
int verdict();

}  // namespace heed
