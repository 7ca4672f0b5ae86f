// mask_test.cpp: gradients of masked_fill, where, tril and dropout at random shapes.

#include "heed/ops/mask.hpp"

#include "catch.hpp"
#include "heed/ops/softmax.hpp"
#include "run.hpp"

namespace heed::test {

namespace {

Case masked_fill_case(Draw& d) {
  const Shape shape = d.shape();
  const Mask mask = d.mask(d.narrowed(shape));
  const double value = d.number(-3, 3);
  return on(d.values(shape), words("mask ", str(shape_of(mask))),
            [=](T x) { return masked_fill(x, mask, value); });
}

// The condition broadcasts to the shape of a and b, or, with one more axis, they broadcast to it.
Case where_case(Draw& d) {
  const auto [a, b] = d.pair(d.shape());
  Shape whole = broadcast("where", a, b);
  Shape shape = d.narrowed(whole);
  if (d.below(4) == 0) {
    shape = whole;
    shape.insert(shape.begin(), d.size(numel(whole)));
  }
  const Mask condition = d.mask(shape);
  return {[=](X x) { return where(condition, x[0], x[1]); },
          {d.values(a), d.values(b)},
          words("condition ", str(shape))};
}

// A masked softmax, as in attention. All elements of a row may be masked.
Case masked_softmax_case(Draw& d) {
  const Shape shape = d.shape();
  const Mask mask = d.mask(d.narrowed(shape));
  const int axis = d.axis(d.rank);
  return on(d.values(shape), words("mask ", str(shape_of(mask)), ", axis ", axis),
            [=](T x) { return softmax(masked_fill(x, mask, -infinity), axis); });
}

Case tril_case(Draw& d) {
  const int diagonal = d.between(-5, 5);
  return on(d.values(d.shape()), words("diagonal ", diagonal),
            [=](T x) { return tril(x, diagonal); });
}

Case dropout_case(Draw& d) {
  const double p = d.one_of<double>({0, 0.2, 0.5, 0.8, 1});
  const std::uint64_t seed = d.seed();
  return on(d.values(d.shape()), words("p ", p), [=](T x) {
    Generator generator(seed);  // every call must drop the same elements
    return dropout(x, p, generator);
  });
}

}  // namespace

Rows mask_rows() {
  return {{"masked_fill", 0, 4, masked_fill_case},
          {"masked_fill, then softmax", 0, 4, masked_softmax_case},
          {"where", 0, 4, where_case},
          {"tril", 2, 4, tril_case},
          {"dropout", 0, 4, dropout_case}};
}

TEST_CASE("the gradients of masked_fill, where, tril and dropout are right at random shapes",
          "[double][random_shapes][mask]") {
  check(mask_rows());
}

}  // namespace heed::test
