// golden64_test.cpp: every operation against what PyTorch computed in double.
//
// The cases are tests/golden/golden64.txt, or the file that the environment variable HEED_GOLDEN64
// names.

#include "golden/suite.hpp"

TEST_CASE("in double, results and gradients are PyTorch's, each within its case's tolerance",
          "[golden]") {
  golden::check_agreement(golden::cases("HEED_GOLDEN64", "golden64.txt"));
}

TEST_CASE("in double, what PyTorch refuses is refused just as in float", "[golden]") {
  golden::check_refusals(golden::cases("HEED_GOLDEN64", "golden64.txt"));
}
