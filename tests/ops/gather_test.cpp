// gather_test.cpp: topk and gather by hand, their gradients and their errors.

#include "catch.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/reduce.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;

const Array table = array_of({2, 3}, {10, 11, 12, 20, 21, 22});

}  // namespace

TEST_CASE("gather takes elements by their index along an axis", "[ops][gather]") {
  const Tensor x(table);
  CHECK(difference(gather(x, 1, indices_of({2, 2}, {2, 0, 1, 1})),
                   array_of({2, 2}, {12, 10, 21, 21})) == "");
  CHECK(difference(gather(x, 0, indices_of({1, 3}, {1, 0, 1})), array_of({1, 3}, {20, 11, 22})) ==
        "");
  CHECK(difference(gather(x, -1, indices_of({2, 1}, {0, 2})), array_of({2, 1}, {10, 22})) == "");
  CHECK(gather(x, 1, indices({2, 0})).shape() == Shape({2, 0}));
}

TEST_CASE("the gradients of all uses of an element are added by gather", "[ops][gather]") {
  const Tensor x(table, true);
  backward(gather(x, 1, indices_of({2, 3}, {0, 0, 2, 1, 1, 1})),
           array_of({2, 3}, {1, 2, 3, 4, 5, 6}));
  CHECK(difference(x.grad(), array_of({2, 3}, {3, 0, 3, 0, 15, 0})) == "");
}

TEST_CASE("gather rejects wrong shapes and indices, and names them", "[ops][gather]") {
  const Tensor x = Tensor(table).set_name("table");
  CHECK(message_of([&] { gather(x, 1, indices({2})); }) ==
        "gather: the indices (2) need as many axes as table (2, 3), at least one");
  CHECK(message_of([&] {
          gather(x, 1, indices({1, 2}));
        }) ==
        "gather: the indices (1, 2) and table (2, 3) must have equal sizes, except along axis 1");
  for (const std::int64_t index : {std::int64_t{3}, std::int64_t{-1}})
    CHECK(message_of([&] {
            gather(x, 1, indices({2, 1}, index));
          }) == "gather: index " + std::to_string(index) +
                    " is out of range for axis 1 of table (2, 3); use 0 to 2");
  CHECK(message_of([&] {
          gather(x, 2, indices({2, 1}));
        }) == "gather: axis 2 is out of range for table (2, 3); use -2 to 1");
  CHECK(message_of([&] { gather(Tensor(scalar(1)), 0, indices({})); }) ==
        "gather: the indices () need as many axes as x (), at least one");
}

TEST_CASE("topk sorts the largest elements and gives their indices", "[ops][topk]") {
  const Tensor x = tensor_of({2, 4}, {1, 4, 2, 3, -1, -4, 0, -3});
  const TopK two = topk(x, 2);
  CHECK(difference(two.values, array_of({2, 2}, {4, 3, 0, -1})) == "");
  CHECK(two.indices == indices_of({2, 2}, {1, 3, 2, 0}));
  const TopK first = topk(x, 1, 0);
  CHECK(difference(first.values, array_of({1, 4}, {1, 4, 2, 3})) == "");
  CHECK(first.indices == indices_of({1, 4}, {0, 0, 0, 0}));
  CHECK(topk(x, 0).values.shape() == Shape({2, 0}));
  CHECK(topk(x, 0).indices.size() == 0);
}

TEST_CASE("of equal elements topk takes the first, and NaN is the largest number", "[ops][topk]") {
  const Tensor x = tensor_of({6}, {2, not_a_number, 2, infinity, 2, not_a_number});
  const TopK all = topk(x, 6);
  CHECK(all.indices == indices_of({6}, {1, 5, 3, 0, 2, 4}));
  CHECK(difference(all.values, array_of({6}, {not_a_number, not_a_number, infinity, 2, 2, 2})) ==
        "");
}

TEST_CASE("the gradient of topk is 0 for all other elements", "[ops][topk]") {
  const Tensor x = tensor_of({2, 3}, {1, 3, 2, 6, 4, 5});
  backward(topk(x, 2).values, array_of({2, 2}, {1, 2, 3, 4}));
  CHECK(difference(x.grad(), array_of({2, 3}, {0, 1, 2, 3, 0, 4})) == "");
}

TEST_CASE("the first element of topk is max, and its index argmax", "[ops][topk]") {
  const Array values = random_array({3, 4, 5}, 8);
  for (int axis = -3; axis < 3; ++axis) {
    const Tensor x(values);
    const TopK top = topk(x, 1, axis);
    CHECK(difference(top.values, max(x, axis, true).value(), 0) == "");
    Indices at = argmax(x, axis);
    at.reshape(top.indices.shape());
    CHECK(top.indices == at);
  }
}

TEST_CASE("topk rejects a k above the size, and a scalar", "[ops][topk]") {
  CHECK(message_of([] { topk(Tensor(table), 4); }) ==
        "topk: k = 4 must be from 0 to the size of axis -1 of x (2, 3)");
  CHECK(message_of([] { topk(Tensor(table), 3, 0); }) ==
        "topk: k = 3 must be from 0 to the size of axis 0 of x (2, 3)");
  CHECK(message_of([] { topk(Tensor(scalar(1)), 1, 0); }) ==
        "topk: x () has no axis; give a tensor with one");
}
