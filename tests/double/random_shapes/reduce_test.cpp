// reduce_test.cpp: gradients of reductions, topk and gather at random shapes.

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

// The elements are far apart, so that finite differences do not change their order.
Case topk_case(Draw& d) {
  const Shape shape = d.shape();
  const int axis = d.axis(d.rank);
  const std::size_t k = d.below(shape[d.index(axis, d.rank)] + 1);
  return on(d.spread_rows(shape, numel(shape)), words("k ", k, ", axis ", axis),
            [=](T x) { return topk(x, k, axis).values; });
}

// An index may occur several times; the gradients of its element are added.
Case gather_case(Draw& d) {
  const Shape shape = d.shape();
  const int axis = d.axis(d.rank);
  const std::size_t at = d.index(axis, d.rank), n = shape[at];
  Shape taken = shape;
  taken[at] = 1;
  taken[at] = n == 0 ? 0 : d.size(numel(taken));
  const Indices indices = d.indices(taken, n);
  return on(d.values(shape), words("axis ", axis, ", indices ", str(taken)),
            [=](T x) { return gather(x, axis, indices); });
}

}  // namespace

Rows reduce_rows() {
  return {{"sum", 0, 4, over([](T x, const AxisList& a, bool keep) { return sum(x, a, keep); })},
          {"mean", 0, 4, over([](T x, const AxisList& a, bool keep) { return mean(x, a, keep); })},
          {"max", 0, 4, max_case},
          {"variance", 0, 4, variance_case},
          {"topk", 1, 4, topk_case},
          {"gather", 1, 4, gather_case}};
}

TEST_CASE("the gradients of reductions, topk and gather are right at random shapes",
          "[double][random_shapes][reduce]") {
  check(reduce_rows());
}

}  // namespace heed::test
