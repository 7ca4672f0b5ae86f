// normalize_test.cpp: gradients of layer_norm, rms_norm and cosine_similarity at random shapes.

#include "heed/ops/normalize.hpp"

#include "catch.hpp"
#include "run.hpp"

namespace heed::test {

namespace {

// The elements of a row are far apart, because nearly equal elements have large derivatives.
Case layer_norm_case(Draw& d) {
  const Shape shape = d.shape();
  const auto axes = static_cast<std::ptrdiff_t>(1 + d.below(d.rank));
  const Shape last(shape.end() - axes, shape.end());
  const bool weight = d.coin(), bias = d.coin();
  const double eps = d.one_of<double>({1e-5, 1e-2, 1});
  std::vector<Array> inputs{d.spread_rows(shape, numel(last))};
  if (weight) inputs.push_back(d.values(last));
  if (bias) inputs.push_back(d.values(last));
  const Function f = [=](X x) {
    return layer_norm(x[0], last, weight ? x[1] : Tensor(), bias ? x.back() : Tensor(), eps);
  };
  return {f, inputs,
          words("over ", str(last), weight ? ", weight" : "", bias ? ", bias" : "", ", eps ", eps)};
}

Case rms_norm_case(Draw& d) {
  const Shape shape = d.shape();
  const auto axes = static_cast<std::ptrdiff_t>(1 + d.below(d.rank));
  const Shape last(shape.end() - axes, shape.end());
  const bool weight = d.coin();
  const double eps = d.one_of<double>({1e-16, 1e-6, 1e-2, 1});
  std::vector<Array> inputs{d.away_from_zero(shape, 0.5, 2)};
  if (weight) inputs.push_back(d.values(last));
  return {[=](X x) { return rms_norm(x[0], last, weight ? x[1] : Tensor(), eps); }, inputs,
          words("over ", str(last), weight ? ", weight" : "", ", eps ", eps)};
}

// The norms of both vectors, of one or of none are smaller than eps, which then replaces the norm.
// Up to five elements below 0.3 have a norm below 0.8.
Case cosine_case(Draw& d) {
  const auto [a, b] = d.pair(d.shape());
  const int axis = d.axis(d.rank);
  const std::size_t kind = d.below(4);
  const double eps = kind == 0 ? 1e-8 : kind == 1 ? 10 : 0.8;
  return {[axis = axis, eps](X x) { return cosine_similarity(x[0], x[1], axis, eps); },
          {kind == 2 ? d.away_from_zero(a, 0.1, 0.3) : d.away_from_zero(a, 1, 2),
           kind == 3 ? d.away_from_zero(b, 0.1, 0.3) : d.away_from_zero(b, 1, 2)},
          words("axis ", axis, ", eps ", eps)};
}

}  // namespace

Rows normalize_rows() {
  return {{"layer_norm", 1, 4, layer_norm_case},
          {"rms_norm", 1, 4, rms_norm_case},
          {"cosine_similarity", 0, 4, cosine_case}};
}

TEST_CASE("the gradients of layer_norm, rms_norm and cosine_similarity are right at random shapes",
          "[double][random_shapes][normalize]") {
  check(normalize_rows());
}

}  // namespace heed::test
