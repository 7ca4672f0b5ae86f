// random_test.cpp: runs the tests of the generator in the double build, for both precisions.

#include "array/random_test.cpp"

#include "array/multinomial_test.cpp"
#include "array/random_state_test.cpp"
