// losses_test.cpp: nll_loss, class weights and class probabilities, l1_loss and kl_div.

#include "heed/extra/losses.hpp"

#include "catch.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/softmax.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;

const Tensor scores = tensor_of({2, 3}, {1, 2, 3, 0, -1, 2}).set_name("logits");
const Indices two_classes = indices_of({2}, {2, 0});

}  // namespace

TEST_CASE("cross_entropy takes a reduction alone", "[extra][losses]") {
  CrossEntropyOptions options;
  options.reduction = Reduction::sum;
  CHECK(cross_entropy(scores, two_classes, Reduction::sum).item() ==
        cross_entropy(scores, two_classes, options).item());
  CHECK(cross_entropy(scores, two_classes, Reduction::none).shape() == Shape{2});
}

TEST_CASE("nll_loss of log_softmax is cross_entropy", "[extra][losses]") {
  const Tensor log_p = log_softmax(scores, -1);
  for (const Reduction reduction : {Reduction::mean, Reduction::sum, Reduction::none})
    CHECK(difference(nll_loss(log_p, two_classes, reduction),
                     cross_entropy(scores, two_classes, reduction).value()) == "");
  CHECK(nll_loss(log_p, two_classes).item() == nll_loss(log_p, two_classes, ones({3})).item());
}

TEST_CASE("the mean with class weights is divided by the weights of the targets",
          "[extra][losses]") {
  const Array weights = array_of({3}, {2, 5, 3});
  const Array each = cross_entropy(scores, two_classes, Reduction::none).value();
  const double expected = (3 * each(0) + 2 * each(1)) / 5;
  CHECK(close(cross_entropy(scores, two_classes, weights).item(), expected, 1e-6));
  CHECK(close(nll_loss(log_softmax(scores, -1), two_classes, weights).item(), expected, 1e-6));
  CrossEntropyOptions ignoring;
  ignoring.ignore_index = 0;
  CHECK(close(cross_entropy(scores, two_classes, weights, ignoring).item(), each(0), 1e-6));
}

TEST_CASE("one-hot probabilities give the loss of the class", "[extra][losses]") {
  const Tensor one_hot(array_of({2, 3}, {0, 0, 1, 1, 0, 0}));
  CHECK(close(cross_entropy(scores, one_hot).item(), cross_entropy(scores, two_classes).item(),
              1e-6));
  CrossEntropyOptions smooth;
  smooth.label_smoothing = 0.2;
  CHECK(close(cross_entropy(scores, one_hot, smooth).item(),
              cross_entropy(scores, two_classes, smooth).item(), 1e-6));
}

TEST_CASE("the errors of class losses name the function and both shapes", "[extra][losses]") {
  CHECK(message_of([] {
          nll_loss(scores, indices_of({3}, {0, 0, 0}));
        }) ==
        "nll_loss: the targets need the shape of log_probabilities without its last axis: logits "
        "(2, 3), targets (3)");
  CHECK(message_of([] {
          nll_loss(scores, indices_of({2}, {0, 3}));
        }) ==
        "nll_loss: target 3 among targets (2) is not a class of logits (2, 3); classes are 0 to 2");
  CHECK(message_of([] { cross_entropy(scores, two_classes, ones({2})); }) ==
        "cross_entropy: the class weights (2) must be one for each class of logits (2, 3)");
  CHECK(message_of([] {
          cross_entropy(scores, Tensor(ones({2, 2})).set_name("p"));
        }) ==
        "cross_entropy: logits and probabilities need equal shapes, with at least one axis: logits "
        "(2, 3), p (2, 2)");
  CrossEntropyOptions smooth;
  smooth.label_smoothing = 0.5;
  CHECK(message_of([&] { nll_loss(scores, two_classes, smooth); }) ==
        "nll_loss: has no label_smoothing, but it is 0.5; use cross_entropy");
  smooth.label_smoothing = 2;
  CHECK(message_of([&] { cross_entropy(scores, two_classes, ones({3}), smooth); }) ==
        "cross_entropy: label_smoothing = 2 is not in [0, 1]");
}

TEST_CASE("l1_loss is the mean distance, with derivative 0 at 0", "[extra][losses]") {
  const Tensor x = tensor_of({3}, {1, 2, 5}), target = tensor_of({3}, {2, 2, 3});
  const Tensor loss = l1_loss(x, target, Reduction::sum);
  CHECK(loss.item() == 3);
  loss.backward();
  CHECK(difference(x.grad(), array_of({3}, {-1, 0, 1})) == "");
  CHECK(l1_loss(x, target.value()).item() == 1);
  CHECK(close(mse_loss(x, target.value()).item(), 5.0 / 3, 1e-6));
  CHECK(message_of([&] { l1_loss(x, Tensor(ones({2}))); }) ==
        "l1_loss: input and target need equal shapes: input (3), target (2)");
}

TEST_CASE("kl_div of a distribution and itself is 0, and a target of 0 has no loss",
          "[extra][losses]") {
  const Tensor p = tensor_of({3}, {0.5, 0.25, 0.25});
  CHECK(close(kl_div(log(p), p, Reduction::sum).item(), 0, 1e-6));
  CHECK(close(kl_div(log(p), log(p), Reduction::sum, true).item(), 0, 1e-6));
  const Tensor x = tensor_of({2}, {-infinity, -1}), target = tensor_of({2}, {0, 1});
  const Tensor losses = kl_div(x, target, Reduction::none);
  CHECK(difference(losses, array_of({2}, {0, 1})) == "");
  backward(losses, ones({2}));
  CHECK(difference(x.grad(), array_of({2}, {0, -1})) == "");
  CHECK(difference(target.grad(), array_of({2}, {0, 2})) == "");
  CHECK(message_of([&] { kl_div(x, p); }) ==
        "kl_div: input and target need equal shapes: input (2), target (3)");
}
