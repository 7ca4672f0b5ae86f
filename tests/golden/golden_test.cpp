// golden_test.cpp: every operation, forward and backward, against what PyTorch computed.
//
// The cases are tests/golden/golden.txt, or the file that the environment variable HEED_GOLDEN
// names.

#include "catch.hpp"
#include "golden/suite.hpp"

TEST_CASE("results and gradients are PyTorch's, each within its case's tolerance", "[golden]") {
  golden::check_agreement(golden::cases("HEED_GOLDEN", "golden.txt"));
}

TEST_CASE("what PyTorch refuses is refused, naming the operation, tensors and shapes", "[golden]") {
  golden::check_refusals(golden::cases("HEED_GOLDEN", "golden.txt"));
}
