// activation_test.cpp: activations and their derivatives by hand, against formulas, for large
// inputs.

#include "heed/ops/activation.hpp"

#include <cmath>
#include <limits>

#include "catch.hpp"
#include "heed/ops/arithmetic.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;

constexpr double inf = infinity, NaN = not_a_number;

Array derivative(const Function& f, const Array& x) {
  return gradients(f, {x}, ones(x.shape()))[0];
}
Tensor gelu_tanh(const std::vector<Tensor>& x) { return gelu(x[0], Gelu::tanh); }
Tensor gelu_erf(const std::vector<Tensor>& x) { return gelu(x[0]); }

// The formulas in the header file, for one number.
double erf_formula(double x) { return x * (1 + std::erf(x / std::sqrt(2.0))) / 2; }
double silu_formula(double x) { return x / (1 + std::exp(-x)); }
double tanh_formula(double x) {
  return x * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x))) / 2;
}

Array each(const Array& x, double (*formula)(double)) {
  Array y = x;
  for (Real& v : y) v = static_cast<Real>(formula(static_cast<double>(v)));
  return y;
}

}  // namespace

TEST_CASE("tanh, sigmoid and relu by hand", "[ops][activation]") {
  const Tensor x = tensor_of({3}, {-1, 0, 2});
  CHECK(difference(tanh(x), array_of({3}, {-0.761594156, 0, 0.964027580})) == "");
  CHECK(difference(sigmoid(x), array_of({3}, {0.268941421, 0.5, 0.880797078})) == "");
  CHECK((relu(x).value() == array_of({3}, {0, 0, 2})));
}

TEST_CASE("the derivatives of tanh, sigmoid and relu by hand", "[ops][activation]") {
  const Array x = array_of({3}, {-1, 0, 2});
  using X = const std::vector<Tensor>&;
  const auto of_tanh = derivative([](X in) { return tanh(in[0]); }, x);
  CHECK(difference(of_tanh, array_of({3}, {0.419974342, 1, 0.070650825})) == "");
  const auto of_sigmoid = derivative([](X in) { return sigmoid(in[0]); }, x);
  CHECK(difference(of_sigmoid, array_of({3}, {0.196611933, 0.25, 0.104993585})) == "");
  CHECK((derivative([](X in) { return relu(in[0]); }, x) == array_of({3}, {0, 0, 1})));
}

TEST_CASE("gelu at 1 and -2 equals x times the tabulated normal CDF", "[ops][activation]") {
  const Tensor x = tensor_of({3}, {1, -2, 0});
  CHECK(difference(gelu(x), array_of({3}, {0.841344746, -0.045500264, 0})) == "");
  CHECK(difference(gelu(x, Gelu::tanh), array_of({3}, {0.841191991, -0.045402306, 0})) == "");
}

TEST_CASE("both forms of gelu equal their formulas from -6 to 6", "[ops][activation]") {
  const Array x = random_array({7, 31}, 1, -6, 6);
  CHECK(difference(gelu(Tensor(x)), each(x, erf_formula)) == "");
  CHECK(difference(gelu(Tensor(x), Gelu::tanh), each(x, tanh_formula)) == "");
}

TEST_CASE("the derivatives of gelu equal those of its formula", "[ops][activation]") {
  const Function plain = [](const std::vector<Tensor>& in) {
    const Tensor& x = in[0];
    const Tensor u = std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * power(x, 3));
    return 0.5 * x * (1 + tanh(u));
  };
  CHECK(twin_difference(gelu_tanh, plain, {random_array({5, 9}, 3, -4, 4)}, 1e-5) == "");
  const Array derivatives_erf = derivative(gelu_erf, array_of({3}, {0, 1, -1}));  // P(x) + x P'(x)
  CHECK(difference(derivatives_erf, array_of({3}, {0.5, 1.083315471, -0.083315471})) == "");
}

TEST_CASE("silu and its derivative by hand", "[ops][activation]") {
  const Array x = array_of({4}, {-1, 0, 1, 2});
  CHECK(difference(silu(Tensor(x)), array_of({4}, {-0.268941421, 0, 0.731058579, 1.761594156})) ==
        "");
  const auto of_silu = derivative([](const std::vector<Tensor>& in) { return silu(in[0]); }, x);
  CHECK(difference(of_silu, array_of({4}, {0.072329488, 0.5, 0.927670512, 1.090784248})) == "");
}

TEST_CASE("silu(x) equals x sigmoid(x), and the gradients too", "[ops][activation]") {
  using X = const std::vector<Tensor>&;
  const Array x = random_array({7, 31}, 1, -8, 8);
  CHECK(difference(silu(Tensor(x)), each(x, silu_formula)) == "");
  CHECK(twin_difference([](X in) { return silu(in[0]); },
                        [](X in) { return in[0] * sigmoid(in[0]); }, {x}) == "");
}

