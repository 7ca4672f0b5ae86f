// exercise.hpp: compares the result of an exercise with the expected result, and prints the
// verdict.
#pragma once

#include "lesson.hpp"

namespace heed {

// Checks that the reader's array equals the expected one. If not, prints the first element that
// differs, by row and column; the first time, also both arrays, if they are small.
void expect(const std::string& what, const Array& got, const Array& expected,
            double tolerance = 1e-5);

// Checks a property. If it does not hold, prints `otherwise`: "row 1 sums to 0.7312".
void expect(const std::string& what, bool holds, const std::string& otherwise);

// Prints how many checks passed. The last line of main: returns 0 if all passed, else 1.
int verdict();

}  // namespace heed
