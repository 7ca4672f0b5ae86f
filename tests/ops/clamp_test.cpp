// clamp_test.cpp: clamp, and arithmetic of a tensor and a constant array.

#include "catch.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/reduce.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;

}  // namespace

TEST_CASE("clamp limits every element; the gradient is 0 outside the limits", "[ops][clamp]") {
  const Tensor x = tensor_of({6}, {-2, -1, 0.5, 1, 2, 1000});
  const Tensor y = clamp(x, -1, 1);
  CHECK(difference(y, array_of({6}, {-1, -1, 0.5, 1, 1, 1})) == "");
  backward(y, array_of({6}, {1, 2, 3, 4, 5, 6}));
  CHECK(difference(x.grad(), array_of({6}, {0, 2, 3, 4, 0, 0})) == "");
}

TEST_CASE("an infinite limit of clamp is no limit", "[ops][clamp]") {
  const Tensor x = tensor_of({4}, {-infinity, -3, 3, infinity});
  CHECK(difference(clamp(x, -infinity, 1), array_of({4}, {-infinity, -3, 1, 1})) == "");
  CHECK(difference(clamp(x, -1, infinity), array_of({4}, {-1, -1, 3, infinity})) == "");
  CHECK(difference(clamp(x, -infinity, infinity), x.value()) == "");
}

TEST_CASE("NaN stays NaN in clamp, with gradient 0", "[ops][clamp]") {
  const Tensor x = tensor_of({2}, {not_a_number, 0});
  const Tensor y = clamp(x, -1, 1);
  CHECK(difference(y, array_of({2}, {not_a_number, 0})) == "");
  backward(y, ones({2}));
  CHECK(difference(x.grad(), array_of({2}, {0, 1})) == "");
}

TEST_CASE("if low is above high, clamp makes all elements high, with gradient 0", "[ops][clamp]") {
  const Tensor x = tensor_of({4}, {-3, -1, 1, 3});
  const Tensor y = clamp(x, 2, -2);
  CHECK(difference(y, filled({4}, -2)) == "");
  backward(y, ones({4}));
  CHECK(difference(x.grad(), zeros({4})) == "");
}

TEST_CASE("an array in arithmetic is a constant that broadcasts", "[ops][arithmetic]") {
  const Array c = array_of({2, 1}, {2, 4}), v = array_of({3}, {1, 2, 8});
  const Tensor x(v, true), constant(c);
  CHECK(difference(x + c, (x + constant).value(), 0) == "");
  CHECK(difference(x - c, (x - constant).value(), 0) == "");
  CHECK(difference(x * c, (x * constant).value(), 0) == "");
  CHECK(difference(x / c, (x / constant).value(), 0) == "");
  CHECK(difference(c + x, (constant + x).value(), 0) == "");
  CHECK(difference(c - x, (constant - x).value(), 0) == "");
  CHECK(difference(c * x, (constant * x).value(), 0) == "");
  CHECK(difference(c / x, (constant / x).value(), 0) == "");
  sum(c * x).backward();
  CHECK(difference(x.grad(), array_of({3}, {6, 6, 6})) == "");
}

TEST_CASE(
    "arithmetic accepts temporary and changeable tensors and arrays, and expressions of "
    "arrays",
    "[ops][arithmetic]") {
  Array c = array_of({2}, {2, 4});
  Tensor x = tensor_of({2}, {1, 3});
  const Array sum_of_both = array_of({2}, {3, 7});
  CHECK(difference(x + c, sum_of_both) == "");
  CHECK(difference(c + x, sum_of_both) == "");
  CHECK(difference(x + array_of({2}, {2, 4}), sum_of_both) == "");
  CHECK(difference(Tensor(array_of({2}, {1, 3})) + c, sum_of_both) == "");
  CHECK(difference(x + 0.5f * (c + c), sum_of_both) == "");
  CHECK(difference(xt::exp(0 * c) * x, x.value()) == "");
  const Array doubled = c + c;  // xtensor's
  CHECK(difference(doubled, array_of({2}, {4, 8})) == "");
  CHECK((x + c).requires_grad());
  const int line = __LINE__ + 1;
  const Tensor y = c * x;
  CHECK(y.location().line == line);
}

TEST_CASE("changing the array after arithmetic does not change the gradient", "[ops][arithmetic]") {
  Array c = array_of({2}, {3, 5});
  const Tensor x(ones({2}), true);
  const Tensor y = sum(x * c);
  c.fill(0);
  y.backward();
  CHECK(difference(x.grad(), array_of({2}, {3, 5})) == "");
}

TEST_CASE("the error of an array that does not broadcast names its shape", "[ops][arithmetic]") {
  const Tensor x(ones({2, 3}));
  CHECK(message_of([&] { x + ones({2}); }) == "add: shapes do not broadcast: a (2, 3), b (2)");
  CHECK(message_of([&] { ones({2}) / x; }) == "divide: shapes do not broadcast: a (2), b (2, 3)");
}
