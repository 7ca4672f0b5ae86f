// Does not set the gradients to zero: each step also uses those of all earlier steps.
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
    optimizer.step();
    losses.push_back(current.item());
  }
  return losses;
}
