// reduce_test.cpp: gradients of reductions at random shapes.

#include "heed/ops/reduce.hpp"

#include "catch.hpp"
#include "run.hpp"

namespace heed::test {

namespace {

template <class F>
Case over_axes(Draw& d, const Array& x, const AxisList& axes, const F& f) {
  const bool keepdim = d.coin();
  return on(x, words("axes ", listed(axes), keepdim ? " kept" : ""),
            [=](T in) { return f(in, axes, keepdim); });
}

template <class F>
Maker over(const F& f) {
  return [=](Draw& d) {
    const AxisList axes = d.axes();
    return over_axes(d, d.values(d.shape()), axes, f);
  };
}

Case max_case(Draw& d) {
  const auto [shape, axis] = d.axis_with_elements();
  const bool empty = numel(shape) == 0;  // only axes of size > 0 have a maximum
  const AxisList axes = empty ? AxisList{axis} : d.axes();
  return over_axes(d, d.spread_rows(shape, numel(shape)), axes,
                   [](T x, const AxisList& list, bool keep) { return max(x, list, keep); });
}

Case variance_case(Draw& d) {
  const Shape shape = d.shape();
  const AxisList axes = d.axes();
  std::size_t n = 1;
  for (const std::size_t axis : checked_axes("variance", shape, axes)) n *= shape[axis];
  const bool unbiased = n > 1 && d.coin();  // the variance of one element would be 0 / 0
  Case drawn = over_axes(d, d.values(shape), axes, [=](T x, const AxisList& list, bool keep) {
    return variance(x, list, unbiased, keep);
  });
  drawn.options += unbiased ? ", unbiased" : "";
  return drawn;
}

}  // namespace

Rows reduce_rows() {
  return {{"sum", 0, 4, over([](T x, const AxisList& a, bool keep) { return sum(x, a, keep); })},
          {"mean", 0, 4, over([](T x, const AxisList& a, bool keep) { return mean(x, a, keep); })},
          {"max", 0, 4, max_case},
          {"variance", 0, 4, variance_case}};
}

TEST_CASE("the gradients of reductions are right at random shapes",
          "[double][random_shapes][reduce]") {
  check(reduce_rows());
}

}  // namespace heed::test
