// extra_test.cpp: gradients of the operations of include/heed/extra at random shapes.

#include "catch.hpp"
#include "heed/extra/comparison.hpp"
#include "heed/extra/elementwise.hpp"
#include "heed/extra/indexing.hpp"
#include "heed/extra/losses.hpp"
#include "heed/extra/reductions.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/softmax.hpp"
#include "run.hpp"

namespace heed::test {

namespace {

// ---- comparison, elementwise functions

template <class F>
Maker of_pair(const F& f, double low = -1, double high = 1) {
  return [=](Draw& d) {
    const auto [a, b] = d.pair(d.shape());
    return Case{[=](X x) { return f(x[0], x[1]); },
                {d.values(a, low, high), d.values(b, low, high)}};
  };
}

Case where_number_case(Draw& d) {
  const Shape shape = d.shape();
  const Mask condition = d.mask(d.narrowed(shape));
  const double c = d.number(-2, 2);
  const bool first = d.coin();
  return on(d.values(shape), words("condition ", str(shape_of(condition)), first ? ", first" : ""),
            [=](T x) { return first ? where(condition, c, x) : where(condition, x, c); });
}

Case softplus_case(Draw& d) {
  const double beta = d.one_of<double>({0.5, 1, 3});
  return on(d.values(d.shape(), -4, 4), words("beta ", beta),
            [=](T x) { return softplus(x, beta); });
}

// ---- reductions

// A case of f(x, axes, keepdim). Values and their sizes are far apart, or away from 0.
template <class F>
Maker over_some_axes(const F& f, bool spread = false) {
  return [=](Draw& d) {
    auto [shape, axis] = d.axis_with_elements();
    const bool empty = numel(shape) == 0;  // only axes of size > 0 have a minimum
    const AxisList axes = empty ? AxisList{axis} : d.axes();
    const bool keep = d.coin();
    const Array x = spread ? d.spread_rows(shape, numel(shape)) : d.away_from_zero(shape, 0.2, 2);
    return on(x, words("axes ", listed(axes), keep ? " kept" : ""),
              [=](T in) { return f(in, axes, keep); });
  };
}

Case norm_case(Draw& d) {
  const double p = d.one_of<double>({2, 1, 3, 0.5, -1, infinity, -infinity});
  Case drawn = over_some_axes(
      [=](T x, const AxisList& axes, bool keep) { return norm(x, p, axes, keep); })(d);
  drawn.options += words(", p ", p);
  return drawn;
}

// More elements than the correction: the variance of fewer would be infinite or NaN.
Maker variances(Tensor (*f)(In, const AxisList&, double, Bool)) {
  return [=](Draw& d) {
    const Shape shape = d.shape();
    const AxisList axes = d.axes();
    std::size_t n = 1;
    for (const std::size_t axis : checked_axes("var", shape, axes)) n *= shape[axis];
    const double correction = n > 1 ? d.number(0, static_cast<double>(n) - 0.5) : 0;
    return on(d.values(shape), words("axes ", listed(axes), ", correction ", correction),
              [=](T x) { return f(x, axes, correction, n % 2 == 0); });
  };
}

Case prod_case(Draw& d) {
  const Shape shape = d.shape();
  const bool all = d.coin();
  const int axis = d.axis(d.rank);
  Array x = d.away_from_zero(shape, 0.5, 1.5);
  for (Real& v : x)
    if (d.below(8) == 0) v = 0;
  return on(x, all ? "all" : words("axis ", axis),
            [=](T in) { return all ? prod(in) : prod(in, axis, shape.size() % 2 == 0); });
}

Case normalize_case(Draw& d) {
  const int axis = d.axis(d.rank);
  const double p = d.one_of<double>({2, 1, 3});
  return on(d.away_from_zero(d.shape(), 0.2, 2), words("axis ", axis, ", p ", p),
            [=](T x) { return normalize(x, p, axis); });
}

// ---- indexing

Case index_select_case(Draw& d) {
  auto [shape, axis] = d.axis_with_elements();
  const Indices indices = d.indices({d.size(numel(shape))}, shape[d.index(axis, d.rank)]);
  return on(d.values(shape), words("axis ", axis, ", indices ", listed(indices)),
            [=, axis = axis](T x) { return index_select(x, axis, indices); });
}

Case unbind_case(Draw& d) {
  auto [shape, axis] = d.axis_with_elements();
  const std::size_t part = d.below(shape[d.index(axis, d.rank)]);
  return on(d.values(shape), words("axis ", axis, ", part ", part), [=, axis = axis](T x) {
    const auto parts = unbind(x, axis);
    return parts[part] * parts[0];
  });
}

template <class F>
Maker scatters(const F& f) {
  return [=](Draw& d) {
    const Shape shape = d.shape();
    const int axis = d.axis(d.rank);
    const std::size_t at = d.index(axis, d.rank), n = shape[at];
    Shape taken = shape;
    taken[at] = 1;
    taken[at] = n == 0 ? 0 : d.size(numel(taken));
    const Indices indices = d.indices(taken, n);
    return Case{[=](X x) { return f(x[0], axis, indices, x[1]); },
                {d.values(shape), d.values(taken)},
                words("axis ", axis, ", indices ", str(taken))};
  };
}

Case triu_case(Draw& d) {
  const int diagonal = d.between(-5, 5);
  return on(d.values(d.shape()), words("diagonal ", diagonal),
            [=](T x) { return triu(x, diagonal); });
}

Case flip_case(Draw& d) {
  const AxisList axes = d.axes();
  return on(d.values(d.shape()), words("axes ", listed(axes)), [=](T x) { return flip(x, axes); });
}

Case repeat_case(Draw& d) {
  SizeList sizes;
  for (std::size_t i = d.below(2); i <= d.rank; ++i) sizes.push_back(d.between(0, 2));
  while (sizes.size() < d.rank) sizes.push_back(1);
  return on(d.values(d.shape()), words("sizes ", listed(sizes)),
            [=](T x) { return repeat(x, sizes); });
}

Case pad_case(Draw& d) {
  const Shape shape = d.shape();
  SizeList padding;
  for (std::size_t i = d.below(d.rank + 1); i > 0; --i)
    for (int side = 0; side < 2; ++side) {
      const auto size = shape[d.rank - 1 - padding.size() / 2];
      padding.push_back(d.between(size < 2 ? 0 : -1, 2));
    }
  return on(d.values(shape), words("padding ", listed(padding)),
            [=](T x) { return pad(x, padding, 0.5); });
}

// ---- losses

CrossEntropyOptions class_options(Draw& d) {
  CrossEntropyOptions options;
  options.reduction = d.one_of<Reduction>({Reduction::mean, Reduction::sum, Reduction::none});
  return options;
}

template <class F>
Maker class_losses(const F& f, bool smooth) {
  return [=](Draw& d) {
    const Shape shape = d.shape();
    const std::size_t V = shape.back();
    CrossEntropyOptions options = class_options(d);
    options.label_smoothing = smooth ? d.one_of<double>({0, 0.3}) : 0;
    Indices targets = d.indices(Shape(shape.begin(), shape.end() - 1), V);
    for (std::size_t i = 0; i < targets.size(); ++i)  // the mean over no targets is 0 / 0
      if (V == 0 || (i > 0 && d.below(4) == 0)) targets.data()[i] = options.ignore_index;
    if (targets.size() == 0 || V == 0) options.reduction = Reduction::sum;
    const Array weights = d.values({V}, 0.2, 2);
    return on(d.values(shape, -2, 2), words("targets ", listed(targets)),
              [=](T x) { return f(x, targets, weights, options); });
  };
}

Case probability_targets_case(Draw& d) {
  const Shape shape = d.shape();
  CrossEntropyOptions options = class_options(d);
  options.label_smoothing = shape.back() == 0 ? 0 : d.one_of<double>({0, 0.3});
  if (numel(shape) == 0) options.reduction = Reduction::sum;
  const Array weights = d.values({shape.back()}, 0.2, 2);
  return {[=](X x) { return cross_entropy(x[0], x[1], weights, options); },
          {d.values(shape, -2, 2), d.values(shape, 0.1, 1)}};
}

template <class F>
Maker pointwise_loss(const F& f, double low_target, double high_target, double low, double high) {
  return [=](Draw& d) {
    const Shape shape = d.shape();
    const Reduction reduction = numel(shape) == 0 ? Reduction::sum : class_options(d).reduction;
    return Case{[=](X x) { return f(x[0], x[1], reduction); },
                {d.values(shape, low, high), d.values(shape, low_target, high_target)}};
  };
}

Case constant_target_case(Draw& d) {
  const Shape shape = d.shape();
  const Array target = d.values(shape);
  return on(d.values(shape), "", [=](T x) { return mse_loss(x, target, Reduction::sum); });
}

}  // namespace

Rows extra_rows() {
  return {
      {"maximum", 0, 4, of_pair([](T a, T b) { return maximum(a, b); })},
      {"minimum", 0, 4, of_pair([](T a, T b) { return minimum(a, b); })},
      {"where, with a number", 0, 4, where_number_case},
      {"pow", 0, 4, of_pair([](T a, T b) { return pow(a, b); }, 0.3, 2)},
      {"sin", 0, 4, one([](T x) { return sin(x); }, -4, 4)},
      {"cos", 0, 4, one([](T x) { return cos(x); }, -4, 4)},
      {"erf", 0, 4, one([](T x) { return erf(x); }, -2, 2)},
      {"softplus", 0, 4, softplus_case},
      {"leaky_relu", 0, 4, one_away_from_zero([](T x) { return leaky_relu(x, 0.1); })},
      {"elu", 0, 4, one_away_from_zero([](T x) { return elu(x, 0.7); })},
      {"amin", 0, 4,
       over_some_axes([](T x, const AxisList& a, bool keep) { return amin(x, a, keep); }, true)},
      {"min", 0, 4,
       over_some_axes([](T x, const AxisList& a, bool keep) { return min(x, a, keep); }, true)},
      {"amax", 0, 4,
       over_some_axes([](T x, const AxisList& a, bool keep) { return amax(x, a, keep); }, true)},
      {"logsumexp, over axes", 0, 4,
       over_some_axes([](T x, const AxisList& a, bool keep) { return logsumexp(x, a, keep); })},
      {"norm", 0, 4, norm_case},
      {"normalize", 0, 4, normalize_case},
      {"prod", 0, 4, prod_case},
      {"cumsum", 0, 4, along([](T x, int axis) { return cumsum(x, axis); })},
      {"var", 0, 4, variances(var)},
      {"stddev", 0, 4, variances(stddev)},
      {"index_select", 1, 4, index_select_case},
      {"unbind", 1, 4, unbind_case},
      {"scatter", 1, 4,
       scatters([](T x, int axis, const Indices& i, T s) { return scatter(x, axis, i, s); })},
      {"scatter_add", 1, 4,
       scatters([](T x, int axis, const Indices& i, T s) { return scatter_add(x, axis, i, s); })},
      {"triu", 2, 4, triu_case},
      {"flip", 0, 4, flip_case},
      {"repeat", 0, 4, repeat_case},
      {"pad", 0, 4, pad_case},
      {"nll_loss", 1, 4,
       class_losses([](T x, const Indices& t, const Array& w,
                       const CrossEntropyOptions& o) { return nll_loss(x, t, w, o); },
                    false)},
      {"cross_entropy, with weights", 1, 4,
       class_losses([](T x, const Indices& t, const Array& w,
                       const CrossEntropyOptions& o) { return cross_entropy(x, t, w, o); },
                    true)},
      {"cross_entropy, of probabilities", 1, 4, probability_targets_case},
      {"l1_loss", 0, 4,
       pointwise_loss([](T x, T t, Reduction r) { return l1_loss(x, t, r); }, 1, 2, -2, 0.5)},
      {"mse_loss, of an array", 0, 4, constant_target_case},
      {"kl_div", 0, 4,
       pointwise_loss([](T x, T t, Reduction r) { return kl_div(x, t, r); }, 0.1, 1, -3, 0)},
      {"kl_div, of logarithms", 0, 4,
       pointwise_loss([](T x, T t, Reduction r) { return kl_div(x, t, r, true); }, -3, 0, -3, 0)}};
}

TEST_CASE("the gradients of the operations of heed/extra are right at random shapes",
          "[double][random_shapes][extra]") {
  check(extra_rows());
}

}  // namespace heed::test
