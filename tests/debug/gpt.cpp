// gpt.cpp: two training steps of a GPT. With "wrong", the backward of one operation has a wrong
// sign.

#include "heed/nn/gpt.hpp"

#include <cstdio>
#include <string>

#include "heed/array/map.hpp"
#include "heed/autograd/backward.hpp"
#include "heed/autograd/record.hpp"
#include "heed/base/error.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/loss.hpp"
#include "heed/ops/reduce.hpp"
#include "heed/optim/sgd.hpp"

using namespace heed;

// y = x^2 / 2
struct HalfSquare {
  static constexpr std::string_view name = "HalfSquare";
  Array forward(const Array& x) const {
    return map([](auto v) { return v * v / 2; }, x);
  }
  Array backward(const Array& dy, const Array&, const Array& x) const {  // dx = dy x
    return map([s = sign](auto d, auto v) { return d * v * s; }, dy, x);
  }
  Real sign;  // -1 plants the error
};

int main(int argc, char** argv) try {
  const bool wrong = argc > 1 && std::string(argv[1]) == "wrong";
  Generator generator(5);
  Parameters parameters;
  const Scope scope(parameters, generator);
  nn::GptConfig config;
  config.vocab_size = 5;
  config.block_size = 4;
  config.layers = 2;
  config.heads = 2;
  config.embed_dim = 8;
  const nn::Gpt gpt(scope, config);
  const Indices tokens = {{0, 1, 2, 3}, {4, 3, 2, 1}}, targets = {{1, 2, 3, 4}, {3, 2, 1, 0}};
  const Array cube = generator.rand({100, 100, 100});
  optim::Sgd sgd(parameters.tensors(), {/*lr=*/0.5});
  for (int step = 0; step < 2; ++step) {
    const Tensor logits = gpt(tokens);
    const Tensor penalty =
        record(HalfSquare{Real(wrong ? -1 : 1)}, SourceLocation::current(), logits)
            .set_name("penalty");
    const Tensor loss = cross_entropy(logits, targets) + mean(penalty);
    optim::zero_grad(parameters.tensors());
    backward(loss);
    sgd.step();
  }
  return cube.size() > 0 ? 0 : 1;
} catch (const Error& error) {
  std::fprintf(stderr, "heed: error: %s\n", error.what());
  return 1;
}
