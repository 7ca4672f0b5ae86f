// sgd.hpp: stochastic gradient descent with momentum, as torch.optim.SGD.
#pragma once

#include "heed/optim/optimizer.hpp"

namespace HEED_NAMESPACE::optim {

// Options of Sgd. The defaults are PyTorch's.
struct SgdOptions {
  double lr = 1e-3;         // learning rate
  double momentum = 0;      // factor of the momentum b; 0 means no momentum
  double dampening = 0;     // 1 - dampening is the factor of the gradient g in the momentum b
  double weight_decay = 0;  // L2 penalty, g += weight_decay * p
  bool nesterov = false;    // Nesterov momentum
};

// In each step, Sgd updates a parameter p with gradient g and momentum b (the first b is g):
//   b = momentum b + (1 - dampening) g;  p = p - lr b
// With nesterov: p = p - lr (g + momentum b). As in PyTorch, lr multiplies b; in Sutskever et al.
// 2013, "On the importance of initialization and momentum", lr multiplies g instead.
class Sgd final : public Optimizer {
 public:
  // Throws Error for a negative lr, momentum or weight_decay, for nesterov without momentum or with
  // dampening, and the errors of Optimizer's constructor.
  Sgd(std::vector<Tensor> parameters, const SgdOptions& options = {},
      SourceLocation location = SourceLocation::current());

  void step(SourceLocation location = SourceLocation::current()) override;
  double lr() const override { return options_.lr; }  // the learning rate
  void set_lr(double lr, SourceLocation location = SourceLocation::current()) override;

  // Returns a copy of the momentum b of each parameter, and the step count.
  State state(SourceLocation location = SourceLocation::current()) const override;
  void set_state(const State& state, SourceLocation location = SourceLocation::current()) override;

 private:
  SgdOptions options_;
  std::vector<Array> momenta_;
  std::int64_t step_ = 0;
};

}  // namespace HEED_NAMESPACE::optim
