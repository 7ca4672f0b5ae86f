// sgd.hpp: stochastic gradient descent with momentum, as torch.optim.SGD.
#pragma once

#include "heed/optim/optimizer.hpp"

namespace HEED_NAMESPACE::optim {

struct SgdOptions {
  double lr = 1e-3;
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;  // L2 penalty, g += weight_decay * p
  bool nesterov = false;
};

// b = momentum b + (1 - dampening) g (the first b is g);  p = p - lr b
// With nesterov: p = p - lr (g + momentum b). As in PyTorch, lr multiplies b; in Sutskever et al.
// 2013, "On the importance of initialization and momentum", it multiplies g instead.
class Sgd {
 public:
  // Throws Error for a negative lr, momentum or weight_decay, and for nesterov without momentum or
  // with dampening.
  Sgd(std::vector<Tensor> parameters, const SgdOptions& options);

  void step();  // skips parameters without a gradient
  void set_lr(double lr) { options_.lr = lr; }

  State state() const;
  void set_state(const State& state);  // throws Error if a name or shape does not match

 private:
  std::vector<Tensor> parameters_;
  SgdOptions options_;
  std::vector<Array> momenta_;
  std::int64_t step_ = 0;
};

}  // namespace HEED_NAMESPACE::optim
