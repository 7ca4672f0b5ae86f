// Takes the variance for the standard deviation: 256 / 16 = 16.
#include <cmath>

#include "exercise.hpp"

using namespace heed;

std::vector<double> predictions() { return {256, 16, 0.25, 0, 3, 9, 1, 0.0475, 3, 6.0 / 7}; }
