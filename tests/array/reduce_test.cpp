// reduce_test.cpp: sums, maxima, sum_to, expanded, permuted and add_to of arrays.

#include "array/reduce.hpp"

#include <cmath>

#include "catch.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;

}  // namespace

TEST_CASE("the sum of 20,000,000 ones is 20,000,000", "[array][reduce]") {
  const Array x = ones({20000000});
  CHECK(item(sum_over(x, {0}, false)) == 20000000);
  CHECK((sum_over(reshaped(x, {2, 10000000}), {1}, false) == filled({2}, 10000000)));
  CHECK((sum_over(reshaped(x, {10000000, 2}), {0}, false) == filled({2}, 10000000)));
  CHECK(sum_of_squares(x) == 20000000);
}

TEST_CASE("a million tenths sum to a hundred thousand", "[array][reduce]") {
  const Array x = filled({1000, 1000}, static_cast<Real>(0.1));
  CHECK(difference(sum_over(x, {0, 1}, false), scalar(100000), 1e-7) == "");
  CHECK(difference(sum_over(x, {0}, true), filled({1, 1000}, 100), 1e-7) == "");
}

TEST_CASE("a NaN at any position makes sum and max NaN", "[array][reduce]") {
  for (std::size_t i = 0; i < 40; ++i) {
    Array x = random_array({40}, 1);
    x.data()[i] = static_cast<Real>(not_a_number);
    CHECK(std::isnan(item(max_over(x, {0}, false))));
    CHECK(std::isnan(item(sum_over(x, {0}, false))));
    CHECK(std::isnan(item(max_over(reshaped(x, {8, 5}), {0, 1}, false))));
    CHECK_FALSE(all_finite(x));
  }
}

TEST_CASE("the maximum of no elements throws, the sum of none is 0", "[array][reduce]") {
  CHECK(message_of([] {
          max_over(zeros({2, 0}), {1}, false);
        }) == "max: no elements to compare in x (2, 0)");
  CHECK(max_over(zeros({2, 0}), {0}, false).size() == 0);
  CHECK((sum_over(zeros({2, 0}), {1}, false) == zeros({2})));
  CHECK((sum_over(zeros({0}), {0}, true) == zeros({1})));
}

TEST_CASE("sum_to sums over the repetitions of broadcasting", "[array][reduce]") {
  const Array dy = array_of({2, 3}, {1, 2, 3, 10, 20, 30});
  CHECK((sum_to(dy, {2, 3}) == dy));
  CHECK((sum_to(dy, {3}) == array_of({3}, {11, 22, 33})));
  CHECK((sum_to(dy, {2, 1}) == array_of({2, 1}, {6, 60})));
  CHECK((sum_to(dy, {1, 1}) == array_of({1, 1}, {66})));
  CHECK((sum_to(dy, {}) == scalar(66)));
  CHECK((sum_to(ones({4, 2, 3}), {2, 1}) == filled({2, 1}, 12)));
  CHECK((sum_to(zeros({0, 3}), {1, 3}) == zeros({1, 3})));
}

TEST_CASE("expanded repeats along broadcast axes", "[array][reduce]") {
  const Array column = array_of({2, 1}, {1, 2});
  CHECK((expanded(column, {2, 3}) == array_of({2, 3}, {1, 1, 1, 2, 2, 2})));
  CHECK((expanded(scalar(5), {2, 2}) == filled({2, 2}, 5)));
  CHECK((expanded(array_of({2}, {1, 2}), {3, 2}) == array_of({3, 2}, {1, 2, 1, 2, 1, 2})));
  CHECK(str(expanded(column, {2, 0}).shape()) == "(2, 0)");
}

TEST_CASE("axis k of permuted is axis order[k] of the input", "[array][reduce]") {
  const Array x = random_array({2, 3, 4}, 1), y = permuted(x, {1, 2, 0});
  REQUIRE(str(y.shape()) == "(3, 4, 2)");
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t k = 0; k < 4; ++k) CHECK(y(j, k, i) == x(i, j, k));
}

TEST_CASE("add_to adds every element in place", "[array][reduce]") {
  Array to = random_array({40, 1000}, 1);
  const Array before = to, part = random_array({40, 1000}, 2), expected = before + part;
  add_to(to, part);
  CHECK((to == expected));
}

TEST_CASE("all_finite is false for an infinity", "[array][reduce]") {
  CHECK(all_finite(array_of({2}, {1e30, -1e30})));
  CHECK(all_finite(zeros({0})));
  CHECK_FALSE(all_finite(array_of({2}, {0, infinity})));
  CHECK_FALSE(all_finite(array_of({2}, {-infinity, 0})));
}
