// 07 broken_training: a training loop with three faults.
//
// train changes the parameters by AdamW with the given options. loss() draws a new batch and
// returns its loss, a tensor with one number. train returns the loss of each step, computed before
// the parameters change.
//
// As handed out, an attention head that trains to predict the previous token ends far above the
// loss of uniform predictions. The judge also trains a single parameter, whose loss is the squared
// distance to a target, and compares each step with AdamW's formula (include/heed/optim/adamw.hpp).
// Find the three faults.

#include <functional>

#include "exercise.hpp"
#include "heed/autograd/backward.hpp"
#include "heed/nn/parameters.hpp"
#include "heed/optim/adamw.hpp"

using namespace heed;

// Your part begins here.
std::vector<double> train(const Parameters& parameters, const std::function<Tensor()>& loss,
                          const optim::AdamWOptions& options, int steps) {
  std::vector<double> losses;
  optim::AdamW optimizer(parameters.tensors(), options);  // keeps the moments
  for (int step = 0; step < steps; ++step) {
    const Tensor current = loss();           // a new batch and graph
    optim::zero_grad(parameters.tensors());  // else gradients accumulate
    backward(current);
    optimizer.step();
    losses.push_back(current.item());
  }
  return losses;
}
// Your part ends here.
