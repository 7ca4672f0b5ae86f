// Sets the gradients to zero between backward and step: the parameters only decay.
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
    const Tensor current = loss();  // a new batch and graph
    backward(current);
    optim::zero_grad(parameters.tensors());
    optimizer.step();
    losses.push_back(current.item());
  }
  return losses;
}
