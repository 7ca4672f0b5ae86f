// gradcheck.hpp: is a backward pass right? Compare it with the slope measured by small steps.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "heed/autograd/tensor.hpp"

namespace heed {

// Meant for the double build: in float, rounding drowns the difference of two nearby values, and
// the defaults are wide accordingly.
struct GradcheckOptions {
  double step = sizeof(Real) == 8 ? 1e-6 : 1e-2;
  double relative = sizeof(Real) == 8 ? 1e-6 : 2e-2;
  double absolute = sizeof(Real) == 8 ? 1e-8 : 2e-3;
  // Of the random gradient that is sent in at the output; not one that inputs are often drawn
  // with, as a gradient proportional to its input is what normalising erases.
  std::uint64_t seed = 0x9E3779B9;
};

struct GradcheckResult {
  bool ok = true;
  double worst = 0;         // the largest error as a multiple of its tolerance; ok means <= 1
  std::size_t checked = 0;  // elements compared
  std::string message;      // the worst element: "input 1 element 7: backward 0.31, measured 0.29"
  explicit operator bool() const { return ok; }
};

using Function = std::function<Tensor(const std::vector<Tensor>&)>;

// Checks every element of every input of f: the gradient of sum(f(x) * u) for a random u, against
// (f(x + h) - f(x - h)) / 2h. (An upstream gradient of ones would prove nothing for softmax, whose
// rows always sum to one.) f must compute the same thing each time it is called.
GradcheckResult gradcheck(const Function& f, const std::vector<Array>& inputs,
                          const GradcheckOptions& options = {});

}  // namespace heed
