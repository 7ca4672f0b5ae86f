// optimizer.hpp: what every optimizer does: one step along the gradients.
#pragma once

#include <string>
#include <vector>

#include "heed/autograd/tensor.hpp"

namespace heed::optim {

// Values an optimizer keeps from step to step, by name: what a checkpoint saves.
struct State {
  std::vector<std::pair<std::string, Array>> arrays;  // "token.weight.exp_avg", ...
  std::int64_t step = 0;
};

// Clears the gradients of all tensors.
void zero_grad(const std::vector<Tensor>& parameters);

}  // namespace heed::optim
