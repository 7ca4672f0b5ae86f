// elementwise_loss_test.cpp: squared error, binary cross-entropy and the Huber loss by hand.

#include <cmath>

#include "catch.hpp"
#include "heed/ops/activation.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/loss.hpp"
#include "heed/ops/reduce.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;
using X = const std::vector<Tensor>&;

const Array errors = array_of({4}, {0.5, -0.5, 3, -3}), no_target = zeros({4});

Function bce(Reduction reduction) {
  return [=](X x) { return binary_cross_entropy_with_logits(x[0], x[1], reduction); };
}

}  // namespace

TEST_CASE("the squared error is (input - target)^2, its gradient 2 (input - target)",
          "[ops][loss]") {
  const Tensor input = tensor_of({3}, {1, 2, 5}), target = tensor_of({3}, {1, 4, 2});
  CHECK(difference(mse_loss(input, target, Reduction::none), array_of({3}, {0, 4, 9})) == "");
  CHECK(mse_loss(input, target, Reduction::sum).item() == 13);
  const Tensor loss = mse_loss(input, target);
  CHECK(difference(loss, array_of({}, {13.0 / 3})) == "");
  loss.backward();
  CHECK(difference(input.grad(), array_of({3}, {0, -4.0 / 3, 2})) == "");
  CHECK(difference(target.grad(), array_of({3}, {0, 4.0 / 3, -2})) == "");
}

TEST_CASE("the Huber loss is quadratic up to delta, then linear with slope delta", "[ops][loss]") {
  const Tensor input(errors, true);
  const Tensor loss = huber_loss(input, Tensor(no_target), Reduction::none);
  CHECK(difference(loss, array_of({4}, {0.125, 0.125, 2.5, 2.5})) == "");
  sum(loss).backward();
  CHECK(difference(input.grad(), array_of({4}, {0.5, -0.5, 1, -1})) == "");
  CHECK(difference(huber_loss(input, Tensor(no_target), Reduction::none, 2),
                   array_of({4}, {0.125, 0.125, 4, 4})) == "");
}

TEST_CASE("with a large delta the Huber loss is half the squared error", "[ops][loss]") {
  const auto huber = [](X x) { return huber_loss(x[0], x[1], Reduction::mean, 100); };
  const auto half = [](X x) { return mse_loss(x[0], x[1]) * 0.5; };
  CHECK(twin_difference(huber, half, {errors, random_array({4}, 3)}) == "");
}

TEST_CASE("binary cross-entropy of an infinite logit is 0 or infinite", "[ops][loss]") {
  const Tensor x = tensor_of({4}, {infinity, -infinity, infinity, -infinity});
  const Tensor loss =
      binary_cross_entropy_with_logits(x, Tensor(array_of({4}, {1, 0, 0, 1})), Reduction::none);
  CHECK((loss.value() == array_of({4}, {0, 0, infinity, infinity})));
  backward(loss, ones({4}));
  CHECK((x.grad() == array_of({4}, {0, 0, 1, -1})));
}

TEST_CASE("binary cross-entropy is -t ln p - (1 - t) ln (1 - p) with p = sigmoid(x)",
          "[ops][loss]") {
  const auto plain = [](X x) {
    const Tensor p = sigmoid(x[0]);
    return mean(-(x[1] * log(p)) - (1 - x[1]) * log(1 - p));
  };
  const std::vector<Array> inputs{random_array({3, 4}, 1, -3, 3), random_array({3, 4}, 2, 0, 1)};
  CHECK(twin_difference(bce(Reduction::mean), plain, inputs) == "");
}

TEST_CASE("binary cross-entropy of large logits does not overflow", "[ops][loss]") {
  const Array logits = array_of({4}, {1000, -1000, 1000, -1000});
  const Array targets = array_of({4}, {1, 0, 0, 1});
  CHECK(difference(bce(Reduction::none)({Tensor(logits), Tensor(targets)}),
                   array_of({4}, {0, 0, 1000, 1000})) == "");
  CHECK(difference(gradients(bce(Reduction::none), {logits, targets}, ones({4}))[0],
                   array_of({4}, {0, 0, 1, -1})) == "");
}

TEST_CASE("binary cross-entropy of an infinite logit is infinite for a target inside (0, 1)",
          "[ops][loss]") {
  const Tensor logits = tensor_of({2}, {infinity, -infinity}), half = tensor_of({2}, {0.5, 0.5});
  CHECK(difference(bce(Reduction::none)({logits, half}), array_of({2}, {infinity, infinity})) ==
        "");
}

TEST_CASE("NaN in input or target stays NaN in the losses and their gradients", "[ops][loss]") {
  const Tensor x = tensor_of({2}, {not_a_number, 1}), t = tensor_of({2}, {0.5, not_a_number});
  const Array nans = array_of({2}, {not_a_number, not_a_number});
  CHECK(difference(mse_loss(x, t, Reduction::none), nans) == "");
  CHECK(difference(huber_loss(x, t, Reduction::none), nans) == "");
  CHECK(difference(bce(Reduction::none)({x, t}), nans) == "");
  sum(huber_loss(x, t, Reduction::none)).backward();
  CHECK(difference(x.grad(), nans) == "");
}

TEST_CASE("the mean loss of no elements is NaN, the sum 0", "[ops][loss]") {
  const Tensor none(zeros({0, 3}));
  CHECK(std::isnan(mse_loss(none, none).item()));
  CHECK(huber_loss(none, none, Reduction::sum).item() == 0);
  CHECK(bce(Reduction::none)({none, none}).shape() == Shape({0, 3}));
}

TEST_CASE("the elementwise losses reject different shapes, and delta must be above 0",
          "[ops][loss]") {
  const Tensor x = Tensor(ones({2, 3})).set_name("prediction"), t(ones({3}));
  const std::string rest = ": input and target need equal shapes: prediction (2, 3), target (3)";
  CHECK(message_of([&] { mse_loss(x, t); }) == "mse_loss" + rest);
  CHECK(message_of([&] { huber_loss(x, t); }) == "huber_loss" + rest);
  CHECK(message_of([&] { binary_cross_entropy_with_logits(x, t); }) ==
        "binary_cross_entropy_with_logits" + rest);
  for (const double delta : {0.0, -1.0, not_a_number}) {
    const std::string message = message_of([&] { huber_loss(t, t, Reduction::mean, delta); });
    CHECK(message.rfind("huber_loss: delta = ", 0) == 0);
    CHECK(message.find(" must be above 0") != message.npos);
  }
}
