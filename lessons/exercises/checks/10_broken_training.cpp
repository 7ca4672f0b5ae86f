// 10 broken_training: every step as AdamW's formula has it, and a head that gets near its floor.

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

// The losses of a number p that starts at 2, when step n asks for (p - wanted(n))^2.
std::vector<double> by_formula(const std::function<double(int)>& wanted,
                               const optim::AdamWOptions& o, int steps) {
  std::vector<double> losses;
  double p = 2, m = 0, v = 0;
  for (int t = 1; t <= steps; ++t) {
    const double away = p - wanted(t - 1), g = 2 * away;
    losses.push_back(away * away);
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

// `before`: a gradient that somebody has left behind.
void judge(const std::string& what, const std::function<double(int)>& wanted,
           const optim::AdamWOptions& options, double before = 0) {
  Parameters parameters;
  const Tensor p = parameters.add("p", scalar(2));
  if (before != 0) backward(p * before);
  int batches = 0;
  const std::vector<double> losses = train(
      parameters, [&] { return power(p - wanted(batches++), 2); }, options, 12);
  expect(what, array_of(losses), array_of(by_formula(wanted, options, 12)), 1e-4);
  expect("  a batch for each of 12 steps", batches == 12, std::to_string(batches) + " were made");
}

// A head of the words 0 to 3 at five places, both one-hot, that is to say the word before; of place
// 0 nothing is asked. Returns the loss of a large batch at the end: what is left above 0.
double left_by_a_head() {
  Generator g(10);
  Parameters parameters;
  const nn::AttentionHead head({parameters, g}, 9, 4);
  nn::AttentionMask visible;
  visible.causal = true;
  const auto loss = [&](std::size_t B) {
    const Indices spoken = g.randint(0, 4, {B, 5});
    Array x = zeros({B, 5, 9});
    Indices before = spoken;
    for (std::size_t b = 0; b < B; ++b)
      for (std::size_t t = 0; t < 5; ++t) {
        x(b, t, std::size_t(spoken(b, t))) = x(b, t, 4 + t) = 1;
        before(b, t) = t == 0 ? -100 : spoken(b, t - 1);  // -100 counts for nothing
      }
    return cross_entropy(head(Tensor(x), visible), before);
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
  const auto swings = [](int step) { return step % 3 - 1.0; };
  judge("2, twelve steps towards 0", zero, plain);
  judge("2, with other options", zero, other);
  judge("2, towards -1, 0 and 1 in turn", swings, plain);
  judge("2, with a gradient left from before", zero, plain, 5);
  const double left = left_by_a_head();
  expect("a head learns the word before, its loss below 0.05", left < 0.05,
         "its loss is " + decimal(left, 4) + "; guessing costs ln 4 = 1.3863");
  return verdict();
}
