// 10 broken_training: a training loop with three faults, and a head that does not learn.
//
// train takes steps downhill: loss() makes a batch and gives its loss, a tensor of one number. The
// parameters move by AdamW with the options given. train returns the loss of every step, as it was
// before that step.
//
// As it stands, a head that is to say the word before gets far worse than guessing. The judge also
// trains a single number, whose loss is the square of how far it is from a goal, and compares every
// step with AdamW's formula (include/heed/optim/adamw.hpp). Find the three faults.
// Hint: A graph holds the numbers of the moment in which it was made. When is it made?
// Hint: Lesson 08: gradients add up. Which line of lesson 09 makes them start from zero?
// Hint: AdamW keeps m, v and its number of steps from one step to the next. Where do they live?

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
  optim::AdamW optimizer(parameters.tensors(), options);  // it remembers earlier gradients
  for (int step = 0; step < steps; ++step) {
    const Tensor now = loss();               // new numbers, a new graph
    optim::zero_grad(parameters.tensors());  // or this gradient is added to the last
    backward(now);
    optimizer.step();
    losses.push_back(now.item());
  }
  return losses;
}
// Your part ends here.
