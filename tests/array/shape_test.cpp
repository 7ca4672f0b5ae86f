// shape_test.cpp: shapes as text, checks of axes, reduced shapes and broadcasting.

#include "heed/array/shape.hpp"

#include <type_traits>

#include "catch.hpp"
#include "heed/ops/reduce.hpp"
#include "heed/ops/shape.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;

}  // namespace

TEST_CASE("str writes shapes as in Python, but without a trailing comma", "[array][shape]") {
  CHECK(str({4, 8, 64}) == "(4, 8, 64)");
  CHECK(str({3}) == "(3)");
  CHECK(str(Shape{}) == "()");
}

TEST_CASE("the number of elements is the product of the sizes", "[array][shape]") {
  CHECK(numel({2, 3, 4}) == 24);
  CHECK(numel({2, 0, 4}) == 0);
  CHECK(numel({}) == 1);
}

TEST_CASE("negative axes count from the end", "[array][shape]") {
  CHECK(checked_axis("f", Shape{2, 3, 4}, 0) == 0);
  CHECK(checked_axis("f", Shape{2, 3, 4}, -1) == 2);
  CHECK(checked_axis("f", Shape{2, 3, 4}, -3) == 0);
  CHECK(checked_axis("f", Shape{}, 0) == 0);  // rank 0 has the axes 0 and -1
  CHECK(checked_axis("f", Shape{}, -1) == 0);
}

TEST_CASE("an axis out of range throws an error that gives the range", "[array][shape]") {
  CHECK(message_of([] {
          checked_axis("softmax", Shape{2, 3}, 2);
        }) == "softmax: axis 2 is out of range for x (2, 3); use -2 to 1");
  CHECK(message_of([] {
          checked_axis("softmax", Shape{2, 3}, -3, "scores");
        }) == "softmax: axis -3 is out of range for scores (2, 3); use -2 to 1");
  CHECK(message_of([] { checked_axis("softmax", Shape{}, 1); }) ==
        "softmax: axis 1 is out of range for x (); use -1 to 0");
}

TEST_CASE("checked_axes sorts axes; an empty list means all", "[array][shape]") {
  CHECK(checked_axes("f", Shape{2, 3, 4}, {-1, 0}) == Axes{0, 2});
  CHECK(checked_axes("f", Shape{2, 3, 4}, {}) == Axes{0, 1, 2});
  CHECK(checked_axes("f", Shape{}, {}) == Axes{});
  CHECK(checked_axes("f", Shape{}, {-1}) == Axes{});
  CHECK(message_of([] {
          checked_axes("sum", Shape{2, 3}, {1, -1});
        }) == "sum: axis 1 is given twice for x (2, 3)");
  CHECK(message_of([] {
          checked_axes("sum", Shape{2, 3}, {0, 5}, "w");
        }) == "sum: axis 5 is out of range for w (2, 3); use -2 to 1");
}

TEST_CASE("reduced_shape sets axes to 1 or removes them", "[array][shape]") {
  CHECK(str(reduced_shape({2, 3, 4}, {0, 2}, true)) == "(1, 3, 1)");
  CHECK(str(reduced_shape({2, 3, 4}, {0, 2}, false)) == "(3)");
  CHECK(str(reduced_shape({2, 3}, {}, false)) == "(2, 3)");
}

TEST_CASE("broadcasting aligns at the right, sizes equal or 1", "[array][shape]") {
  CHECK(str(broadcast("f", {2, 3}, {3})) == "(2, 3)");
  CHECK(str(broadcast("f", {2, 1}, {1, 3})) == "(2, 3)");
  CHECK(str(broadcast("f", {}, {4})) == "(4)");
  CHECK(str(broadcast("f", {5, 1, 4}, {3, 1})) == "(5, 3, 4)");
  CHECK(str(broadcast("f", {1}, {0})) == "(0)");
  CHECK(str(broadcast("f", {0, 3}, {1, 1})) == "(0, 3)");
  CHECK(str(broadcast("f", {}, {})) == "()");
}

