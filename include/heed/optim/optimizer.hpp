// optimizer.hpp: Optimizer, the interface of all optimizers, their state, and gradient clipping.
#pragma once

#include <string>
#include <vector>

#include "heed/autograd/tensor.hpp"

namespace HEED_NAMESPACE::optim {

// The arrays of an optimizer by name, and its step count. Checkpoints save them.
struct State {
  std::vector<std::pair<std::string, Array>> arrays;  // "token.weight.exp_avg", ...
  std::int64_t step = 0;                              // updates done
};

// The interface of all optimizers. An optimizer changes the values of its parameters, which must be
// leaves: tensors that are not the result of a recorded operation. Parameters that require no
// gradient keep their values. As in PyTorch, two optimizers may have a parameter in common; then
// each of them changes it.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = default;             // copies the state, shares the parameters
  Optimizer& operator=(const Optimizer&) = default;  // copies the state, shares the parameters

  // Updates every parameter that has a gradient.
  virtual void step(SourceLocation location = SourceLocation::current()) = 0;
  void zero_grad();  // clears the gradients of all parameters

  virtual double lr() const = 0;  // the learning rate
  // Throws Error for a negative number.
  virtual void set_lr(double lr, SourceLocation location = SourceLocation::current()) = 0;

  const std::vector<Tensor>& parameters() const { return parameters_; }  // in the order given

  virtual State state(
      SourceLocation location = SourceLocation::current()) const = 0;  // a copy, for checkpoints
  // Throws Error if a name or shape does not match.
  virtual void set_state(const State& state,
                         SourceLocation location = SourceLocation::current()) = 0;

 protected:
  // Throws Error for an empty list, an undefined tensor, a tensor that is the result of an
  // operation, or a tensor that occurs twice.
  Optimizer(const char* name, std::vector<Tensor> parameters, SourceLocation location);

  std::vector<Tensor> parameters_;  // the parameters to update
};

// Clears the gradients of all tensors.
void zero_grad(const std::vector<Tensor>& parameters,
               SourceLocation location = SourceLocation::current());

// As torch.nn.utils.clip_grad_norm_: multiplies all gradients by min(1, max_norm / (norm + 1e-6))
// and returns norm, the norm of all gradients as one vector before scaling. norm_type 2 is the
// Euclidean norm, infinity the maximum absolute value. A max_norm of 0 sets the gradients to 0.
// Pascanu et al. 2013, "On the difficulty of training recurrent neural networks", algorithm 1.
// Throws Error for a negative max_norm and for a norm_type that is not above 0.
double clip_grad_norm(const std::vector<Tensor>& parameters, double max_norm, double norm_type = 2,
                      SourceLocation location = SourceLocation::current());

}  // namespace HEED_NAMESPACE::optim
