// clip.hpp: no step is longer than it should be.
#pragma once

#include "heed/autograd/tensor.hpp"

namespace heed::optim {

// The norm of all gradients taken as one vector (norm_type 2; infinity for the largest element),
// before they are scaled by min(1, max_norm / (norm + 1e-6)) so that it is at most max_norm.
// Pascanu et al. 2013, "On the difficulty of training recurrent neural networks", algorithm 1.
// A max_norm of 0 clears the gradients. Throws Error when it is negative or norm_type is not above
// 0.
double clip_grad_norm(const std::vector<Tensor>& parameters, double max_norm, double norm_type = 2);

}  // namespace heed::optim
