// train_mlp.cpp: a network with one hidden layer learns which of two spirals a point lies on.
#include <cmath>
#include <heed/heed.hpp>
#include <iostream>
using namespace heed;

struct Points {
  Tensor x;       // (N, 2)
  Indices label;  // (N): the index of the spiral, 0 or 1
};

Points draw_points(Generator& generator, std::size_t N) {
  Array x = generator.normal({N, 2}, 0, 0.05);
  const Indices label = generator.randint(0, 2, {N});
  const Array turn = generator.rand({N});
  for (std::size_t i = 0; i < N; ++i) {
    const double angle = 7.0 * double(turn(i)) + (label(i) == 0 ? 0 : std::acos(-1.0));
    x(i, 0) += Real(double(turn(i)) * std::cos(angle));
    x(i, 1) += Real(double(turn(i)) * std::sin(angle));
  }
  return {Tensor(x), label};
}

struct Mlp {
  explicit Mlp(const Scope& scope)
      : first(scope / "first", 2, 32), second(scope / "second", 32, 32), last(scope / "last", 32, 2) {}
  Tensor operator()(const Tensor& x) const { return last(relu(second(relu(first(x))))); }
  nn::Linear first, second, last;
};

int main() {
  Generator generator(0);
  const Points training = draw_points(generator, 400), test = draw_points(generator, 400);
  Parameters parameters;
  const Mlp model({parameters, generator});
  optim::AdamW optimizer(parameters, {/*lr=*/0.01});
  for (int step = 1; step <= 500; ++step) {
    const Tensor loss = cross_entropy(model(training.x), training.label);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (step % 100 == 0) std::cout << "step " << step << "  loss " << loss.item() << '\n';
  }
  const Indices guess = argmax(model(test.x), 1);
  const double right = double(xt::sum(xt::equal(guess, test.label))()) / 400;
  std::cout << "right on new points: " << right << '\n';
  return right > 0.95 ? 0 : 1;
}
