// optimizer.cpp: zero_grad.

#include "heed/optim/optimizer.hpp"

namespace HEED_NAMESPACE::optim {

void zero_grad(const std::vector<Tensor>& parameters) {
  for (Tensor parameter : parameters) parameter.clear_grad();
}

}  // namespace HEED_NAMESPACE::optim
