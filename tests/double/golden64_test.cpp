// golden64_test.cpp: operations and gradients against PyTorch's results in double.
//
// Reads tests/golden/golden64.txt, or the file in the environment variable HEED_GOLDEN64, and
// tests/golden/library64.txt and extra64.txt, which library.py and extra.py beside them write.

#include "golden/suite.hpp"

TEST_CASE("in double, results and gradients equal PyTorch's within the tolerance of each case",
          "[golden]") {
  golden::check_agreement(golden::cases("HEED_GOLDEN64", "golden64.txt"));
}

TEST_CASE("in double, calls that are errors in PyTorch throw errors", "[golden]") {
  golden::check_errors(golden::cases("HEED_GOLDEN64", "golden64.txt"));
}

TEST_CASE("in double, losses, selections, layers and initial values equal PyTorch's", "[golden]") {
  golden::check_agreement(golden::cases("HEED_GOLDEN64_LIBRARY", "library64.txt"));
}

TEST_CASE("in double, losses, selections and initialisers reject what PyTorch rejects",
          "[golden]") {
  golden::check_errors(golden::cases("HEED_GOLDEN64_LIBRARY", "library64.txt"));
}

TEST_CASE("in double, the operations and layers of include/heed/extra equal PyTorch's",
          "[golden]") {
  golden::check_agreement(golden::cases("HEED_GOLDEN64_EXTRA", "extra64.txt"));
}

TEST_CASE("in double, the operations of include/heed/extra reject what PyTorch rejects",
          "[golden]") {
  golden::check_errors(golden::cases("HEED_GOLDEN64_EXTRA", "extra64.txt"));
}
