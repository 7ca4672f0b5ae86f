// arithmetic_test.cpp: gradient checks of arithmetic and activations against finite differences.

#include "heed/ops/arithmetic.hpp"

#include "catch.hpp"
#include "heed/ops/activation.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;
using X = const std::vector<Tensor>&;

const std::vector<Shape> shapes{{}, {0}, {1}, {7}, {1, 1}, {2, 3}, {3, 1, 4}, {2, 0, 3}, {2, 3, 4}};

// "" if the gradient of a function of one input is right for every shape.
std::string over_shapes(const Function& f, double low = -2, double high = 2) {
  for (const Shape& shape : shapes) {
    const std::string error = gradcheck_error(f, {random_array(shape, 5, low, high)});
    if (!error.empty()) return str(shape) + ": " + error;
  }
  return "";
}

std::string away_from_kinks(const Function& f) {
  for (const Shape& shape : shapes) {
    const std::string error = gradcheck_error(f, {away_from_zero(shape, 5)});
    if (!error.empty()) return str(shape) + ": " + error;
  }
  return "";
}

// "" if the gradients of a function of two inputs are right for all pairs of shapes that broadcast.
std::string over_pairs(const Function& f) {
  const std::vector<std::pair<Shape, Shape>> pairs{
      {{}, {}},         {{2, 3}, {2, 3}}, {{2, 3}, {3}},      {{3}, {2, 3}},       {{2, 3}, {}},
      {{}, {2, 3}},     {{2, 1}, {1, 3}}, {{1, 3}, {2, 1}},   {{2, 1, 3}, {4, 1}}, {{1}, {1, 1}},
      {{0, 3}, {1, 3}}, {{1}, {0}},       {{2, 3, 4}, {3, 1}}};
  for (const auto& [a, b] : pairs) {
    const std::string error =
        gradcheck_error(f, {away_from_zero(a, 1, 0.5), away_from_zero(b, 2, 0.5)});
    if (!error.empty()) return str(a) + ", " + str(b) + ": " + error;
  }
  return "";
}

}  // namespace

TEST_CASE("gradients of sums, differences, products and quotients", "[double][arithmetic]") {
  CHECK(over_pairs([](X x) { return x[0] + x[1]; }) == "");
  CHECK(over_pairs([](X x) { return x[0] - x[1]; }) == "");
  CHECK(over_pairs([](X x) { return x[0] * x[1]; }) == "");
  CHECK(over_pairs([](X x) { return x[0] / x[1]; }) == "");
}

TEST_CASE("gradients of one tensor as both operands", "[double][arithmetic]") {
  CHECK(over_shapes([](X x) { return x[0] + x[0]; }) == "");
  CHECK(over_shapes([](X x) { return x[0] * x[0]; }) == "");
  CHECK(over_shapes([](X x) { return x[0] - x[0] * x[0]; }) == "");
  CHECK(away_from_kinks([](X x) { return (x[0] + 3) / x[0]; }) == "");
}

TEST_CASE("gradients of operations with a constant", "[double][arithmetic]") {
  CHECK(over_shapes([](X x) { return x[0] + 1.5; }) == "");
  CHECK(over_shapes([](X x) { return 1.5 + x[0]; }) == "");
  CHECK(over_shapes([](X x) { return x[0] - 1.5; }) == "");
  CHECK(over_shapes([](X x) { return 1.5 - x[0]; }) == "");
  CHECK(over_shapes([](X x) { return x[0] * -1.5; }) == "");
  CHECK(over_shapes([](X x) { return -1.5 * x[0]; }) == "");
  CHECK(over_shapes([](X x) { return x[0] / 1.5; }) == "");
  CHECK(away_from_kinks([](X x) { return 1.5 / x[0]; }) == "");
  CHECK(over_shapes([](X x) { return -x[0]; }) == "");
}

TEST_CASE("gradients of powers, exponentials, logarithms, roots and absolute values",
          "[double][arithmetic]") {
  for (const double p : {0.0, 1.0, 2.0, 3.0, -1.0, -2.0})
    CHECK(away_from_kinks([p](X x) { return power(x[0], p); }) == "");
  for (const double p : {0.5, 1.7, -0.3})
    CHECK(over_shapes([p](X x) { return power(x[0], p); }, 0.3, 2) == "");
  CHECK(over_shapes([](X x) { return exp(x[0]); }) == "");
  CHECK(over_shapes([](X x) { return log(x[0]); }, 0.3, 3) == "");
  CHECK(over_shapes([](X x) { return sqrt(x[0]); }, 0.3, 3) == "");
  CHECK(away_from_kinks([](X x) { return abs(x[0]); }) == "");
}

TEST_CASE("gradients of the activations", "[double][activation]") {
  CHECK(over_shapes([](X x) { return tanh(x[0]); }) == "");
  CHECK(over_shapes([](X x) { return sigmoid(x[0]); }) == "");
  CHECK(away_from_kinks([](X x) { return relu(x[0]); }) == "");
  CHECK(over_shapes([](X x) { return gelu(x[0]); }, -4, 4) == "");
  CHECK(over_shapes([](X x) { return gelu(x[0], Gelu::tanh); }, -4, 4) == "");
}
