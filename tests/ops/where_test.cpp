// where_test.cpp: where chooses elements of two tensors by a mask.

#include "catch.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/mask.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;

}  // namespace

TEST_CASE("where takes a where the condition is true, else b", "[ops][where]") {
  const Tensor a = tensor_of({2, 2}, {1, 2, 3, 4}), b = tensor_of({2, 2}, {5, 6, 7, 8});
  const Tensor y = where(mask_of({2, 2}, {1, 0, 0, 1}), a, b);
  CHECK(difference(y, array_of({2, 2}, {1, 6, 7, 4})) == "");
  backward(y, array_of({2, 2}, {10, 20, 30, 40}));
  CHECK(difference(a.grad(), array_of({2, 2}, {10, 0, 0, 40})) == "");
  CHECK(difference(b.grad(), array_of({2, 2}, {0, 20, 30, 0})) == "");
}

TEST_CASE("condition, a and b of where broadcast to one shape", "[ops][where]") {
  const Tensor a = tensor_of({2, 1}, {1, 2}), b = tensor_of({}, {9});
  const Tensor y = where(mask_of({3}, {1, 0, 1}), a, b);
  CHECK(difference(y, array_of({2, 3}, {1, 9, 1, 2, 9, 2})) == "");
  backward(y, array_of({2, 3}, {1, 2, 3, 4, 5, 6}));
  CHECK(difference(a.grad(), array_of({2, 1}, {4, 10})) == "");
  CHECK(difference(b.grad(), array_of({}, {7})) == "");
}

TEST_CASE("a NaN that where does not choose changes neither values nor gradients", "[ops][where]") {
  const Tensor a = tensor_of({2}, {1, not_a_number}), b = tensor_of({2}, {infinity, 2});
  const Tensor y = where(mask_of({2}, {1, 0}), a, b);
  CHECK(difference(y, array_of({2}, {1, 2})) == "");
  backward(y, array_of({2}, {3, 4}));
  CHECK(difference(a.grad(), array_of({2}, {3, 0})) == "");
  CHECK(difference(b.grad(), array_of({2}, {0, 4})) == "");
}

TEST_CASE("the condition of where may be a comparison of arrays", "[ops][where]") {
  const Tensor x = tensor_of({3}, {1, -2, 3});
  const Tensor y = where(x.value() > 0, x, x * 2);
  CHECK(difference(y, array_of({3}, {1, -4, 3})) == "");
  backward(y, ones({3}));
  CHECK(difference(x.grad(), array_of({3}, {1, 2, 1})) == "");
}

TEST_CASE("the error of where contains all three shapes", "[ops][where]") {
  const Tensor a = Tensor(ones({2, 3})).set_name("new"), b(ones({3}));
  CHECK(message_of([&] { where(mask({2}), a, b); }) ==
        "where: shapes do not broadcast: condition (2), new (2, 3), b (3)");
  CHECK(message_of([&] {
          where(mask({2, 3}), a, Tensor(ones({4})));
        }) == "where: shapes do not broadcast: condition (2, 3), new (2, 3), b (4)");
}
