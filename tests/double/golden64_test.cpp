// golden64_test.cpp: operations and gradients against PyTorch's results in double.
//
// Reads tests/golden/golden64.txt, or the file in the environment variable HEED_GOLDEN64.

#include "golden/suite.hpp"

TEST_CASE("in double, results and gradients equal PyTorch's within the tolerance of each case",
          "[golden]") {
  golden::check_agreement(golden::cases("HEED_GOLDEN64", "golden64.txt"));
}

TEST_CASE("in double, calls that are errors in PyTorch throw errors", "[golden]") {
  golden::check_errors(golden::cases("HEED_GOLDEN64", "golden64.txt"));
}
