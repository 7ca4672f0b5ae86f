// arithmetic_test.cpp: elementwise arithmetic by hand, and the gradients of broadcast inputs.

#include "heed/ops/arithmetic.hpp"

#include <cmath>
#include <limits>

#include "catch.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;

constexpr double inf = infinity, NaN = not_a_number;

// The gradients of f with respect to its two inputs, for the gradient `upstream` of its output.
std::vector<Array> gradients_of(Tensor (*f)(In, In), const Array& a, const Array& b,
                                const Array& upstream) {
  return gradients([f](const std::vector<Tensor>& x) { return f(x[0], x[1]); }, {a, b}, upstream);
}

Array derivative(Tensor (*f)(In), const Array& x) {
  return gradients([f](const std::vector<Tensor>& in) { return f(in[0]); }, {x},
                   ones(x.shape()))[0];
}

}  // namespace

TEST_CASE("sum, difference, product and quotient by hand", "[ops][arithmetic]") {
  const Tensor a = tensor_of({3}, {6, -8, 1}), b = tensor_of({3}, {2, 4, -0.5});
  CHECK((((a + b).value()) == array_of({3}, {8, -4, 0.5})));
  CHECK((((a - b).value()) == array_of({3}, {4, -12, 1.5})));
  CHECK((((a * b).value()) == array_of({3}, {12, -32, -0.5})));
  CHECK((((a / b).value()) == array_of({3}, {3, -2, -2})));
  CHECK(((-a).value() == array_of({3}, {-6, 8, -1})));
}

TEST_CASE("the gradients of sum, difference, product and quotient by hand", "[ops][arithmetic]") {
  const Array a = array_of({2}, {6, -8}), b = array_of({2}, {2, 4}), up = array_of({2}, {1, 10});
  const auto add = gradients_of(operator+, a, b, up), subtract = gradients_of(operator-, a, b, up);
  CHECK((add[0] == up));
  CHECK((add[1] == up));
  CHECK((subtract[0] == up));
  CHECK((subtract[1] == array_of({2}, {-1, -10})));
  const auto multiply = gradients_of(operator*, a, b, up),
             divide = gradients_of(operator/, a, b, up);
  CHECK((multiply[0] == array_of({2}, {2, 40})));
  CHECK((multiply[1] == array_of({2}, {6, -80})));
  CHECK((divide[0] == array_of({2}, {0.5, 2.5})));
  CHECK((divide[1] == array_of({2}, {-1.5, 5})));  // -a / b^2: -6/4, 8/16 times 10
}

TEST_CASE("a row broadcasts over rows, and its gradient is summed over them", "[ops][arithmetic]") {
  const Array a = array_of({2, 3}, {1, 2, 3, 4, 5, 6}), b = array_of({3}, {10, 20, 30});
  CHECK(((Tensor(a) + Tensor(b)).value() == array_of({2, 3}, {11, 22, 33, 14, 25, 36})));
  const auto g = gradients_of(operator+, a, b, array_of({2, 3}, {1, 2, 3, 10, 20, 30}));
  CHECK((g[0] == array_of({2, 3}, {1, 2, 3, 10, 20, 30})));
  CHECK((g[1] == array_of({3}, {11, 22, 33})));
}

TEST_CASE("a column times a row is a matrix; each gradient is summed over the broadcast axis",
          "[ops][arithmetic]") {
  const Array a = array_of({2, 1}, {2, 3}), b = array_of({1, 3}, {1, 10, 100});
  CHECK(((Tensor(a) * Tensor(b)).value() == array_of({2, 3}, {2, 20, 200, 3, 30, 300})));
  const auto g = gradients_of(operator*, a, b, ones({2, 3}));
  CHECK((g[0] == array_of({2, 1}, {111, 111})));
  CHECK((g[1] == array_of({1, 3}, {5, 5, 5})));
}

TEST_CASE("rank 0 broadcasts to any shape, and its gradient is summed", "[ops][arithmetic]") {
  const Array a = array_of({2, 2}, {1, 2, 3, 4}), b = scalar(2);
  CHECK(((Tensor(a) / Tensor(b)).value() == array_of({2, 2}, {0.5, 1, 1.5, 2})));
  CHECK(((Tensor(b) - Tensor(a)).value() == array_of({2, 2}, {1, 0, -1, -2})));
  CHECK((gradients_of(operator/, a, b, ones({2, 2}))[1] == scalar(-2.5)));
  CHECK((gradients_of(operator-, b, a, ones({2, 2}))[0] == scalar(4)));
}

