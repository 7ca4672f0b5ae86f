// micrograd_test.cpp: the published cases of micrograd (README.md of this folder).
//
// Formulas and numbers are those of test/test_engine.py and README.md of karpathy/micrograd,
// c911406, MIT. There is no data file.

#include "catch.hpp"
#include "heed/heed.hpp"
#include "near.hpp"

using namespace heed;
using heed::test::close;
using heed::test::tensor_of;

TEST_CASE("the first expression of micrograd's tests has PyTorch's value and gradient",
          "[foreign][micrograd]") {
  const Tensor x = tensor_of({1}, {-4});
  const Tensor z = 2 * x + 2 + x;
  const Tensor q = relu(z) + z * x;
  const Tensor y = relu(z * z) + q + q * x;
  y.backward();
  CHECK(y.item() == Real(-20));
  CHECK(x.grad()(0) == Real(46));
}

TEST_CASE("the example of micrograd's README has the published value and gradients",
          "[foreign][micrograd]") {
  const Tensor a = tensor_of({1}, {-4}), b = tensor_of({1}, {2});
  Tensor c = a + b, d = a * b + power(b, 3);
  c = c + c + 1;
  c = c + 1 + c - a;
  d = d + d * 2 + relu(b + a);
  d = d + 3 * d + relu(b - a);
  const Tensor f = power(c - d, 2), g = f / 2 + 10 / f;
  g.backward();
  CHECK(close(static_cast<double>(g.item()), 24.7041, 2.5e-6));
  CHECK(close(static_cast<double>(a.grad()(0)), 138.8338, 2.5e-6));
  CHECK(close(static_cast<double>(b.grad()(0)), 645.5773, 2.5e-6));
}
