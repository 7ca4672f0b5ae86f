// random_programs_test.cpp: random programs of operations against PyTorch's results in double.
//
// Reads tests/golden/random_programs.txt, which tests/golden/random_programs.py writes, or the file
// in the environment variable HEED_RANDOM_PROGRAMS.

#include "golden/suite.hpp"

namespace {

// Empty if heed computes the outputs and gradients of the program, or refuses it as PyTorch does.
std::string difference_from_pytorch(const golden::Case& program) {
  if (!program.error) return golden::problem(program);
  try {
    golden::run(program);
  } catch (const heed::Error&) {
    return "";
  }
  return "no error, but PyTorch's is" + *program.error;
}

}  // namespace

TEST_CASE("random programs have PyTorch's results and gradients, and its refusals",
          "[random_programs]") {
  std::size_t refused = 0;
  const auto programs = golden::cases("HEED_RANDOM_PROGRAMS", "random_programs.txt");
  for (const golden::Case& program : programs) {
    const std::string text = difference_from_pytorch(program);
    if (!text.empty()) FAIL_CHECK(program.id << ": " << text);
    refused += program.error ? 1 : 0;
  }
  CHECK(!programs.empty());
  if (std::getenv("HEED_RANDOM_PROGRAMS") == nullptr) CHECK(refused > programs.size() / 20);
}
