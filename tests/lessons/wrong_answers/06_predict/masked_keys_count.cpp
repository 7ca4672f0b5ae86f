// Lets the later keys of position 0 take part in its softmax.
#include <cmath>

#include "exercise.hpp"

using namespace heed;

std::vector<double> predictions() { return {256, 1, 0.25, 0, 3, 9, 0, 0.0475, 3, 6.0 / 7}; }
