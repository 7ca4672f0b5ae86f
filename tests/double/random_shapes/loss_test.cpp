// loss_test.cpp: gradients of the losses at random shapes.

#include "heed/ops/loss.hpp"

#include "catch.hpp"
#include "run.hpp"

namespace heed::test {

namespace {

Indices some_targets(Draw& d, const Shape& logits, std::int64_t ignored) {
  const std::size_t V = logits.back();
  Indices targets = d.indices(Shape(logits.begin(), logits.end() - 1), V);
  for (std::int64_t& target : targets)
    if (V == 0 || d.below(4) == 0) target = ignored;
  // At least one target is not ignored, because the mean over no targets is 0 / 0.
  if (V > 0 && targets.size() > 0 && targets.data()[0] == ignored)
    targets.data()[0] = ignored == 0 ? 1 : 0;
  return targets;
}

Maker cross_entropies(Reduction reduction) {
  return [=](Draw& d) {
    const Shape shape = d.shape();
    const std::size_t V = shape.back();
    CrossEntropyOptions options;
    options.reduction = reduction;
    options.label_smoothing = d.one_of<double>({0, 0, 0.1, 0.7, 1});
    if (V > 1 && d.coin()) options.ignore_index = static_cast<std::int64_t>(d.below(V));
    const Indices targets = some_targets(d, shape, options.ignore_index);
    return on(d.values(shape, -2, 2),
              words("smoothing ", options.label_smoothing, ", ignoring ", options.ignore_index,
                    ", targets ", listed(targets)),
              [=](T x) { return cross_entropy(x, targets, options); });
  };
}

Reduction reduction_of(Draw& d) {
  return d.one_of<Reduction>({Reduction::mean, Reduction::sum, Reduction::none});
}

// A loss of input and target. Large errors and logits, of either sign, occur too.
template <class F>
Maker elementwise(const F& loss, double low_target, double high_target) {
  return [=](Draw& d) {
    const Shape shape = d.shape();
    const Reduction reduction = reduction_of(d);
    const double largest = d.one_of<double>({1, 5});
    return Case{[=](X x) { return loss(x[0], x[1], reduction); },
                {d.values(shape, -largest, largest), d.values(shape, low_target, high_target)},
                words("reduction ", static_cast<int>(reduction))};
  };
}

// Errors are not near the limit delta, where the second derivative jumps.
Case huber_case(Draw& d) {
  const Shape shape = d.shape();
  const Reduction reduction = reduction_of(d);
  const double delta = d.one_of<double>({0.5, 1, 2.5});
  const Array target = d.values(shape, -2, 2);
  Array input = d.away_from_zero(shape, 0.1, 0.9);  // the error, as a multiple of delta
  for (std::size_t i = 0; i < input.size(); ++i)
    input.data()[i] = target.data()[i] + delta * input.data()[i] * (d.coin() ? 1 : 12);
  return {[=](X x) { return huber_loss(x[0], x[1], reduction, delta); },
          {input, target},
          words("delta ", delta, ", reduction ", static_cast<int>(reduction))};
}

}  // namespace

Rows loss_rows() {
  return {{"cross_entropy, mean", 1, 4, cross_entropies(Reduction::mean)},
          {"cross_entropy, sum", 1, 4, cross_entropies(Reduction::sum)},
          {"cross_entropy, none", 1, 4, cross_entropies(Reduction::none)},
          {"mse_loss", 0, 4,
           elementwise([](T x, T target, Reduction r) { return mse_loss(x, target, r); }, -2, 2)},
          {"binary_cross_entropy_with_logits", 0, 4,
           elementwise([](T x, T target,
                          Reduction r) { return binary_cross_entropy_with_logits(x, target, r); },
                       0, 1)},
          {"huber_loss", 0, 4, huber_case}};
}

TEST_CASE("the gradients of the losses are right at random shapes",
          "[double][random_shapes][loss]") {
  check(loss_rows());
}

}  // namespace heed::test
