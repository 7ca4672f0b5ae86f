// strided_test.cpp: strides, strided views, 1-D slices along an axis (Lines), map and
// map_broadcast.

#include "heed/array/strided.hpp"

#include "array/lines.hpp"
#include "catch.hpp"
#include "heed/array/map.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;

}  // namespace

TEST_CASE("row-major and broadcast strides", "[array][strided]") {
  CHECK(row_major_strides({2, 3, 4}) == Strides{12, 4, 1});
  CHECK(row_major_strides({}) == Strides{});
  CHECK(broadcast_strides({3, 1}, {2, 3, 4}) == Strides{0, 1, 0});
  CHECK(broadcast_strides({}, {2, 3}) == Strides{0, 0});
}

TEST_CASE("StridedLoop merges axes where all strides allow it", "[array][strided]") {
  const StridedLoop<2> even({2, 3, 4},
                            {row_major_strides({2, 3, 4}), row_major_strides({2, 3, 4})});
  CHECK(even.rows() == 1);
  CHECK(even.row_size() == 24);
  const StridedLoop<2> row({2, 3, 4}, {row_major_strides({2, 3, 4}), Strides{0, 0, 1}});
  CHECK(row.rows() == 6);
  CHECK(row.row_size() == 4);
  const StridedLoop<1> single({}, {Strides{}});
  CHECK(single.rows() == 1);
  CHECK(single.row_size() == 1);
  CHECK(StridedLoop<1>({2, 0}, {Strides{0, 1}}).rows() == 0);
  CHECK(StridedLoop<1>({0, 2}, {Strides{5, 1}}).rows() == 0);
}

TEST_CASE("read_view and add_to_view use the elements of the view", "[array][strided]") {
  Array x = array_of({2, 3}, {1, 2, 3, 4, 5, 6});
  const StridedView corners{{2, 2}, {3, 2}, 0};
  CHECK((read_view(x, corners) == array_of({2, 2}, {1, 3, 4, 6})));
  const StridedView backwards{{3}, {-1}, 5};
  CHECK((read_view(x, backwards) == array_of({3}, {6, 5, 4})));
  add_to_view(x, corners, array_of({2, 2}, {10, 20, 30, 40}));
  CHECK((x == array_of({2, 3}, {11, 2, 23, 34, 5, 46})));
}

TEST_CASE("Lines gives the layout of the 1-D slices along an axis", "[array][lines]") {
  const Lines middle({2, 3, 4}, 1);
  CHECK(middle.count == 8);
  CHECK(middle.size == 3);
  CHECK(middle.inner == 4);
  CHECK(middle.start(0) == 0);
  CHECK(middle.start(3) == 3);
  CHECK(middle.start(4) == 12);
  const Lines single({}, 0);
  CHECK(single.count == 1);
  CHECK(single.size == 1);
}

TEST_CASE("map_lines applies the formula to the slices along any axis", "[array][lines]") {
  const auto cumulative_sum = [](Real* y, std::size_t n, const Real* x) {
    Real sum = 0;
    for (std::size_t i = 0; i < n; ++i) y[i] = sum += x[i];
  };
  const Array x = array_of({2, 3}, {1, 2, 3, 10, 20, 30});
  CHECK((map_lines(cumulative_sum, 1, x) == array_of({2, 3}, {1, 3, 6, 10, 30, 60})));
  CHECK((map_lines(cumulative_sum, 0, x) == array_of({2, 3}, {1, 2, 3, 11, 22, 33})));
}

TEST_CASE(
    "sum, maximum and dot product of a slice; max_of ignores NaN and gives -inf for no elements",
    "[array][lines]") {
  const Array x = array_of({4}, {1, not_a_number, 5, 2});
  CHECK(max_of(x.data(), 4) == 5);
  CHECK(max_of(x.data(), 0) == static_cast<Real>(-infinity));
  CHECK(sum_of(x.data() + 2, 2) == 7);
  CHECK(dot_of(x.data() + 2, x.data() + 2, 2) == 29);
}

TEST_CASE("map computes every element, also in an incomplete register", "[array][map]") {
  for (std::size_t n = 0; n < 70; ++n) {
    const Array x = random_array({n}, n), expected = x * x;
    CHECK((map([](auto v) { return v * v; }, x) == expected));
  }
}

TEST_CASE("map_broadcast broadcasts either argument", "[array][map]") {
  const auto minus = [](Real a, Real b) { return a - b; };
  const Array row = array_of({3}, {1, 2, 3}), column = array_of({2, 1}, {10, 20});
  CHECK(
      (map_broadcast(minus, row, column, {2, 3}) == array_of({2, 3}, {-9, -8, -7, -19, -18, -17})));
  CHECK((map_broadcast(minus, column, row, {2, 3}) == array_of({2, 3}, {9, 8, 7, 19, 18, 17})));
  CHECK((map_broadcast(minus, scalar(1), scalar(3), {}) == scalar(-2)));
}
