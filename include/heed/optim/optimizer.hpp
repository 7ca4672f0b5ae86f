// optimizer.hpp: optimizer state for checkpoints, and zero_grad.
#pragma once

#include <string>
#include <vector>

#include "heed/autograd/tensor.hpp"

namespace HEED_NAMESPACE::optim {

// The arrays of an optimizer by name, and its step count. Checkpoints save them.
struct State {
  std::vector<std::pair<std::string, Array>> arrays;  // "token.weight.exp_avg", ...
  std::int64_t step = 0;
};

// Clears the gradients of all tensors.
void zero_grad(const std::vector<Tensor>& parameters);

}  // namespace HEED_NAMESPACE::optim
