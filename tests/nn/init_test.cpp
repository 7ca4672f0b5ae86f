// init_test.cpp: the initial values of parameters. (PyTorch's numbers: tests/golden/library.txt.)

#include "heed/nn/init.hpp"

#include <algorithm>
#include <cmath>

#include "catch.hpp"
#include "heed/array/random.hpp"
#include "heed/nn/layers.hpp"
#include "heed/ops/arithmetic.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;
namespace init = nn::init;

double max_abs(const Tensor& x) {
  double max = 0;
  for (const Real v : x.value()) max = std::max(max, std::abs(static_cast<double>(v)));
  return max;
}

// Whether the values lie in +-bound and reach at least 0.95 of it.
bool fills(const Tensor& x, double bound) {
  return max_abs(x) <= bound * (1 + 1e-6) && max_abs(x) > 0.95 * bound;
}

}  // namespace

TEST_CASE("uniform_ and normal_ draw the numbers of the generator", "[nn][init]") {
  Generator one(5), two(5);
  const Tensor x(zeros({4, 5}));
  init::uniform_(x, one, -2, 3);
  CHECK(same_bits(x.value(), two.uniform({4, 5}, -2, 3)));
  init::normal_(x, one, 1, 0.5);
  CHECK(same_bits(x.value(), two.normal({4, 5}, 1, 0.5)));
}

TEST_CASE("xavier_uniform_ is bounded by gain sqrt(6 / (fan_in + fan_out))", "[nn][init]") {
  Generator random(5);
  const Tensor matrix(zeros({30, 20})), kernel(zeros({10, 5, 2, 3}));
  init::xavier_uniform_(matrix, random);
  CHECK(fills(matrix, std::sqrt(6.0 / 50)));
  init::xavier_uniform_(matrix, random, 3);
  CHECK(fills(matrix, 3 * std::sqrt(6.0 / 50)));
  init::xavier_uniform_(kernel, random);
  CHECK(fills(kernel, std::sqrt(6.0 / (30 + 60))));
}

TEST_CASE("kaiming_uniform_ is bounded by sqrt(6 / ((1 + a^2) fan_in))", "[nn][init]") {
  Generator random(5);
  const Tensor matrix(zeros({30, 20})), kernel(zeros({10, 5, 2, 3}));
  init::kaiming_uniform_(matrix, random);
  CHECK(fills(matrix, std::sqrt(6.0 / 20)));
  init::kaiming_uniform_(kernel, random, 2);
  CHECK(fills(kernel, std::sqrt(6.0 / (5 * 30))));
}

TEST_CASE("kaiming_uniform_ with a = sqrt(5) gives the weight of a linear layer", "[nn][init]") {
  Generator one(5), two(5);
  const Tensor x(zeros({7, 6}));
  init::kaiming_uniform_(x, one, std::sqrt(5.0));
  CHECK(same_bits(x.value(), init::linear_weight(two, 6, 7)));
}

TEST_CASE("a parameter keeps its name, its node and its need of a gradient", "[nn][init]") {
  Generator random(5);
  Parameters parameters;
  const nn::Linear layer(Scope(parameters, random), 3, 2);
  const Node* const node = layer.weight.node().get();
  init::normal_(layer.weight, random, 0, 0.02);
  CHECK(layer.weight.node().get() == node);
  CHECK(parameters.at("weight").node().get() == node);
  CHECK(layer.weight.requires_grad());
  CHECK(layer.weight.name() == "weight");
  CHECK(max_abs(layer.weight) < 0.2);
}

TEST_CASE("the functions of fan_in reject a tensor of fewer than two axes", "[nn][init]") {
  Generator random(5);
  const std::string state = random.state();
  const Tensor bias = tensor_of({3}, {1, 2, 3}).set_name("bias");
  CHECK(message_of([&] { init::xavier_uniform_(bias, random); }) ==
        "xavier_uniform_: bias (3) needs at least two axes, (out, in, ...)");
  CHECK(message_of([&] { init::kaiming_uniform_(Tensor(scalar(1)), random); }) ==
        "kaiming_uniform_: x () needs at least two axes, (out, in, ...)");
  CHECK(random.state() == state);
}

TEST_CASE("an initialiser that throws changes no value", "[nn][init]") {
  Generator random(5);
  const Tensor x = tensor_of({2}, {1, 2}), y = x * 3.0;
  CHECK(message_of([&] { init::uniform_(x, random, 1, 0); }) != "");
  CHECK(message_of([&] { init::normal_(x, random, 0, -1); }) != "");
  CHECK(message_of([&] { init::uniform_(y, random); }) != "");
  CHECK(difference(x, array_of({2}, {1, 2}), 0) == "");
  CHECK(difference(y, array_of({2}, {3, 6}), 0) == "");
}

TEST_CASE("initializations name their own option in errors", "[nn][init]") {
  Generator generator(1);
  const Tensor x(zeros({3, 2}), true), empty(zeros({3, 0}), true);
  CHECK(message_of([&] { nn::init::xavier_uniform_(x, generator, std::nan("")); }) ==
        "xavier_uniform_: gain = nan gives the bound nan; give a finite one of at least 0");
  CHECK_NOTHROW(nn::init::kaiming_uniform_(empty, generator));
  CHECK(message_of([&] { generator.uniform({2}, -3e38, 3e38); }) ==
        (sizeof(Real) == 8 ? ""
                           : "uniform: low is -3e+38 and high is 3e+38, whose difference is "
                             "too large; give numbers nearer to each other"));
}
