// xor.cpp: a network with one hidden layer learns the exclusive or.
#include <heed/heed.hpp>
#include <iostream>
using namespace heed;

int main() {
  Parameters parameters;
  Generator generator(0);
  const Scope scope(parameters, generator);
  const nn::Linear hidden(scope / "hidden", 2, 8), output(scope / "output", 8, 1);
  optim::AdamW optimizer(parameters, {/*lr=*/0.05});
  const Tensor x(array2d({{0, 0}, {0, 1}, {1, 0}, {1, 1}})), y(column({0, 1, 1, 0}));
  for (int step = 0; step < 300; ++step) {
    const Tensor loss = binary_cross_entropy_with_logits(output(tanh(hidden(x))), y);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (step % 100 == 99) std::cout << "step " << step + 1 << "  loss " << loss.item() << '\n';
  }
  std::cout << sigmoid(output(tanh(hidden(x)))) << '\n';
}
