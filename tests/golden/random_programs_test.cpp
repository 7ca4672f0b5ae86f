// random_programs_test.cpp: random programs of operations against PyTorch's results, in float.

#include "golden/random_programs.hpp"

TEST_CASE("in float, random programs have PyTorch's results, gradients and rejections",
          "[golden][random_programs]") {
  golden::check_random_programs();
}
