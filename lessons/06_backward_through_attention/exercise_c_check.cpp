// Tests exercise 06c wrong_sign: compares output and gradients with those of heed's own operations.

#include "exercise.hpp"
#include "heed/autograd/backward.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/matmul.hpp"
#include "heed/ops/reduce.hpp"
#include "heed/ops/shape.hpp"
#include "heed/ops/softmax.hpp"

using namespace heed;

Tensor attend(const Tensor& Q, const Tensor& K, const Tensor& V);

namespace {

struct Inputs {
  Inputs(std::size_t T, std::size_t S, std::uint64_t seed) {
    Generator g(seed);
    Q = Tensor(g.randn({T, 4}), true).set_name("Q");
    K = Tensor(g.randn({S, 4}), true).set_name("K");
    V = Tensor(g.randn({S, 2}), true).set_name("V");
    target = g.randn({T, 2});
  }
  // The loss of an output: half the sum of the squared differences.
  void run_backward(const Tensor& O) const { backward(sum(power(O - target, 2)) / 2); }

  Tensor Q, K, V;
  Array target;
};

Tensor reference(const Inputs& x) {
  const Tensor S = matmul(x.Q, transpose(x.K, 0, 1)) / 2;
  return matmul(softmax(S, -1), x.V);
}

void judge(std::size_t T, std::size_t S) {
  const Inputs mine(T, S, 9), wanted(T, S, 9);
  const Tensor O = attend(mine.Q, mine.K, mine.V), right = reference(wanted);
  const std::string size = ", T = " + std::to_string(T) + ", S = " + std::to_string(S);
  expect("output" + size, O.value(), right.value());
  mine.run_backward(O);
  wanted.run_backward(right);
  expect("gradient of V" + size, mine.V.grad(), wanted.V.grad());
  expect("gradient of Q" + size, mine.Q.grad(), wanted.Q.grad());
  expect("gradient of K" + size, mine.K.grad(), wanted.K.grad());
}

}  // namespace

int main() {
  judge(3, 3);
  judge(2, 4);
  return verdict();
}
