// array_test.cpp: constructors of arrays, item, is_defined and future_mask.

#include "heed/array/array.hpp"

#include "catch.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;

}  // namespace

TEST_CASE("zeros, ones and filled set every element", "[array]") {
  CHECK((zeros({2, 3}) == array_of({2, 3}, {0, 0, 0, 0, 0, 0})));
  CHECK((ones({2}) == array_of({2}, {1, 1})));
  CHECK((filled({1, 2}, -3) == array_of({1, 2}, {-3, -3})));
  CHECK(uninitialized({4, 0, 2}).size() == 0);
  CHECK(str(uninitialized({4, 0, 2}).shape()) == "(4, 0, 2)");
}

TEST_CASE("a scalar has rank 0 and one element", "[array]") {
  CHECK(scalar(7).dimension() == 0);
  CHECK(scalar(7).size() == 1);
  CHECK(item(scalar(7)) == 7);
  CHECK(item(filled({1, 1}, 3)) == 3);
}

TEST_CASE("item throws unless the array has exactly one element", "[array]") {
  CHECK(message_of([] {
          item(zeros({2, 3}));
        }) == "item: needs exactly one element, got shape (2, 3)");
  CHECK(message_of([] { item(zeros({0})); }) == "item: needs exactly one element, got shape (0)");
}

TEST_CASE("is_defined is false only for undefined_array", "[array]") {
  CHECK_FALSE(is_defined(undefined_array()));
  CHECK(is_defined(scalar(0)));
  CHECK(is_defined(zeros({2, 0})));
  CHECK(is_defined(zeros({1})));
}

TEST_CASE("future_mask is true above the diagonal", "[array]") {
  CHECK((future_mask(3) == mask_of({3, 3}, {0, 1, 1, 0, 0, 1, 0, 0, 0})));
  CHECK(future_mask(0).size() == 0);
}

TEST_CASE("throw_error concatenates its arguments", "[array]") {
  CHECK(message_of([] {
          throw_error("axis ", 3, " of ", str({2, 0}), '!');
        }) == "axis 3 of (2, 0)!");
}

TEST_CASE("array2d makes a matrix from rows, also a column and an empty one", "[array]") {
  CHECK((array2d({{1, 2, 3}, {4, 5, 6}}) == array_of({2, 3}, {1, 2, 3, 4, 5, 6})));
  CHECK((array2d({{1}, {2}}) == array_of({2, 1}, {1, 2})));
  CHECK(shape_of(array2d({})) == Shape({0, 0}));
  CHECK(shape_of(array2d({{}, {}})) == Shape({2, 0}));
  CHECK(message_of([] {
          array2d({{1, 2}, {3}});
        }) == "array2d: rows of 2 and of 1 numbers; all rows need the same length");
}

TEST_CASE("column makes a matrix of one column", "[array]") {
  CHECK((column({1, 2, 3}) == array_of({3, 1}, {1, 2, 3})));
  CHECK(shape_of(column({})) == Shape({0, 1}));
}

TEST_CASE("indices and mask have a shape and one value", "[array]") {
  CHECK((indices({2, 3}, 7) == indices_of({2, 3}, {7, 7, 7, 7, 7, 7})));
  CHECK((indices({2}) == indices_of({2}, {0, 0})));
  CHECK((mask({2}, true) == mask_of({2}, {1, 1})));
  CHECK((mask({1, 2}) == mask_of({1, 2}, {0, 0})));
  CHECK(indices({}).dimension() == 0);
  CHECK(indices({0, 2}).size() == 0);
}
