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
class Sgd final : public Optimizer {
 public:
  // Throws Error for a negative lr, momentum or weight_decay, and for nesterov without momentum or
  // with dampening, and for parameters as described in Optimizer.
  Sgd(std::vector<Tensor> parameters, const SgdOptions& options = {},
      SourceLocation location = SourceLocation::current());

  void step(SourceLocation location = SourceLocation::current()) override;
  double lr() const override { return options_.lr; }
  void set_lr(double lr, SourceLocation location = SourceLocation::current()) override;

  State state() const override;
  void set_state(const State& state, SourceLocation location = SourceLocation::current()) override;

 private:
  SgdOptions options_;
  std::vector<Array> momenta_;
  std::int64_t step_ = 0;
};

}  // namespace HEED_NAMESPACE::optim
