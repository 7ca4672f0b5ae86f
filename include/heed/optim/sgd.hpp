// sgd.hpp: straight down the slope, with momentum.
#pragma once

#include "heed/optim/optimizer.hpp"

namespace heed::optim {

struct SgdOptions {
  double lr = 1e-3;
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;  // added to the gradient as weight_decay * p
  bool nesterov = false;
};

// b = momentum b + (1 - dampening) g (the first b is g);  p = p - lr b
// as PyTorch's SGD: Sutskever et al. 2013, "On the importance of initialization and momentum",
// with the learning rate outside the sum. nesterov: p = p - lr (g + momentum b).
class Sgd {
 public:
  // Throws Error for a negative option, or nesterov without momentum or with dampening.
  Sgd(std::vector<Tensor> parameters, const SgdOptions& options);

  void step();  // parameters without a gradient stay
  void set_lr(double lr) { options_.lr = lr; }

  State state() const;
  void set_state(const State& state);  // throws Error when names or shapes differ

 private:
  std::vector<Tensor> parameters_;
  SgdOptions options_;
  std::vector<Array> momenta_;
  std::int64_t step_ = 0;
};

}  // namespace heed::optim
