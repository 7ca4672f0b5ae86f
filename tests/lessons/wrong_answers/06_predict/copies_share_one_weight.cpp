// Expects that two copies of a key share the weight of one.
#include <cmath>

#include "exercise.hpp"

using namespace heed;

std::vector<double> predictions() { return {256, 1, 0.25, 0, 3, 9, 1, 0.0475, 3, 0.75}; }
