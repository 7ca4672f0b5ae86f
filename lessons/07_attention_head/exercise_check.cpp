// Tests exercise 07 broken_training: compares each step with AdamW's formula, and trains an
// attention head.

#include <cmath>
#include <functional>

#include "exercise.hpp"
#include "heed/array/parallel.hpp"
#include "heed/autograd/backward.hpp"
#include "heed/nn/attention.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/loss.hpp"
#include "heed/ops/reduce.hpp"
#include "heed/optim/adamw.hpp"

using namespace heed;

std::vector<double> train(const Parameters& parameters, const std::function<Tensor()>& loss,
                          const optim::AdamWOptions& options, int steps);

// The losses (p - target(n))^2 of steps n = 0, 1, ... for a parameter p that starts at 2.
std::vector<double> by_formula(const std::function<double(int)>& target,
                               const optim::AdamWOptions& o, int steps) {
  std::vector<double> losses;
  double p = 2, m = 0, v = 0;
  for (int t = 1; t <= steps; ++t) {
    const double distance = p - target(t - 1), g = 2 * distance;
    losses.push_back(distance * distance);
    m = o.beta1 * m + (1 - o.beta1) * g;
    v = o.beta2 * v + (1 - o.beta2) * g * g;
    const double m_hat = m / (1 - std::pow(o.beta1, t)), v_hat = v / (1 - std::pow(o.beta2, t));
    p = p * (1 - o.lr * o.weight_decay) - o.lr * m_hat / (std::sqrt(v_hat) + o.eps);
  }
  return losses;
}

Array array_of(const std::vector<double>& numbers) {
  Array x = zeros({numbers.size()});
  for (std::size_t i = 0; i < numbers.size(); ++i) x(i) = Real(numbers[i]);
  return x;
}

// `old_gradient`: the gradient that the parameter has before training.
void check_steps(const std::string& what, const std::function<double(int)>& target,
                 const optim::AdamWOptions& options, double old_gradient = 0) {
  Parameters parameters;
  const Tensor p = parameters.add("p", scalar(2));
  if (old_gradient != 0) backward(p * old_gradient);
  int batches = 0;
  const std::vector<double> losses = train(
      parameters, [&] { return power(p - target(batches++), 2); }, options, 12);
  expect(what, array_of(losses), array_of(by_formula(target, options, 12)), 1e-4);
  expect("  one new batch for each of 12 steps", batches == 12,
         "drawn: " + std::to_string(batches));
}

// Trains a head to predict the previous word, for four words at five positions, both one-hot.
// Position 0 has no target. Returns the loss of a large batch after training; its lower bound is 0.
double loss_of_trained_head() {
  Generator g(10);
  Parameters parameters;
  const nn::AttentionHead head({parameters, g}, 9, 4);
  nn::AttentionMask mask;
  mask.causal = true;
  const auto loss = [&](std::size_t B) {
    const Indices words = g.randint(0, 4, {B, 5});
    Array x = zeros({B, 5, 9});
    Indices previous = words;
    for (std::size_t b = 0; b < B; ++b)
      for (std::size_t t = 0; t < 5; ++t) {
        x(b, t, std::size_t(words(b, t))) = x(b, t, 4 + t) = 1;
        previous(b, t) = t == 0 ? -100 : words(b, t - 1);  // cross_entropy ignores the target -100
      }
    return cross_entropy(head(Tensor(x), mask), previous);
  };
  optim::AdamWOptions options;
  options.lr = 0.05;
  options.weight_decay = 0;
  train(
      parameters, [&] { return loss(16); }, options, 400);
  return loss(256).item();
}

int main() {
  set_num_threads(1);
  optim::AdamWOptions plain, other;
  plain.lr = 0.1, plain.weight_decay = 0;
  other.lr = 0.3, other.beta1 = 0.5, other.beta2 = 0.9, other.weight_decay = 0.2;
  const auto zero = [](int) { return 0.0; };
  const auto alternating = [](int step) { return step % 3 - 1.0; };
  check_steps("p = 2, twelve steps with target 0", zero, plain);
  check_steps("p = 2, other options", zero, other);
  check_steps("p = 2, targets -1, 0 and 1 in turn", alternating, plain);
  check_steps("p = 2, a gradient from before training", zero, plain, 5);
  const double loss = loss_of_trained_head();
  expect("the loss of a head that predicts the previous word is below 0.05", loss < 0.05,
         "it is " + decimal(loss, 4) + "; uniform predictions have ln 4 = 1.3863");
  return verdict();
}
