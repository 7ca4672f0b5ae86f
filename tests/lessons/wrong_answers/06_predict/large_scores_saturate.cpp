// Expects that every row with large scores has a small Jacobian.
#include <cmath>

#include "exercise.hpp"

using namespace heed;

std::vector<double> predictions() { return {256, 1, 0.25, 0, 3, 9, 1, 0.0475, 1, 6.0 / 7}; }
