// reductions_test.cpp: amin, prod, cumsum, norm, normalize, var and stddev.

#include "heed/extra/reductions.hpp"

#include "catch.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/reduce.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;

// The gradient of f at x for an upstream gradient of ones.
template <class F>
Array slope_of(const Tensor& x, const F& f) {
  x.clear_grad();
  const Tensor y = f(x);
  backward(y, ones(y.shape()));
  return x.grad();
}

}  // namespace

TEST_CASE("equal minima get equal parts of the gradient", "[extra][reductions]") {
  const Tensor x = tensor_of({2, 3}, {1, 1, 2, 5, 3, 4});
  CHECK(difference(amin(x, 1), array_of({2}, {1, 3})) == "");
  CHECK(difference(min(x), array_of({}, {1})) == "");
  CHECK(difference(amax(x, 0, true), array_of({1, 3}, {5, 3, 4})) == "");
  CHECK(difference(slope_of(x, [](const Tensor& v) { return amin(v, 1); }),
                   array_of({2, 3}, {0.5, 0.5, 0, 0, 1, 0})) == "");
  CHECK(difference(Array(argmin(x, 1)), array_of({2}, {0, 1})) == "");
  CHECK(std::isnan(amin(tensor_of({2}, {1, not_a_number})).item()));
}

TEST_CASE("a minimum of no elements is an error that names the function", "[extra][reductions]") {
  const Tensor x = Tensor(zeros({2, 0})).set_name("x");
  CHECK(message_of([&] { amin(x, 1); }) == "amin: no elements to compare in x (2, 0)");
  CHECK(message_of([&] { min(x); }) == "min: no elements to compare in x (2, 0)");
  CHECK(message_of([&] { amax(x, 1); }) == "amax: no elements to compare in x (2, 0)");
  CHECK(message_of([&] { argmin(x, 1); }) == "argmin: no elements to compare in x (2, 0)");
  CHECK(message_of([&] { amin(x, 2); }) ==
        "amin: axis 2 is out of range for x (2, 0); use -2 to 1");
  CHECK(amin(x, 0).shape() == Shape{0});
}

TEST_CASE("the derivative of a product is the product of the other elements",
          "[extra][reductions]") {
  const Tensor x = tensor_of({3, 3}, {2, 3, 4, 0, 3, 4, 0, 0, 4});
  CHECK(difference(prod(x, 1), array_of({3}, {24, 0, 0})) == "");
  CHECK(difference(slope_of(x, [](const Tensor& v) { return prod(v, 1); }),
                   array_of({3, 3}, {12, 8, 6, 12, 0, 0, 0, 0, 0})) == "");
  CHECK(difference(
            slope_of(tensor_of({2}, {not_a_number, 3}), [](const Tensor& v) { return prod(v); }),
            array_of({2}, {3, not_a_number})) == "");
  CHECK(prod(tensor_of({2, 2}, {1, 2, 3, 4})).item() == 24);
  CHECK(prod(Tensor(zeros({0}))).item() == 1);
  CHECK(prod(tensor_of({}, {3}), 0).item() == 3);
  CHECK(prod(x, 0, true).shape() == Shape{1, 3});
}

TEST_CASE("cumsum adds the elements so far; its gradient adds those that follow",
          "[extra][reductions]") {
  const Tensor x = tensor_of({2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(difference(cumsum(x, 1), array_of({2, 3}, {1, 3, 6, 4, 9, 15})) == "");
  CHECK(difference(cumsum(x, 0), array_of({2, 3}, {1, 2, 3, 5, 7, 9})) == "");
  CHECK(difference(slope_of(x, [](const Tensor& v) { return cumsum(v, 1); }),
                   array_of({2, 3}, {3, 2, 1, 3, 2, 1})) == "");
  CHECK(message_of([&] { cumsum(x, 2); }) ==
        "cumsum: axis 2 is out of range for x (2, 3); use -2 to 1");
}

TEST_CASE("norms of (3, -4)", "[extra][reductions]") {
  const Tensor x = tensor_of({2}, {3, -4});
  CHECK(norm(x).item() == 5);
  CHECK(norm(x, 1).item() == 7);
  CHECK(norm(x, infinity).item() == 4);
  CHECK(norm(x, -infinity).item() == 3);
  CHECK(norm(x, 0).item() == 2);
  CHECK(close(norm(x, 3).item(), std::cbrt(91.0), 1e-6));
  const auto gradient = [&](double p) {
    return slope_of(x, [=](const Tensor& v) { return norm(v, p); });
  };
  CHECK(difference(gradient(2), array_of({2}, {0.6, -0.8})) == "");
  CHECK(difference(gradient(1), array_of({2}, {1, -1})) == "");
  CHECK(difference(gradient(infinity), array_of({2}, {0, -1})) == "");
  CHECK(difference(gradient(-infinity), array_of({2}, {1, 0})) == "");
  CHECK(difference(gradient(0), array_of({2}, {0, 0})) == "");
}

TEST_CASE("where a norm is 0, its gradient is 0", "[extra][reductions]") {
  const Tensor x = tensor_of({2, 2}, {0, 0, 3, 4});
  CHECK(difference(slope_of(x, [](const Tensor& v) { return norm(v, 2, 1); }),
                   array_of({2, 2}, {0, 0, 0.6, 0.8})) == "");
  CHECK(difference(normalize(x), array_of({2, 2}, {0, 0, 0.6, 0.8})) == "");
  CHECK(difference(normalize(x, 1, 0), array_of({2, 2}, {0, 0, 1, 1})) == "");
}

TEST_CASE("a norm does not overflow where its square does", "[extra][reductions]") {
  CHECK(close(norm(tensor_of({2}, {3e30, 4e30})).item() / 1e30, 5, 1e-6));
}

TEST_CASE("the errors of norm name the tensor", "[extra][reductions]") {
  const Tensor x = Tensor(zeros({0, 3})).set_name("x");
  CHECK(message_of([&] { norm(x, not_a_number); }) == "norm: p of x (0, 3) is NaN; give a number");
  CHECK(message_of([&] { norm(x, infinity, 0); }) == "norm: no elements to compare in x (0, 3)");
  CHECK(difference(norm(x, 2, 0), zeros({3})) == "");
}

TEST_CASE("the correction is subtracted from the number of elements", "[extra][reductions]") {
  const Tensor x = tensor_of({4}, {1, 2, 3, 6});  // mean 3, squared deviations 4, 1, 0, 9
  CHECK(close(var(x).item(), 14.0 / 3, 1e-6));
  CHECK(close(var(x, {}, 0).item(), 14.0 / 4, 1e-6));
  CHECK(close(var(x, {}, 2).item(), 14.0 / 2, 1e-6));
  CHECK(var(x, {}, 4).item() == infinity);
  CHECK(close(stddev(x, {}, 0).item(), std::sqrt(3.5), 1e-6));
  CHECK(std::isnan(var(tensor_of({1}, {2})).item()));
}

TEST_CASE("where a standard deviation is 0, its gradient is 0", "[extra][reductions]") {
  const Tensor x = tensor_of({2, 2}, {3, 3, 1, 3});
  CHECK(difference(slope_of(x, [](const Tensor& v) { return stddev(v, 1, 0); }),
                   array_of({2, 2}, {0, 0, -0.5, 0.5})) == "");
  CHECK(message_of([&] { stddev(x, 2); }) ==
        "stddev: axis 2 is out of range for x (2, 2); use -2 to 1");
}
