// Creates the optimizer in each step: its moments and step count start again.
#include <functional>

#include "exercise.hpp"
#include "heed/autograd/backward.hpp"
#include "heed/nn/parameters.hpp"
#include "heed/optim/adamw.hpp"

using namespace heed;

std::vector<double> train(const Parameters& parameters, const std::function<Tensor()>& loss,
                          const optim::AdamWOptions& options, int steps) {
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) {
    const Tensor current = loss();           // a new batch and graph
    optim::zero_grad(parameters.tensors());  // else gradients accumulate
    backward(current);
    optim::AdamW optimizer(parameters.tensors(), options);
    optimizer.step();
    losses.push_back(current.item());
  }
  return losses;
}
