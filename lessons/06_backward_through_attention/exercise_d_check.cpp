// Tests exercise 06d late_error: trains an attention head, and compares values and gradients.
// As long as the training is wrong, errors below -1 appear in it only.

#include "exercise.hpp"
#include "heed/autograd/backward.hpp"
#include "heed/nn/layers.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/reduce.hpp"
#include "heed/ops/shape.hpp"
#include "heed/ops/softmax.hpp"
#include "heed/optim/sgd.hpp"

using namespace heed;

Tensor huber(In e);

namespace {

constexpr int steps = 150;

struct Head {
  explicit Head(Scope scope)
      : query(scope / "query", 4, 4), key(scope / "key", 4, 4), value(scope / "value", 4, 2) {}
  Tensor operator()(const Tensor& x) const {
    const Tensor scores = matmul(query(x), transpose(key(x), 0, 1)) / 2;  // (T, T)
    return matmul(softmax(scores, -1), value(x)).set_name("output");      // (T, 2)
  }
  nn::Linear query, key, value;
};

// The loss of each step. The targets are those of another head, minus 3.
std::vector<double> train() {
  Generator g(3);
  Parameters parameters, others;
  const Head head(Scope(parameters, g)), teacher(Scope(others, g));
  const Tensor x(g.randn({12, 4}));
  const Array targets = teacher(x).value() - 3;
  optim::Sgd sgd(parameters.tensors(), {/*lr=*/0.01, /*momentum=*/0.95});
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) {
    const Tensor error = (head(x) - targets).set_name("error");
    const Tensor loss = mean(huber(error)).set_name("loss");
    optim::zero_grad(parameters.tensors());
    backward(loss);
    sgd.step();
    losses.push_back(loss.item());
  }
  return losses;
}

bool judge_training() {
  const std::vector<double> losses = train();
  std::cout << "step    loss\n";
  for (int step = 10; step <= steps; step += 10)
    std::cout << pad_left(std::to_string(step), 4) << pad_left(decimal(losses[step - 1], 4), 8)
              << '\n';
  expect("the loss after 150 steps is below 0.05", losses.back() < 0.05,
         "it is " + decimal(losses.back(), 4));
  return losses.back() < 0.05;
}

void judge(const std::string& what, const Array& errors, const Array& y, const Array& slopes) {
  const Tensor e(errors, true);
  const Tensor loss = huber(e);
  expect("output, " + what, loss.value(), y);
  backward(sum(loss * Array({1, 2, 3})));
  expect("gradient, " + what, e.grad(), slopes * Array({1, 2, 3}));
}

}  // namespace

int main() {
  const bool trained = judge_training();
  judge("small errors", {0.5, 0, -0.25}, {0.125, 0, 0.03125}, {0.5, 0, -0.25});
  judge("large errors", {1.5, 4, 100}, {1, 3.5, 99.5}, {1, 1, 1});
  // Before the training is right, this would be the answer.
  if (trained) judge("errors of both signs", {-1.5, 4, -100}, {1, 3.5, 99.5}, {-1, 1, -1});
  return verdict();
}
