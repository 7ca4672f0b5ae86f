// loss_test.cpp: gradients of cross_entropy at random shapes.

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

}  // namespace

Rows loss_rows() {
  return {{"cross_entropy, mean", 1, 4, cross_entropies(Reduction::mean)},
          {"cross_entropy, sum", 1, 4, cross_entropies(Reduction::sum)},
          {"cross_entropy, none", 1, 4, cross_entropies(Reduction::none)}};
}

TEST_CASE("the gradients of cross_entropy are right at random shapes",
          "[double][random_shapes][loss]") {
  check(loss_rows());
}

}  // namespace heed::test
