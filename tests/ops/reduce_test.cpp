// reduce_test.cpp: sum, mean, max, variance and argmax by hand and over every set of axes.

#include "heed/ops/reduce.hpp"

#include <cmath>
#include <limits>

#include "catch.hpp"
#include "heed/ops/arithmetic.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;
using X = const std::vector<Tensor>&;

constexpr double inf = infinity, NaN = not_a_number;
const Array elements = array_of({2, 3}, {1, 2, 3, 4, 5, 9});

Array of_mean(const AxisList& axes) { return mean(Tensor(elements), axes).value(); }

std::vector<std::int64_t> numbers(const Indices& x) { return {x.begin(), x.end()}; }

// All sets of axes of a rank, including the empty set (which means all axes).
std::vector<AxisList> axis_sets(int rank) {
  std::vector<AxisList> sets;
  for (int bits = 0; bits < (1 << rank); ++bits) {
    AxisList axes;
    for (int axis = 0; axis < rank; ++axis)
      if (bits >> axis & 1) axes.push_back(axis % 2 == 0 ? axis : axis - rank);
    sets.push_back(axes);
  }
  return sets;
}

// x summed over axes, element by element.
Array naive_sum(const Array& x, const AxisList& axes, bool keepdim) {
  const Axes checked = checked_axes("sum", x.shape(), axes);
  std::vector<double> totals(numel(reduced_shape(x.shape(), checked, true)), 0.0);
  for (std::size_t i = 0; i < x.size(); ++i) {
    std::size_t rest = i, at = 0, step = 1;
    for (std::size_t axis = x.dimension(); axis-- > 0; rest /= x.shape()[axis]) {
      if (std::find(checked.begin(), checked.end(), axis) != checked.end()) continue;
      at += rest % x.shape()[axis] * step;
      step *= x.shape()[axis];
    }
    totals[at] += static_cast<double>(x.data()[i]);
  }
  Array y = uninitialized(reduced_shape(x.shape(), checked, keepdim));
  for (std::size_t i = 0; i < y.size(); ++i) y.data()[i] = static_cast<Real>(totals[i]);
  return y;
}

}  // namespace

TEST_CASE("sums over rows, columns and all elements by hand", "[ops][reduce]") {
  const Tensor x(elements);
  CHECK((sum(x).value() == scalar(24)));
  CHECK((sum(x, {0}).value() == array_of({3}, {5, 7, 12})));
  CHECK((sum(x, {-1}).value() == array_of({2}, {6, 18})));
  CHECK((sum(x, {1, 0}).value() == scalar(24)));
  CHECK((sum(x, {1}, true).value() == array_of({2, 1}, {6, 18})));
  CHECK((sum(Tensor(scalar(3))).value() == scalar(3)));
  CHECK((sum(Tensor(scalar(3)), {-1}).value() == scalar(3)));
  CHECK((sum(Tensor(zeros({2, 0})), {1}).value() == zeros({2})));
}

TEST_CASE("means and variances by hand", "[ops][reduce]") {
  const Tensor x(elements);
  CHECK((of_mean({}) == scalar(4)));
  CHECK((of_mean({1}) == array_of({2}, {2, 6})));
  CHECK((variance(x, {1}).value() == array_of({2}, {1, 7})));  // (4 + 1 + 9) / 2
  CHECK(difference(variance(x, {1}, false), array_of({2}, {2.0 / 3, 14.0 / 3})) == "");
  CHECK((variance(x, {0}, true, true).value() == array_of({1, 3}, {4.5, 4.5, 18})));
  CHECK(std::isnan(mean(Tensor(zeros({0}))).item()));
  CHECK(std::isnan(variance(Tensor(scalar(3))).item()));  // 0 / 0, as in PyTorch
  CHECK(variance(Tensor(scalar(3)), {}, false).item() == 0);
}

TEST_CASE("the gradients of reductions by hand", "[ops][reduce]") {
  const Array up = array_of({2}, {3, 30});
  CHECK((gradients([](X x) { return sum(x[0], {1}); }, {elements}, up)[0] ==
         array_of({2, 3}, {3, 3, 3, 30, 30, 30})));
  CHECK((gradients([](X x) { return mean(x[0], {1}); }, {elements}, up)[0] ==
         array_of({2, 3}, {1, 1, 1, 10, 10, 10})));
  CHECK((gradients([](X x) { return max(x[0], {1}); }, {elements}, up)[0] ==
         array_of({2, 3}, {0, 0, 3, 0, 0, 30})));
  CHECK((gradients([](X x) { return variance(x[0], {1}); }, {elements}, up)[0] ==
         array_of({2, 3}, {-3, 0, 3, -60, -30, 90})));  // dy 2 (x - mean) / 2
}

TEST_CASE("equal maxima get equal parts of the gradient", "[ops][reduce]") {
  CHECK((max(Tensor(array_of({4}, {5, 1, 5, 5}))).value() == scalar(5)));
  CHECK((gradients([](X x) { return max(x[0]); }, {array_of({4}, {5, 1, 5, 5})}, scalar(6))[0] ==
         array_of({4}, {2, 0, 2, 2})));
}

