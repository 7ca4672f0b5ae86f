// elementwise_test.cpp: pow, sin, cos, erf, softplus, leaky_relu and elu, and += -= *= /=.

#include "heed/extra/elementwise.hpp"

#include "catch.hpp"
#include "heed/ops/arithmetic.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;

// f(x) and f'(x)
template <class F>
std::pair<double, double> value_and_slope(double x, const F& f) {
  const Tensor in = tensor_of({}, {x});
  const Tensor y = f(in);
  y.backward();
  return {y.item(), in.grad()()};
}

bool near_pair(std::pair<double, double> got, double value, double slope) {
  return close(got.first, value, 1e-6) && close(got.second, slope, 1e-6);
}

}  // namespace

TEST_CASE("pow has derivatives with respect to base and exponent", "[extra][elementwise]") {
  const Tensor a = tensor_of({3}, {2, 3, 0}), b = tensor_of({3}, {3, 0, 2});
  const Tensor y = pow(a, b);
  CHECK(difference(y, array_of({3}, {8, 1, 0})) == "");
  backward(y, ones({3}));
  CHECK(difference(a.grad(), array_of({3}, {12, 0, 0})) == "");
  CHECK(difference(b.grad(), array_of({3}, {8 * std::log(2.0), std::log(3.0), 0})) == "");
  CHECK(difference(pow(a, 2), array_of({3}, {4, 9, 0})) == "");
  CHECK(difference(pow(2, b), array_of({3}, {8, 1, 4})) == "");
  CHECK(message_of([&] { pow(a, Tensor(ones({2}))); }) ==
        "pow: shapes do not broadcast: a (3), b (2)");
}

TEST_CASE("sin, cos and erf with their derivatives", "[extra][elementwise]") {
  CHECK(near_pair(value_and_slope(0.5, [](In x) { return sin(x); }), std::sin(0.5), std::cos(0.5)));
  CHECK(near_pair(value_and_slope(2, [](In x) { return cos(x); }), std::cos(2.), -std::sin(2.)));
  CHECK(
      near_pair(value_and_slope(0, [](In x) { return erf(x); }), 0, 2 / std::sqrt(std::acos(-1.))));
  CHECK(near_pair(value_and_slope(infinity, [](In x) { return erf(x); }), 1, 0));
}

TEST_CASE("softplus is exact for large numbers of either sign", "[extra][elementwise]") {
  const auto f = [](In x) { return softplus(x); };
  CHECK(near_pair(value_and_slope(0, f), std::log(2.0), 0.5));
  CHECK(near_pair(value_and_slope(1000, f), 1000, 1));
  CHECK(near_pair(value_and_slope(-infinity, f), 0, 0));
  CHECK(value_and_slope(-50, f).first > 0);
  CHECK(near_pair(value_and_slope(1, [](In x) { return softplus(x, 2, 1); }), 1, 1));
  CHECK(message_of([] { softplus(tensor_of({}, {1}), 0); }) ==
        "softplus: beta = 0 for x () must be above 0");
}

TEST_CASE("leaky_relu and elu have the slope of their left side at 0", "[extra][elementwise]") {
  const auto leaky = [](In x) { return leaky_relu(x, 0.1); };
  CHECK(near_pair(value_and_slope(2, leaky), 2, 1));
  CHECK(near_pair(value_and_slope(-2, leaky), -0.2, 0.1));
  CHECK(near_pair(value_and_slope(0, leaky), 0, 0.1));
  const auto half = [](In x) { return elu(x, 0.5); };
  CHECK(near_pair(value_and_slope(2, half), 2, 1));
  CHECK(near_pair(value_and_slope(-1, half), 0.5 * std::expm1(-1.), 0.5 * std::exp(-1.)));
  CHECK(near_pair(value_and_slope(0, half), 0, 0.5));
  CHECK(near_pair(value_and_slope(-infinity, half), -0.5, 0));
}

TEST_CASE("x += y makes x a handle to a new tensor", "[extra][elementwise]") {
  const Tensor w = tensor_of({2}, {1, 2});
  Tensor x = w * 2;
  const Tensor before = x;
  x += w;
  x -= 1;
  x *= w;
  x /= 2;
  CHECK(difference(x, array_of({2}, {1, 5})) == "");  // (3 w - 1) w / 2
  CHECK(difference(before, array_of({2}, {2, 4})) == "");
  backward(x, ones({2}));
  CHECK(difference(w.grad(), array_of({2}, {2.5, 5.5})) == "");  // 3 w - 1/2
}

TEST_CASE("a parameter is no left side of +=", "[extra][elementwise]") {
  Tensor w = tensor_of({2}, {1, 2}).set_name("w");
  const std::string rest =
      "=: w (2) is a leaf that requires a gradient, and would become another tensor; change its "
      "value with mutable_value()";
  CHECK(message_of([&] { w += w; }) == "+" + rest);
  CHECK(message_of([&] { w -= 1; }) == "-" + rest);
  CHECK(message_of([&] { w *= w; }) == "*" + rest);
  CHECK(message_of([&] { w /= 2; }) == "/" + rest);
}