TEST_CASE("sizes of 0 broadcast with 1 and give gradients of 0", "[ops][arithmetic]") {
  const auto g = gradients_of(operator*, zeros({0, 3}), ones({1, 3}), zeros({0, 3}));
  CHECK(str(g[0].shape()) == "(0, 3)");
  CHECK((g[1] == zeros({1, 3})));
}

TEST_CASE("a constant may be the left or the right operand", "[ops][arithmetic]") {
  const Tensor x = tensor_of({2}, {4, -2});
  CHECK(((x + 1.5).value() == array_of({2}, {5.5, -0.5})));
  CHECK(((1.5 + x).value() == array_of({2}, {5.5, -0.5})));
  CHECK(((x - 1).value() == array_of({2}, {3, -3})));
  CHECK(((1 - x).value() == array_of({2}, {-3, 3})));
  CHECK(((x * 3).value() == array_of({2}, {12, -6})));
  CHECK(((3 * x).value() == array_of({2}, {12, -6})));
  CHECK(((x / 2).value() == array_of({2}, {2, -1})));
  CHECK(((2 / x).value() == array_of({2}, {0.5, -1})));
}

TEST_CASE("the derivatives of operations with a constant by hand", "[ops][arithmetic]") {
  const auto derivative_at_4 = [](const Function& f) {
    return item(gradients(f, {scalar(4)}, scalar(1))[0]);
  };
  using X = const std::vector<Tensor>&;
  CHECK(derivative_at_4([](X x) { return x[0] + 7; }) == 1);
  CHECK(derivative_at_4([](X x) { return x[0] - 7; }) == 1);
  CHECK(derivative_at_4([](X x) { return 7 - x[0]; }) == -1);
  CHECK(derivative_at_4([](X x) { return 7 * x[0]; }) == 7);
  CHECK(derivative_at_4([](X x) { return x[0] / 2; }) == 0.5);
  CHECK(derivative_at_4([](X x) { return 32 / x[0]; }) == -2);  // -32 / 16
  CHECK(derivative_at_4([](X x) { return -x[0]; }) == -1);
}

TEST_CASE("powers, roots, logarithms and absolute values by hand", "[ops][arithmetic]") {
  const Tensor x = tensor_of({3}, {4, 0.25, 1});
  CHECK((power(x, 2).value() == array_of({3}, {16, 0.0625, 1})));
  CHECK((power(x, -1).value() == array_of({3}, {0.25, 4, 1})));
  CHECK((power(x, 0.5).value() == array_of({3}, {2, 0.5, 1})));
  CHECK((power(tensor_of({2}, {-3, 0}), 3).value() == array_of({2}, {-27, 0})));
  CHECK((sqrt(x).value() == array_of({3}, {2, 0.5, 1})));
  CHECK(difference(exp(x), array_of({3}, {54.598150033, 1.284025417, 2.718281828})) == "");
  CHECK(difference(log(x), array_of({3}, {1.386294361, -1.386294361, 0})) == "");
  CHECK((abs(tensor_of({3}, {-2, 0, 3})).value() == array_of({3}, {2, 0, 3})));
}

TEST_CASE("the derivatives of powers, roots and logarithms by hand", "[ops][arithmetic]") {
  const Array x = array_of({2}, {4, 0.25});
  CHECK(difference(derivative(exp, x), array_of({2}, {54.598150033, 1.284025417})) == "");
  CHECK((derivative(log, x) == array_of({2}, {0.25, 4})));
  CHECK((derivative(sqrt, x) == array_of({2}, {0.25, 1})));
  CHECK((derivative(abs, array_of({3}, {-2, 0, 3})) == array_of({3}, {-1, 0, 1})));
  const auto of_power = [](const Array& at, double p) {
    return gradients([p](const std::vector<Tensor>& in) { return power(in[0], p); }, {at},
                     ones(at.shape()))[0];
  };
  CHECK((of_power(x, 3) == array_of({2}, {48, 0.1875})));
  CHECK((of_power(x, -1) == array_of({2}, {-0.0625, -16})));
  CHECK((of_power(array_of({2}, {0, -3}), 2) == array_of({2}, {0, -6})));
}