TEST_CASE("sums over every set of axes equal a naive sum", "[ops][reduce]") {
  for (const Shape& shape :
       {Shape{5}, Shape{3, 4}, Shape{2, 3, 4}, Shape{1, 3, 1}, Shape{2, 0, 3}, Shape{2, 3, 4, 5}}) {
    const Array x = random_array(shape, 1);
    for (const AxisList& axes : axis_sets(static_cast<int>(shape.size())))
      for (const bool keepdim : {false, true})
        CHECK(difference(sum(Tensor(x), axes, keepdim), naive_sum(x, axes, keepdim)) == "");
  }
}

TEST_CASE("mean and variance equal their definitions by sums", "[ops][reduce]") {
  const std::vector<Array> x{random_array({2, 3, 4}, 1)};
  for (const AxisList& axes : axis_sets(3))
    for (const bool keepdim : {false, true}) {
      const auto count = static_cast<double>(x[0].size() / naive_sum(x[0], axes, false).size());
      CHECK(twin_difference([&](X in) { return mean(in[0], axes, keepdim); },
                            [&](X in) { return sum(in[0], axes, keepdim) / count; }, x) == "");
      const Function plain = [&](X in) {
        const Tensor centred = in[0] - mean(in[0], axes, true);
        return sum(centred * centred, axes, keepdim) / (count - 1);
      };
      CHECK(twin_difference([&](X in) { return variance(in[0], axes, true, keepdim); }, plain, x,
                            5e-6) == "");
    }
}

TEST_CASE("max along every axis; NaN counts as the largest", "[ops][reduce]") {
  const Tensor x(array_of({2, 3}, {1, NaN, -inf, 4, 5, -inf}));
  CHECK(difference(max(x), scalar(static_cast<Real>(NaN))) == "");
  CHECK(difference(max(x, {0}), array_of({3}, {4, NaN, -inf})) == "");
  CHECK(difference(max(x, {1}, true), array_of({2, 1}, {NaN, 5})) == "");
  const Tensor first(array_of({3}, {NaN, 1, 2}));
  CHECK(std::isnan(max(first).item()));
}

TEST_CASE("argmax is the first index of the maximum along any axis", "[ops][reduce]") {
  const Tensor x(array_of({2, 3}, {1, 7, 7, 9, 0, 9}));
  CHECK(numbers(argmax(x, 1)) == std::vector<std::int64_t>{1, 0});
  CHECK(numbers(argmax(x, 0)) == std::vector<std::int64_t>{1, 0, 1});
  CHECK(str(shape_of(argmax(x, -1))) == "(2)");
  CHECK(argmax(Tensor(array_of({3}, {1, NaN, 2})), 0)(0) == 1);
  CHECK(argmax(Tensor(array_of({3}, {NaN, NaN, 2})), 0)(0) == 0);
  CHECK(argmax(Tensor(array_of({2}, {-inf, -inf})), 0)(0) == 0);
  CHECK(argmax(Tensor(array_of({4}, {4, 1, 9, 3})), 0)(0) == 2);  // rank 1, axis 0
  CHECK(numbers(argmax(Tensor(scalar(3)), 0)) == std::vector<std::int64_t>{0});
}

TEST_CASE("axes out of range or given twice and maxima of no elements throw", "[ops][reduce]") {
  const Tensor x(elements), none(zeros({2, 0}));
  CHECK(message_of([&] { sum(x, {2}); }) ==
        "sum: axis 2 is out of range for x (2, 3); use -2 to 1");
  CHECK(message_of([&] { mean(x, {-3}); }) ==
        "mean: axis -3 is out of range for x (2, 3); use -2 to 1");
  CHECK(message_of([&] { max(x, {0, 0}); }) == "max: axis 0 is given twice for x (2, 3)");
  CHECK(message_of([&] {
          variance(x, {1, -1});
        }) == "variance: axis 1 is given twice for x (2, 3)");
  CHECK(message_of([&] { argmax(x, 2); }) ==
        "argmax: axis 2 is out of range for x (2, 3); use -2 to 1");
  CHECK(message_of([&] { sum(Tensor(scalar(1)), {1}); }) ==
        "sum: axis 1 is out of range for x (); use -1 to 0");
  CHECK(message_of([&] { max(none, {1}); }) == "max: no elements to compare in x (2, 0)");
  CHECK(message_of([&] { max(none); }) == "max: no elements to compare in x (2, 0)");
  CHECK(message_of([&] { argmax(none, 1); }) == "argmax: no elements to compare in x (2, 0)");
  CHECK(str(max(none, {0}).shape()) == "(0)");
}

TEST_CASE("the variance of no elements is NaN, as in PyTorch", "[ops][reduce]") {
  for (const bool unbiased : {true, false})
    CHECK(std::isnan(variance(Tensor(zeros({2, 0})), {1}, unbiased).value()(0)));
}
