// adamw.hpp: the AdamW optimizer (Loshchilov and Hutter 2019).
#pragma once

#include "heed/optim/optimizer.hpp"

namespace HEED_NAMESPACE::optim {

// Options of AdamW. The defaults are PyTorch's.
struct AdamWOptions {
  double lr = 1e-3;            // learning rate
  double beta1 = 0.9;          // decay rate of m, the first moment
  double beta2 = 0.999;        // decay rate of v, the second moment
  double eps = 1e-8;           // added to the denominator, against division by 0
  double weight_decay = 0.01;  // the weight decay coefficient in the formula of AdamW
  bool decay_vectors = true;   // false: no weight decay for vectors (biases, norm weights)
  bool decoupled = true;       // false: Adam with L2 penalty, g += weight_decay * p
};

// AdamW updates a parameter p with gradient g in step t = 1, 2, ... as follows:
//   m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g^2
//   p = p (1 - lr weight_decay) - lr (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + eps)
// t counts the calls of step(), also those in which p had no gradient and was left unchanged.
// (PyTorch counts for each parameter the steps in which it had a gradient.)
// Loshchilov and Hutter 2019, "Decoupled Weight Decay Regularization", algorithm 2.
class AdamW final : public Optimizer {
 public:
  // Throws Error for options out of range, and the errors of Optimizer's constructor.
  AdamW(std::vector<Tensor> parameters, const AdamWOptions& options = {},
        SourceLocation location = SourceLocation::current());

  void step(SourceLocation location = SourceLocation::current()) override;
  double lr() const override { return options_.lr; }  // the learning rate
  void set_lr(double lr, SourceLocation location = SourceLocation::current()) override;

  // Returns a copy of the moments m and v of each parameter, and the step count.
  State state(SourceLocation location = SourceLocation::current()) const override;
  void set_state(const State& state, SourceLocation location = SourceLocation::current()) override;

 private:
  void update(const Tensor& parameter, Array& exp_avg, Array& exp_avg_sq,
              SourceLocation location) const;

  AdamWOptions options_;
  std::vector<Array> exp_avg_, exp_avg_sq_;  // the moments m and v
  std::int64_t step_ = 0;
};

}  // namespace HEED_NAMESPACE::optim
