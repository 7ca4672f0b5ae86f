// activation_test.cpp: gradients of activations at random shapes.

#include "heed/ops/activation.hpp"

#include "catch.hpp"
#include "run.hpp"

namespace heed::test {

Rows activation_rows() {
  return {{"tanh", 0, 4, one([](T x) { return tanh(x); }, -3, 3)},
          {"sigmoid", 0, 4, one([](T x) { return sigmoid(x); }, -4, 4)},
          {"relu", 0, 4, one_away_from_zero([](T x) { return relu(x); })},
          {"silu", 0, 4, one([](T x) { return silu(x); }, -4, 4)},
          {"gelu, erf", 0, 4, one([](T x) { return gelu(x); }, -4, 4)},
          {"gelu, tanh", 0, 4, one([](T x) { return gelu(x, Gelu::tanh); }, -4, 4)}};
}

TEST_CASE("the gradients of activations are right at random shapes",
          "[double][random_shapes][activation]") {
  check(activation_rows());
}

}  // namespace heed::test