TEST_CASE("activations of large inputs are constant or linear, never NaN", "[ops][activation]") {
  const Tensor x(array_of({6}, {-1e30, -200, -20, 20, 200, 1e30}));
  CHECK(difference(tanh(x), array_of({6}, {-1, -1, -1, 1, 1, 1})) == "");
  CHECK(difference(sigmoid(x), array_of({6}, {0, 0, 2.0611537e-9, 1, 1, 1}), 1e-9) == "");
  CHECK(difference(gelu(x), array_of({6}, {0, 0, 0, 20, 200, 1e30})) == "");
  CHECK(difference(gelu(Tensor(array_of({3}, {-200, 20, 200})), Gelu::tanh),
                   array_of({3}, {0, 20, 200})) == "");
  CHECK(difference(silu(x), array_of({6}, {0, 0, -4.12230724e-8, 20, 200, 1e30}), 1e-9) == "");
  const Array silu_slope =
      derivative([](const std::vector<Tensor>& in) { return silu(in[0]); }, x.value());
  CHECK(difference(silu_slope, array_of({6}, {0, 0, -3.9161919e-8, 1, 1, 1}), 1e-7) == "");
  CHECK(difference(sigmoid(Tensor(array_of({2}, {inf, -inf}))), array_of({2}, {1, 0})) == "");
  CHECK(difference(tanh(Tensor(array_of({2}, {inf, -inf}))), array_of({2}, {1, -1})) == "");
}

TEST_CASE("gelu and silu of infinities have the values and derivatives of the limits",
          "[ops][activation]") {
  const auto silu_of = [](const Tensor& x) { return silu(x); };
  const auto erf = [](const Tensor& x) { return gelu(x); };
  const auto tanh_form = [](const Tensor& x) { return gelu(x, Gelu::tanh); };
  for (const std::function<Tensor(const Tensor&)>& f :
       {std::function<Tensor(const Tensor&)>(silu_of), {erf}, {tanh_form}}) {
    const Tensor x = tensor_of({4}, {-infinity, infinity, -1e30, 1e30});
    const Tensor y = f(x);
    CHECK((y.value() == array_of({4}, {0, infinity, 0, 1e30})));
    backward(y, ones({4}));
    CHECK((x.grad() == array_of({4}, {0, 1, 0, 1})));
  }
}

TEST_CASE("every activation of NaN is NaN", "[ops][activation]") {
  const Tensor x(array_of({2}, {NaN, 1}));
  for (const Tensor& y : {tanh(x), sigmoid(x), relu(x), gelu(x), gelu(x, Gelu::tanh), silu(x)}) {
    CHECK(std::isnan(y.value()(0)));
    CHECK(std::isfinite(y.value()(1)));
  }
}

TEST_CASE("activations keep the shape: rank 0, size 0 and batches", "[ops][activation]") {
  for (const Shape& shape : {Shape{}, Shape{0}, Shape{2, 0, 3}, Shape{2, 1, 33}}) {
    const Tensor x(zeros(shape));
    for (const Tensor& y : {tanh(x), sigmoid(x), relu(x), gelu(x), gelu(x, Gelu::tanh), silu(x)})
      CHECK(str(y.shape()) == str(shape));
  }
}

// The largest error of y against the exact function of x, in ulp (units in the last place).
static double worst_error(const Array& x, const Tensor& y, double (*exact)(double)) {
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double expected = exact(static_cast<double>(x.data()[i]));
    const Real near = static_cast<Real>(std::abs(expected));
    const double ulp =
        static_cast<double>(std::nextafter(near, static_cast<Real>(infinity)) - near);
    worst = std::max(worst, std::abs(static_cast<double>(y.value().data()[i]) - expected) / ulp);
  }
  return worst;
}

TEST_CASE("exp, log and tanh are accurate to three ulp", "[ops][activation]") {
  const Array wide = Generator(1).uniform({10007}, -80, 80);
  const Array positive = Generator(2).uniform({10007}, 0.001, 100);
  const Array narrow = Generator(3).uniform({10007}, -4, 4);
  CHECK(worst_error(wide, exp(Tensor(wide)), std::exp) < 3);
  CHECK(worst_error(positive, log(Tensor(positive)), std::log) < 3);
  CHECK(worst_error(narrow, tanh(Tensor(narrow)), std::tanh) < 3);
}

TEST_CASE("the logarithm of a subnormal sigmoid is finite", "[ops][activation]") {
  const Tensor x = tensor_of({1}, {sizeof(Real) == sizeof(float) ? -90 : -720});
  CHECK(difference(log(sigmoid(x)), x.value()) == "");
}
