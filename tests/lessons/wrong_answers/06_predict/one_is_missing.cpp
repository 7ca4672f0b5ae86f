// The last prediction is missing.
#include <cmath>

#include "exercise.hpp"

using namespace heed;

std::vector<double> predictions() { return {256, 1, 0.25, 0, 3, 9, 1, 0.0475, 3, NAN}; }
