// training.cpp: three training steps. With "forward" or "backward" the last one is nonfinite.

#include <cmath>
#include <string>

#include "heed/autograd/backward.hpp"
#include "heed/nn/layers.hpp"
#include "heed/ops/activation.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/loss.hpp"
#include "heed/ops/mask.hpp"
#include "heed/ops/reduce.hpp"
#include "heed/optim/sgd.hpp"

using namespace heed;

struct Model {
  explicit Model(Scope scope)
      : embedding(scope / "embedding", 4, 3),
        hidden(scope / "hidden", 3, 3),
        head(scope / "head", 3, 4) {}
  Tensor operator()(const Indices& tokens) const {
    const Tensor inner = tanh(hidden(embedding(tokens))).set_name("inner");
    return head(inner).set_name("logits");
  }
  nn::Embedding embedding;
  nn::Linear hidden, head;
};

int main(int argc, char** argv) {
  const std::string nonfinite = argc > 1 ? argv[1] : "";
  Generator generator(7);
  Parameters parameters;
  const Scope scope(parameters, generator);
  const Model model(scope / "model");
  const Indices tokens = {{0, 1, 2}, {1, 2, 3}}, targets = {{1, 2, 3}, {2, 3, 0}};
  const Mask mask = future_mask(3);
  const Array large = generator.rand({1000, 1000}), cut = generator.rand({15, 15});
  optim::Sgd sgd(parameters.tensors(), {/*lr=*/0.5});
  for (int step = 0; step < 3; ++step) {
    Tensor loss = cross_entropy(model(tokens), targets).set_name("loss");
    if (step == 2 && nonfinite == "forward") loss = loss + sum(log(model.head.weight));
    if (step == 2 && nonfinite == "backward") loss = loss + sqrt(loss - loss.item());
    optim::zero_grad(parameters.tensors());
    backward(loss);
    sgd.step();
  }
  return mask.size() + large.size() + cut.size() > 0 ? 0 : 1;
}
