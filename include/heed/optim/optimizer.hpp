// optimizer.hpp: optimizer state for checkpoints, zero_grad, and gradient clipping by total norm.
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

// As torch.nn.utils.clip_grad_norm_: multiplies all gradients by min(1, max_norm / (norm + 1e-6))
// and returns norm, the norm of all gradients as one vector before scaling. norm_type 2 is the
// Euclidean norm, infinity the maximum absolute value. A max_norm of 0 sets the gradients to 0.
// Pascanu et al. 2013, "On the difficulty of training recurrent neural networks", algorithm 1.
// Throws Error for a negative max_norm and for a norm_type that is not above 0.
double clip_grad_norm(const std::vector<Tensor>& parameters, double max_norm, double norm_type = 2);

}  // namespace HEED_NAMESPACE::optim
