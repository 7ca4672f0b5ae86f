// optimizer.hpp: Optimizer, the interface of all optimizers, their state, and gradient clipping.
#pragma once

#include <string>
#include <vector>

#include "heed/autograd/tensor.hpp"

namespace HEED_NAMESPACE::optim {

// The state of an optimizer, which checkpoints save: its arrays by name, and its step count.
struct State {
  std::vector<std::pair<std::string, Array>> arrays;  // names such as "token.weight.exp_avg"
  std::int64_t step = 0;                              // number of updates done
};

// The interface of all optimizers. An optimizer changes the values of its parameters, which must be
// leaves: tensors that are not the result of a recorded operation. Parameters that require no
// gradient keep their values. As in PyTorch, two optimizers may have a parameter in common; then
// both optimizers update this parameter.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  // A copy of an optimizer has its own state, but updates the same parameters.
  Optimizer(const Optimizer&) = default;
  Optimizer& operator=(const Optimizer&) = default;

  // Updates every parameter that has a gradient.
  virtual void step(SourceLocation location = SourceLocation::current()) = 0;
  void zero_grad();  // clears the gradients of all parameters

  virtual double lr() const = 0;  // the learning rate
  // Sets the learning rate. Throws Error if it is negative.
  virtual void set_lr(double lr, SourceLocation location = SourceLocation::current()) = 0;

  const std::vector<Tensor>& parameters() const { return parameters_; }  // list of all parameters

  virtual State state(
      SourceLocation location = SourceLocation::current()) const = 0;  // a copy of the state
  // Replaces the state. Throws Error if a name or shape of its arrays does not match.
  virtual void set_state(const State& state,
                         SourceLocation location = SourceLocation::current()) = 0;

 protected:
  // Throws Error if `parameters` is empty or contains an undefined tensor, the result of an
  // operation, or a tensor that occurs twice.
  Optimizer(const char* name, std::vector<Tensor> parameters, SourceLocation location);

  std::vector<Tensor> parameters_;  // the parameters to update
};

// Clears the gradients of all tensors.
void zero_grad(const std::vector<Tensor>& parameters,
               SourceLocation location = SourceLocation::current());

// As torch.nn.utils.clip_grad_norm_: computes `norm`, the norm of the vector of all gradients, then
// multiplies the gradients by min(1, max_norm / (norm + 1e-6)), and returns `norm`. norm_type 2 is
// the Euclidean norm, infinity the maximum absolute value. A max_norm of 0 sets the gradients to 0.
// Pascanu et al. 2013, "On the difficulty of training recurrent neural networks", algorithm 1.
// If the norm is infinite or NaN, the gradients become 0 or NaN (PyTorch's error_if_nonfinite =
// False). Throws Error for a negative max_norm, a norm_type that is not above 0, and a parameter
// that occurs twice.
double clip_grad_norm(const std::vector<Tensor>& parameters, double max_norm, double norm_type = 2,
                      SourceLocation location = SourceLocation::current());

}  // namespace HEED_NAMESPACE::optim