TEST_CASE("the derivatives of power and sqrt at 0 are as the header says", "[ops][arithmetic]") {
  const auto of_power = [](double p) {
    return item(gradients([p](const std::vector<Tensor>& in) { return power(in[0], p); },
                          {scalar(0)}, scalar(1))[0]);
  };
  CHECK(of_power(0) == 0);  // not 0 * inf, which is NaN
  CHECK(of_power(1) == 1);
  CHECK(item(derivative(sqrt, scalar(0))) == std::numeric_limits<Real>::infinity());
}

TEST_CASE("NaN and infinities give the results of the C library", "[ops][arithmetic]") {
  const Tensor x(array_of({7}, {NaN, inf, -inf, 0, -1, 1e30, -1e30}));
  CHECK(difference(exp(x), array_of({7}, {NaN, inf, 0, 1, 0.367879441, inf, 0})) == "");
  CHECK(difference(log(x), array_of({7}, {NaN, inf, NaN, -inf, NaN, 69.0775528, NaN})) == "");
  CHECK(difference(sqrt(x), array_of({7}, {NaN, inf, NaN, 0, NaN, 1e15, NaN})) == "");
  CHECK(difference(abs(x), array_of({7}, {NaN, inf, inf, 0, 1, 1e30, 1e30})) == "");
  CHECK(difference(power(x, 2) * 0, array_of({7}, {NaN, NaN, NaN, 0, 0, NaN, NaN})) == "");
}

TEST_CASE(
    "elementwise operations compute all elements, also if the length does not fill a SIMD register",
    "[ops][arithmetic]") {
  for (std::size_t n = 0; n <= 40; ++n) {
    const Array a = random_array({n}, n, 0.5, 2), b = random_array({n}, n + 100, 0.5, 2);
    Array expected_exp = a, expected_log = a, expected_ratio = a;
    for (std::size_t i = 0; i < n; ++i) {
      expected_exp.data()[i] = std::exp(a.data()[i]);
      expected_log.data()[i] = std::log(a.data()[i]);
      expected_ratio.data()[i] = a.data()[i] / b.data()[i];
    }
    CHECK(difference(exp(Tensor(a)), expected_exp) == "");
    CHECK(difference(log(Tensor(a)), expected_log) == "");
    CHECK(difference(Tensor(a) / Tensor(b), expected_ratio) == "");
  }
}

TEST_CASE("shapes that do not broadcast throw an error with both shapes", "[ops][arithmetic]") {
  Tensor a(zeros({2, 3})), b(zeros({4}));
  CHECK(message_of([&] { a + b; }) == "add: shapes do not broadcast: a (2, 3), b (4)");
  CHECK(message_of([&] { a - b; }) == "subtract: shapes do not broadcast: a (2, 3), b (4)");
  CHECK(message_of([&] { a* b; }) == "multiply: shapes do not broadcast: a (2, 3), b (4)");
  CHECK(message_of([&] { a / b; }) == "divide: shapes do not broadcast: a (2, 3), b (4)");
  a.set_name("scores");
  b.set_name("bias");
  CHECK(message_of([&] { a + b; }) == "add: shapes do not broadcast: scores (2, 3), bias (4)");
}

TEST_CASE("exp is finite up to the largest x, and subnormal down to the smallest",
          "[ops][arithmetic]") {
  constexpr bool in_float = sizeof(Real) == sizeof(float);
  const auto inputs = in_float ? std::vector<double>{88.4, 88.72, -88, -103}
                               : std::vector<double>{709.5, 709.78, -709, -745};
  for (const double x : inputs) {
    const double y = static_cast<double>(exp(Tensor(scalar(static_cast<Real>(x)))).item());
    const double wanted = std::exp(static_cast<double>(static_cast<Real>(x)));
    CHECK(std::abs(y - wanted) <=
          4e-6 * wanted + static_cast<double>(std::numeric_limits<Real>::denorm_min()));
  }
}
