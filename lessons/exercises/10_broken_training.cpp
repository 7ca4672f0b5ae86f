// 10 broken_training: a training loop with three faults, and a head that does not learn.
//
// train takes steps downhill: loss() makes a batch and gives its loss, a tensor of one number. The
// parameters move by AdamW with the options given. train returns the loss of every step, as it was
// before that step.
//
// As it stands, a head that is to say the word before gets far worse than guessing. The judge also
// trains a single number, whose loss is the square of how far it is from a goal, and compares every
// step with AdamW's formula (include/heed/optim/adamw.hpp). Find the three faults.

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
  const Tensor now = loss();
  for (int step = 0; step < steps; ++step) {
    optim::AdamW optimizer(parameters.tensors(), options);
    BackwardOptions keep;
    keep.keep_graph = true;
    backward(now, keep);
    optimizer.step();
    losses.push_back(now.item());
  }
  return losses;
}
// Your part ends here.
