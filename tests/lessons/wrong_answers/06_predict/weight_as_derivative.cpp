// Takes the weight for its derivative: 0.95, not 0.95 * 0.05.
#include <cmath>

#include "exercise.hpp"

using namespace heed;

std::vector<double> predictions() { return {256, 1, 0.25, 0, 3, 9, 1, 0.95, 3, 6.0 / 7}; }
