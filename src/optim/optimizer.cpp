// optimizer.cpp: what optimizers share.

#include "heed/optim/optimizer.hpp"

namespace heed::optim {

void zero_grad(const std::vector<Tensor>& parameters) {
  for (Tensor parameter : parameters) parameter.clear_grad();
}

}  // namespace heed::optim
