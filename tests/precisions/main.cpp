// main.cpp: a program that links both libraries, heed and heed_double, and trains with each.

#include <cmath>
#include <iostream>

#include "first_loss.hpp"

int main() {
  const double uniform = std::log(12.0);  // the text has 12 characters
  for (const double loss : {first_loss(), first_loss_in_double()}) {
    std::cout << "first loss " << loss << '\n';
    if (!(std::abs(loss - uniform) < 0.3)) return 1;
  }
}
