// Draws one batch, and computes only the graph anew: it trains on that batch alone.
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
  const Tensor first = loss();
  for (int step = 0; step < steps; ++step) {
    const Tensor current = step == 0 ? first : first * 1;
    optim::zero_grad(parameters.tensors());  // else gradients accumulate
    BackwardOptions keep;
    keep.keep_graph = true;
    backward(current, keep);
    optimizer.step();
    losses.push_back(current.item());
  }
  return losses;
}
