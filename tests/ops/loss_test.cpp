// loss_test.cpp: cross-entropy by hand, and against log_softmax at the target.

#include "heed/ops/loss.hpp"

#include <cmath>

#include "catch.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/reduce.hpp"
#include "heed/ops/shape.hpp"
#include "heed/ops/softmax.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;
using X = const std::vector<Tensor>&;

// The probabilities are 1/8, 2/8, 5/8 and 1/2, 1/4, 1/4.
const Array logits = array_of({2, 3}, {0, std::log(2.0), std::log(5.0), std::log(2.0), 0, 0});

CrossEntropyOptions with(Reduction reduction, double smoothing = 0) {
  CrossEntropyOptions options;
  options.reduction = reduction;
  options.label_smoothing = smoothing;
  return options;
}

Function fused(const Indices& targets, const CrossEntropyOptions& options = {}) {
  return [=](X x) { return cross_entropy(x[0], targets, options); };
}

// Row by row: minus log_softmax at the target, mixed with the mean over all classes (smoothing).
Function plain(const std::vector<std::int64_t>& targets, const CrossEntropyOptions& options) {
  return [=](X x) {
    const Tensor logs = log_softmax(x[0], -1);
    std::vector<Tensor> losses;
    for (std::size_t i = 0; i < targets.size(); ++i) {
      if (targets[i] == options.ignore_index) continue;
      const Tensor row = select(logs, 0, static_cast<std::int64_t>(i));
      losses.push_back((options.label_smoothing - 1) * select(row, 0, targets[i]) -
                       options.label_smoothing * mean(row));
    }
    const Tensor all = stack(losses, 0);
    return options.reduction == Reduction::none  ? all
           : options.reduction == Reduction::sum ? sum(all)
                                                 : mean(all);
  };
}

}  // namespace

TEST_CASE("the cross-entropy of a target with probability 5/8 is ln 8/5", "[ops][loss]") {
  const Indices targets = indices_of({2}, {2, 1});
  const double first = std::log(1.6), second = std::log(4.0);
  const Tensor x(logits);
  CHECK(difference(cross_entropy(x, targets, with(Reduction::none)),
                   array_of({2}, {first, second})) == "");
  CHECK(difference(cross_entropy(x, targets, with(Reduction::sum)),
                   array_of({}, {first + second})) == "");
  CHECK(difference(cross_entropy(x, targets), array_of({}, {(first + second) / 2})) == "");
}

TEST_CASE("the cross-entropy of 50,000 equal logits is their logarithm", "[ops][loss]") {
  const Tensor x(zeros({2, 50000}), true);
  const Tensor loss = cross_entropy(x, Indices{49999, 0});
  CHECK(difference(loss, array_of({}, {std::log(50000.0)}), 1e-5) == "");
  backward(loss);
  CHECK(std::abs(static_cast<double>(x.grad()(0, 49999)) - (1.0 / 100000 - 0.5)) < 1e-6);
}

TEST_CASE("the gradient of cross-entropy is softmax, minus 1 at the target", "[ops][loss]") {
  const Indices targets = indices_of({2}, {2, 1});
  CHECK(difference(
            gradients(fused(targets, with(Reduction::none)), {logits}, array_of({2}, {8, 4}))[0],
            array_of({2, 3}, {1, 2, -3, 2, -3, 1})) == "");
  CHECK(difference(gradients(fused(targets), {logits}, scalar(16))[0],
                   array_of({2, 3}, {1, 2, -3, 4, -6, 2})) == "");
}

TEST_CASE("label smoothing by hand", "[ops][loss]") {
  // 0.7 ln 8/5 + 0.3 (ln 8 + ln 4 + ln 8/5) / 3
  const double expected = 0.7 * std::log(1.6) + 0.1 * std::log(51.2);
  const Tensor x(slice(Tensor(logits), 0, 0, 1));
  CHECK(difference(cross_entropy(x, indices_of({1}, {2}), with(Reduction::mean, 0.3)),
                   array_of({}, {expected})) == "");
}

