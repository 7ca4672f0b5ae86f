// Expects that a doubled query doubles the ratio of two weights.
#include <cmath>

#include "exercise.hpp"

using namespace heed;

std::vector<double> predictions() { return {256, 1, 0.25, 0, 3, 6, 1, 0.0475, 3, 6.0 / 7}; }
