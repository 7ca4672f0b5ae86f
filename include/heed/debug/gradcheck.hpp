// gradcheck.hpp: compares gradients from backward with central differences.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "heed/autograd/tensor.hpp"

namespace HEED_NAMESPACE {

// Options of gradcheck. In float, the difference of two nearby values has a large rounding error,
// so the default tolerances are wide, and gradcheck does not see an error of 2 %. Link a program
// with the library heed_double (CMake: heed::heed_double), or run a lesson with --double, to check
// gradients to six digits.
struct GradcheckOptions {
  double step = sizeof(Real) == 8 ? 1e-6 : 1e-2;      // the step h of the central difference
  double relative = sizeof(Real) == 8 ? 1e-6 : 2e-2;  // tolerance, relative to the gradient
  double absolute = sizeof(Real) == 8 ? 1e-8 : 2e-3;  // tolerance, added to the relative tolerance
  // The seed of the random upstream gradient. Random inputs need another seed: if the upstream
  // gradient equalled the input, the gradient of layer_norm, for example, would always be 0.
  std::uint64_t seed = 0x9E3779B9;
};

// The result of gradcheck().
struct GradcheckResult {
  bool ok = true;           // whether every error is within its tolerance
  double worst = 0;         // the largest ratio of error to tolerance; at most 1 if ok
  std::size_t checked = 0;  // number of elements compared
  // The worst element: "input 1 element 7: backward 0.31, measured 0.29". In float, the message
  // also says how large an error the check may overlook. If checked is 0, it says that.
  std::string message;
  explicit operator bool() const { return ok; }  // returns ok
};

// A function from tensors to one tensor, such as a lambda.
using Function = std::function<Tensor(const std::vector<Tensor>&)>;

// Checks every element of every input of f: compares the gradient of g(x) = sum(f(x) * u) with the
// central difference (g(x + h) - g(x - h)) / 2h. The upstream gradient u is random: with u = 1,
// every gradient through softmax would be 0, because its rows sum to 1. f must be deterministic.
// The tolerance also allows for the rounding of f's values: large ones, such as a sum of many
// squares, leave few digits for their difference. The gradients of other tensors, such as the
// parameters that f uses, stay as they are. Throws Error while a NoGrad object exists.
GradcheckResult gradcheck(const Function& f, const std::vector<Array>& inputs,
                          const GradcheckOptions& options = {},
                          SourceLocation location = SourceLocation::current());

}  // namespace HEED_NAMESPACE
