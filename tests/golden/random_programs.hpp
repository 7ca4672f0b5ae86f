// random_programs.hpp: checks random programs of operations against PyTorch's results.
//
// Reads tests/golden/random_programs.txt, which tests/golden/random_programs.py writes, or the file
// in the environment variable HEED_RANDOM_PROGRAMS.
#pragma once

#include <type_traits>

#include "golden/suite.hpp"

namespace golden {

// PyTorch has computed the results in double. In float they agree to 1e-4, relative to the largest
// number; the tolerance in the file is 1e-10 times this number.
inline Case in_own_precision(Case program) {
  if (std::is_same_v<heed::Real, double>) return program;
  for (Tolerance* tolerance : {&program.out_tolerance, &program.grad_tolerance})
    *tolerance = {1e-4, tolerance->absolute * 1e6};
  return program;
}

// Empty if heed computes the outputs and gradients of the program, or rejects it as PyTorch does.
inline std::string difference_from_pytorch(const Case& program) {
  if (!program.error) return problem(in_own_precision(program));
  try {
    run(program);
  } catch (const heed::Error&) {
    return "";
  }
  return "no error, but PyTorch's is" + *program.error;
}

// Runs all programs. In float, leaves out those whose float results are not near the double ones in
// PyTorch either.
inline void check_random_programs() {
  std::size_t rejected = 0, left_out = 0;
  const auto programs = cases("HEED_RANDOM_PROGRAMS", "random_programs.txt");
  for (const Case& program : programs) {
    if (!std::is_same_v<heed::Real, double> && program.attrs.value("double_only", false)) {
      ++left_out;
      continue;
    }
    const std::string text = difference_from_pytorch(program);
    if (!text.empty()) FAIL_CHECK(program.id << ": " << text);
    rejected += program.error ? 1 : 0;
  }
  CHECK(left_out < programs.size() / 5 + 1);
  if (std::getenv("HEED_RANDOM_PROGRAMS") == nullptr) CHECK(rejected > programs.size() / 20);
}

}  // namespace golden