TEST_CASE("cross-entropy equals log_softmax at the target", "[ops][loss]") {
  const std::vector<Array> x{
      random_array({200, 37}, 1, -4, 4)};  // several chunks of rows, odd width
  std::vector<std::int64_t> targets;
  for (std::int64_t i = 0; i < 200; ++i) targets.push_back(i * 7 % 37);
  for (const Reduction reduction : {Reduction::mean, Reduction::sum, Reduction::none})
    for (const double smoothing : {0.0, 0.1, 1.0}) {
      const CrossEntropyOptions options = with(reduction, smoothing);
      CHECK(twin_difference(fused(indices_of({200}, targets), options), plain(targets, options), x,
                            5e-6) == "");
    }
}

TEST_CASE("ignored targets have loss 0 and are not counted in the mean", "[ops][loss]") {
  const Array x = random_array({4, 5}, 1);
  for (const Reduction reduction : {Reduction::mean, Reduction::sum})
    CHECK(twin_difference(fused(indices_of({4}, {1, -100, 4, -100}), with(reduction)),
                          plain({1, -100, 4, -100}, with(reduction)), {x}) == "");
  CrossEntropyOptions third = with(Reduction::none);
  third.ignore_index = 3;
  const Tensor losses = cross_entropy(Tensor(x), indices_of({4}, {3, 1, 3, 2}), third);
  CHECK(losses.value()(0) == 0);
  CHECK(losses.value()(1) > 0);
  CHECK(losses.value()(2) == 0);
  CHECK(std::isnan(cross_entropy(Tensor(x), indices_of({4}, {-100, -100, -100, -100})).item()));
  CHECK((gradients(fused(indices_of({4}, {-100, -100, -100, -100})), {x}, scalar(1))[0] ==
         zeros({4, 5})));
}

TEST_CASE("targets may have any batch shape", "[ops][loss]") {
  const Array x = random_array({2, 3, 5}, 1);
  const std::vector<std::int64_t> targets{0, 1, 2, 3, 4, 0};
  const Function flat = [&](X in) {
    return cross_entropy(reshape(in[0], {6, 5}), indices_of({6}, targets));
  };
  CHECK(twin_difference(fused(indices_of({2, 3}, targets)), flat, {x}, 0) == "");
  const Tensor one(array_of({3}, {0, 0, 0}));
  CHECK(difference(cross_entropy(one, indices_of({}, {1})), array_of({}, {std::log(3.0)})) == "");
  CHECK(str(cross_entropy(Tensor(zeros({0, 5})), indices_of({0}, {}), with(Reduction::none))
                .shape()) == "(0)");
  CHECK(cross_entropy(Tensor(zeros({0, 5})), indices_of({0}, {}), with(Reduction::sum)).item() ==
        0);
}

TEST_CASE("logits of a thousand and -infinity do not overflow", "[ops][loss]") {
  const Tensor x(array_of({3}, {1000, 0, -infinity}));
  CHECK(cross_entropy(x, indices_of({}, {0})).item() == 0);
  CHECK(cross_entropy(x, indices_of({}, {1})).item() == 1000);
  CHECK((gradients(fused(indices_of({}, {1})), {x.value()}, scalar(1))[0] ==
         array_of({3}, {1, -1, 0})));
  CHECK(std::isnan(
      cross_entropy(Tensor(array_of({2}, {not_a_number, 0})), indices_of({}, {1})).item()));
}

TEST_CASE("targets out of range and shapes that do not fit throw", "[ops][loss]") {
  const Tensor x(logits);
  CHECK(message_of([&] {
          cross_entropy(x, indices_of({3}, {0, 0, 0}));
        }) ==
        "cross_entropy: the targets need the logits' shape without its last axis: logits (2, 3), "
        "targets (3)");
  CHECK(message_of([&] { cross_entropy(Tensor(scalar(1)), indices_of({}, {0})); }) ==
        "cross_entropy: the targets need the logits' shape without its last axis: logits (), "
        "targets ()");
  CHECK(message_of([&] {
          cross_entropy(x, indices_of({2}, {0, 3}));
        }) ==
        "cross_entropy: target 3 among targets (2) is not a class of logits (2, 3); classes are 0 "
        "to 2");
  CHECK(message_of([&] {
          cross_entropy(x, indices_of({2}, {-1, 0}));
        }) ==
        "cross_entropy: target -1 among targets (2) is not a class of logits (2, 3); classes are 0 "
        "to 2");
  CHECK(message_of([&] {
          cross_entropy(x, indices_of({2}, {0, 0}), with(Reduction::sum, 1.5));
        }) == "cross_entropy: label_smoothing = 1.5 is not in [0, 1]");
}
