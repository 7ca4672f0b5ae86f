// random_test.cpp: the double build draws the same numbers, in either precision.

#include "array/random_test.cpp"

#include "array/multinomial_test.cpp"
#include "array/random_state_test.cpp"
