// arithmetic_test.cpp: gradients of arithmetic at random shapes.

#include "heed/ops/arithmetic.hpp"

#include "catch.hpp"
#include "run.hpp"

namespace heed::test {

namespace {

template <class F>
Maker two(const F& f) {
  return [=](Draw& d) {
    const auto [a, b] = d.pair(d.shape());
    return Case{[=](X x) { return f(x[0], x[1]); },
                {d.away_from_zero(a, 0.5, 1.5), d.away_from_zero(b, 0.5, 1.5)}};
  };
}

template <class F>
Maker beside_constant(const F& f) {
  return [=](Draw& d) {
    const double c = d.away_from_zero({}, 0.5, 2).data()[0];
    return on(d.away_from_zero(d.shape(), 0.5, 1.5), words("c ", c), [=](T x) { return f(x, c); });
  };
}

Case one_tensor_twice(Draw& d) {
  const char sign = d.one_of<char>({'+', '-', '*', '/'});
  return on(d.away_from_zero(d.shape(), 0.5, 1.5), words("x ", sign, " x"), [=](T x) {
    return sign == '+' ? x + x : sign == '-' ? x - x : sign == '*' ? x * x : x / x;
  });
}

// A constant Array on either side. Its gradient is not checked, because it has none.
Case beside_array(Draw& d) {
  const char sign = d.one_of<char>({'+', '-', '*', '/'});
  const bool array_first = d.coin();
  const auto [x, constant] = d.pair(d.shape());
  const Array c = d.away_from_zero(constant, 0.5, 1.5);
  return on(d.away_from_zero(x, 0.5, 1.5),
            words(array_first ? "array " : "x ", sign, array_first ? " x" : " array", ", array ",
                  str(c.shape())),
            [=](T a) {
              if (array_first)
                return sign == '+' ? c + a : sign == '-' ? c - a : sign == '*' ? c * a : c / a;
              return sign == '+' ? a + c : sign == '-' ? a - c : sign == '*' ? a * c : a / c;
            });
}

// All elements are at least 0.1 away from the limits, which are integers or infinite.
Case clamp_case(Draw& d) {
  Array x = d.away_from_zero(d.shape(), 0.1, 0.9);
  for (Real& v : x) v += d.between(-1, 1);
  const double low = d.one_of<double>({-infinity, -1, 0, 1}),
               high = d.one_of<double>({-1, 0, 1, infinity});
  return on(x, words("low ", low, ", high ", high), [=](T v) { return clamp(v, low, high); });
}

// If the exponent is an integer, the base may be negative.
Case power_case(Draw& d) {
  const bool integer = d.coin();
  const double p = integer ? d.between(-3, 3) : d.number(-2.5, 2.5);
  return on(integer ? d.away_from_zero(d.shape(), 0.5, 1.5) : d.values(d.shape(), 0.5, 2),
            words("p ", p), [=](T x) { return power(x, p); });
}

}  // namespace

Rows arithmetic_rows() {
  return {{"a + b", 0, 4, two([](T a, T b) { return a + b; })},
          {"a - b", 0, 4, two([](T a, T b) { return a - b; })},
          {"a * b", 0, 4, two([](T a, T b) { return a * b; })},
          {"a / b", 0, 4, two([](T a, T b) { return a / b; })},
          {"a + b, with an array", 0, 4, beside_array},
          {"one tensor on both sides", 0, 4, one_tensor_twice},
          {"-x", 0, 4, one([](T x) { return -x; }, -2, 2)},
          {"x + c", 0, 4, beside_constant([](T x, double c) { return x + c; })},
          {"x - c", 0, 4, beside_constant([](T x, double c) { return x - c; })},
          {"x * c", 0, 4, beside_constant([](T x, double c) { return x * c; })},
          {"x / c", 0, 4, beside_constant([](T x, double c) { return x / c; })},
          {"c + x", 0, 4, beside_constant([](T x, double c) { return c + x; })},
          {"c - x", 0, 4, beside_constant([](T x, double c) { return c - x; })},
          {"c * x", 0, 4, beside_constant([](T x, double c) { return c * x; })},
          {"c / x", 0, 4, beside_constant([](T x, double c) { return c / x; })},
          {"power", 0, 4, power_case},
          {"exp", 0, 4, one([](T x) { return exp(x); }, -2, 2)},
          {"log", 0, 4, one([](T x) { return log(x); }, 0.3, 3)},
          {"sqrt", 0, 4, one([](T x) { return sqrt(x); }, 0.3, 3)},
          {"abs", 0, 4, one_away_from_zero([](T x) { return abs(x); })},
          {"clamp", 0, 4, clamp_case}};
}

TEST_CASE("the gradients of arithmetic are right at random shapes",
          "[double][random_shapes][arithmetic]") {
  check(arithmetic_rows());
}

}  // namespace heed::test
