// double.cpp: a training step of the library heed_double.

#include "first_loss.hpp"

double first_loss_in_double() { return first_loss(); }
