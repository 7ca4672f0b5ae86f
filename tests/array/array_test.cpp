// array_test.cpp: constructors of arrays, item, is_defined and causal_mask.

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

TEST_CASE("causal_mask is true above the diagonal", "[array]") {
  CHECK((causal_mask(3) == mask_of({3, 3}, {0, 1, 1, 0, 0, 1, 0, 0, 0})));
  CHECK(causal_mask(0).size() == 0);
}

TEST_CASE("throw_error concatenates its arguments", "[array]") {
  CHECK(message_of([] {
          throw_error("axis ", 3, " of ", str({2, 0}), '!');
        }) == "axis 3 of (2, 0)!");
}