TEST_CASE("shapes that do not broadcast throw an error with both names", "[array][shape]") {
  CHECK(message_of([] {
          broadcast("add", {2, 3}, {4});
        }) == "add: shapes do not broadcast: a (2, 3), b (4)");
  CHECK(message_of([] { broadcast("add", {2}, {0}, "x", "bias"); }) ==
        "add: shapes do not broadcast: x (2), bias (0)");
  CHECK(message_of([] {
          broadcast("add", {2, 3, 4}, {3, 3, 4});
        }) == "add: shapes do not broadcast: a (2, 3, 4), b (3, 3, 4)");
}

TEST_CASE("broadcasts_to allows only sizes of 1 to change", "[array][shape]") {
  CHECK(broadcasts_to({3}, {2, 3}));
  CHECK(broadcasts_to({2, 1}, {2, 3}));
  CHECK(broadcasts_to({}, {2, 3}));
  CHECK(broadcasts_to({1}, {0}));
  CHECK_FALSE(broadcasts_to({2, 3}, {3}));
  CHECK_FALSE(broadcasts_to({2, 3}, {2, 1}));
  CHECK_FALSE(broadcasts_to({1, 3}, {3}));
}

TEST_CASE("a SizeList takes sizes of mixed integer types, and shapes", "[array][shape]") {
  const std::size_t B = 2;
  const int T = 3;
  const unsigned short C = 4;
  CHECK((SizeList{B, T, C, -1} == std::vector<std::int64_t>{2, 3, 4, -1}));
  CHECK((SizeList(Shape{5, 6}) == std::vector<std::int64_t>{5, 6}));
  CHECK((SizeList(std::vector<int>{1, -1}) == std::vector<std::int64_t>{1, -1}));
  CHECK(SizeList().empty());
  CHECK(SizeList{}.empty());
  const Tensor x(ones({2, 12}));
  CHECK(reshape(x, {B, T, C}).shape() == Shape({2, 3, 4}));
  CHECK(reshape(x, {-1, C}).shape() == Shape({6, 4}));
  CHECK(reshape(x, Tensor(ones({4, 6})).shape()).shape() == Shape({4, 6}));
  CHECK(reshape(Tensor(ones({1, 1})), {}).shape() == Shape({}));
}

TEST_CASE("an AxisList is one axis or several", "[array][shape]") {
  const Tensor x(ones({2, 3, 4}));
  CHECK(sum(x, 1).shape() == Shape({2, 4}));
  CHECK(sum(x, -1, true).shape() == Shape({2, 3, 1}));
  CHECK(sum(x, {0, -1}).shape() == Shape({3}));
  CHECK(sum(x, {1}).shape() == Shape({2, 4}));
  CHECK(sum(x).shape() == Shape({}));
  CHECK(sum(x, {}, true).shape() == Shape({1, 1, 1}));
  CHECK(sum(x, std::vector<int>{0, 1}).shape() == Shape({4}));
  CHECK((AxisList(2) == std::vector<int>{2}));
  CHECK_FALSE(std::is_constructible_v<AxisList, bool>);  // sum(x, true) does not compile
}

TEST_CASE("a shape whose number of elements overflows is rejected", "[array][shape]") {
  const std::size_t large = std::size_t{1} << 33, half = std::size_t{1} << 31;
  const std::string rest = " is too large: it has 2^59 elements or more; give smaller sizes";
  CHECK_THROWS_WITH(zeros({large, half}), "shape (8589934592, 2147483648)" + rest);
  CHECK_THROWS_WITH(ones({half, 0, large}), "shape (2147483648, 0, 8589934592)" + rest);
  CHECK_THROWS_WITH(indices({large, large}), "shape (8589934592, 8589934592)" + rest);
  CHECK_THROWS_WITH(mask({large, half}), "shape (8589934592, 2147483648)" + rest);
  CHECK(message_of([&] {
          Generator(1).randn({large, half});
        }) == "shape (8589934592, 2147483648)" + rest);
  CHECK_THROWS_AS(Generator(1).randint(0, 2, {large, half}), Error);
  CHECK(numel({half, 0, half / 16}) == 0);
  CHECK(numel({half, half / 16 - 1}) == half * (half / 16 - 1));
  CHECK_THROWS_AS(numel({half, half / 8}), Error);
}
