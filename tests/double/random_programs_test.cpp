// random_programs_test.cpp: random programs of operations against PyTorch's results, in double.

#include "golden/random_programs.hpp"

TEST_CASE("random programs have PyTorch's results and gradients, and its refusals",
          "[random_programs]") {
  golden::check_random_programs();
}
