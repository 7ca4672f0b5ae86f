// Divides the scores by d, not by sqrt(d): standard deviation 1 / 16.
#include <cmath>

#include "exercise.hpp"

using namespace heed;

std::vector<double> predictions() { return {256, 1.0 / 16, 0.25, 0, 3, 9, 1, 0.0475, 3, 6.0 / 7}; }
