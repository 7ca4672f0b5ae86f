// comparison_test.cpp: comparison of tensors, maximum, minimum, and where with a number.

#include "heed/extra/comparison.hpp"

#include "catch.hpp"
#include "heed/ops/arithmetic.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;

Array numbers(const Mask& mask) { return Array(mask); }

}  // namespace

TEST_CASE("a comparison of tensors gives a mask of the broadcast shape", "[extra][comparison]") {
  const Tensor a = tensor_of({2, 1}, {1, 2}), b = tensor_of({3}, {1, 2, 3});
  CHECK(difference(numbers(a > b), array_of({2, 3}, {0, 0, 0, 1, 0, 0})) == "");
  CHECK(difference(numbers(a >= b), array_of({2, 3}, {1, 0, 0, 1, 1, 0})) == "");
  CHECK(difference(numbers(a < b), array_of({2, 3}, {0, 1, 1, 0, 0, 1})) == "");
  CHECK(difference(numbers(a <= b), array_of({2, 3}, {1, 1, 1, 0, 1, 1})) == "");
  CHECK(difference(numbers(a == b), array_of({2, 3}, {1, 0, 0, 0, 1, 0})) == "");
  CHECK(difference(numbers(a != b), array_of({2, 3}, {0, 1, 1, 1, 0, 1})) == "");
}

TEST_CASE("a number can stand on either side of a comparison", "[extra][comparison]") {
  const Tensor x = tensor_of({3}, {-1, 0, 1});
  CHECK(difference(numbers(x > 0), array_of({3}, {0, 0, 1})) == "");
  CHECK(difference(numbers(0 > x), array_of({3}, {1, 0, 0})) == "");
  CHECK(difference(numbers(x >= 0), array_of({3}, {0, 1, 1})) == "");
  CHECK(difference(numbers(0 >= x), array_of({3}, {1, 1, 0})) == "");
  CHECK(difference(numbers(x < 0), array_of({3}, {1, 0, 0})) == "");
  CHECK(difference(numbers(0 < x), array_of({3}, {0, 0, 1})) == "");
  CHECK(difference(numbers(x <= 0), array_of({3}, {1, 1, 0})) == "");
  CHECK(difference(numbers(0 <= x), array_of({3}, {0, 1, 1})) == "");
  CHECK(difference(numbers(x == 0), array_of({3}, {0, 1, 0})) == "");
  CHECK(difference(numbers(0 != x), array_of({3}, {1, 0, 1})) == "");
  CHECK(difference(numbers(0 == x), numbers(x == 0)) == "");
  CHECK(difference(numbers(x != 0), numbers(0 != x)) == "");
}

TEST_CASE("a NaN is unequal to every number", "[extra][comparison]") {
  const Tensor x = tensor_of({1}, {not_a_number});
  for (const Mask& mask : {x > x, x >= x, x < x, x <= x, x == x}) CHECK_FALSE(mask(0));
  CHECK((x != x)(0));
  CHECK((x != 0)(0));
}

TEST_CASE("a number is compared as Real", "[extra][comparison]") {
  CHECK((tensor_of({}, {0.1}) == 0.1)());
}

TEST_CASE("the larger of two numbers gets the gradient, equal ones half of it each",
          "[extra][comparison]") {
  const Tensor a = tensor_of({3}, {1, 2, 3}), b = tensor_of({3}, {3, 2, 1});
  const Tensor high = maximum(a, b), low = minimum(a, b);
  CHECK(difference(high, array_of({3}, {3, 2, 3})) == "");
  CHECK(difference(low, array_of({3}, {1, 2, 1})) == "");
  backward(high, array_of({3}, {1, 10, 100}));
  CHECK(difference(a.grad(), array_of({3}, {0, 5, 100})) == "");
  CHECK(difference(b.grad(), array_of({3}, {1, 5, 0})) == "");
  a.clear_grad(), b.clear_grad();
  backward(low, array_of({3}, {1, 10, 100}));
  CHECK(difference(a.grad(), array_of({3}, {1, 5, 0})) == "");
  CHECK(difference(b.grad(), array_of({3}, {0, 5, 100})) == "");
}

TEST_CASE("a NaN on either side is the maximum and the minimum", "[extra][comparison]") {
  const Tensor a = tensor_of({2}, {not_a_number, 1}), b = tensor_of({2}, {1, not_a_number});
  CHECK(difference(maximum(a, b), filled({2}, Real(not_a_number))) == "");
  CHECK(difference(minimum(a, b), filled({2}, Real(not_a_number))) == "");
}

TEST_CASE("where takes a number in either place", "[extra][comparison]") {
  const Tensor x = tensor_of({2, 2}, {1, -2, 3, -4});
  const Tensor y = where(x > 0, x, 0);
  CHECK(difference(y, array_of({2, 2}, {1, 0, 3, 0})) == "");
  backward(y, array_of({2, 2}, {1, 2, 3, 4}));
  CHECK(difference(x.grad(), array_of({2, 2}, {1, 0, 3, 0})) == "");
  CHECK(difference(where(mask_of({2}, {1, 0}), -1.5, x), array_of({2, 2}, {-1.5, -2, -1.5, -4})) ==
        "");
  CHECK(difference(where(x < 0, 0, x), y.value()) == "");
}

TEST_CASE("the errors of comparisons name the operation and both shapes", "[extra][comparison]") {
  const Tensor a = Tensor(ones({2, 3})).set_name("a"), b = Tensor(ones({4})).set_name("bias");
  const std::string shapes = ": shapes do not broadcast: a (2, 3), bias (4)";
  CHECK(message_of([&] { gt(a, b); }) == "gt" + shapes);
  CHECK(message_of([&] { ge(a, b); }) == "ge" + shapes);
  CHECK(message_of([&] { static_cast<void>(a < b); }) == "lt" + shapes);
  CHECK(message_of([&] { le(a, b); }) == "le" + shapes);
  CHECK(message_of([&] { eq(a, b); }) == "eq" + shapes);
  CHECK(message_of([&] { ne(a, b); }) == "ne" + shapes);
  CHECK(message_of([&] { maximum(a, b); }) == "maximum" + shapes);
  CHECK(message_of([&] { minimum(a, b); }) == "minimum" + shapes);
  CHECK(message_of([&] { where(mask({4}), a, 0); }) ==
        "where: shapes do not broadcast: condition (4), a (2, 3), b ()");
}
