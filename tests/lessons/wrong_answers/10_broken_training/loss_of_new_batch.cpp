// Records the loss of a second batch, after the parameters changed.
#include <functional>

#include "exercise.hpp"
#include "heed/autograd/backward.hpp"
#include "heed/nn/parameters.hpp"
#include "heed/optim/adamw.hpp"

using namespace heed;

std::vector<double> train(const Parameters& parameters, const std::function<Tensor()>& loss,
                          const optim::AdamWOptions& options, int steps) {
  std::vector<double> losses;
  optim::AdamW optimizer(parameters.tensors(), options);  // keeps the moments
  for (int step = 0; step < steps; ++step) {
    const Tensor current = loss();           // a new batch and graph
    optim::zero_grad(parameters.tensors());  // else gradients accumulate
    backward(current);
    optimizer.step();
    losses.push_back(loss().item());
  }
  return losses;
}
