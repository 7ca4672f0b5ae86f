// golden_test.cpp: operations and gradients against PyTorch's results.
//
// Reads tests/golden/golden.txt, or the file in the environment variable HEED_GOLDEN, and
// tests/golden/library.txt and extra.txt, which library.py and extra.py beside them write.

#include "catch.hpp"
#include "golden/suite.hpp"

TEST_CASE("results and gradients equal PyTorch's within the tolerance of each case", "[golden]") {
  golden::check_agreement(golden::cases("HEED_GOLDEN", "golden.txt"));
}

TEST_CASE("calls that are errors in PyTorch throw errors that name operation, tensors and shapes",
          "[golden]") {
  golden::check_errors(golden::cases("HEED_GOLDEN", "golden.txt"));
}

TEST_CASE("losses, selections, layers and initial values equal PyTorch's", "[golden]") {
  golden::check_agreement(golden::cases("HEED_GOLDEN_LIBRARY", "library.txt"));
}

TEST_CASE("losses, selections and initialisers reject what PyTorch rejects", "[golden]") {
  golden::check_errors(golden::cases("HEED_GOLDEN_LIBRARY", "library.txt"));
}

TEST_CASE("the operations and layers of include/heed/extra equal PyTorch's", "[golden]") {
  golden::check_agreement(golden::cases("HEED_GOLDEN_EXTRA", "extra.txt"));
}

TEST_CASE("the operations of include/heed/extra reject what PyTorch rejects", "[golden]") {
  golden::check_errors(golden::cases("HEED_GOLDEN_EXTRA", "extra.txt"));
}
