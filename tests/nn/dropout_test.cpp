// dropout_test.cpp: the Dropout layer in training and in evaluation.

#include "catch.hpp"
#include "heed/nn/layers.hpp"
#include "heed/ops/mask.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;

}  // namespace

TEST_CASE("in training the Dropout layer draws as dropout does", "[nn][dropout]") {
  Generator one(4), two(4);
  const nn::Dropout layer(0.3, one);
  const Tensor x(random_array({20, 10}, 1));
  CHECK(same_bits(layer(x).value(), dropout(x, 0.3, two).value()));
  CHECK(same_bits(layer(x).value(), dropout(x, 0.3, two).value()));  // the next numbers
}

TEST_CASE("in evaluation the Dropout layer returns its input and draws nothing", "[nn][dropout]") {
  Generator one(4);
  const std::string state = one.state();
  nn::Dropout layer(0.3, one);
  layer.training = false;
  const Tensor x(random_array({20, 10}, 1));
  CHECK(layer(x).node() == x.node());
  CHECK(one.state() == state);
  layer.training = true;
  CHECK(layer(x).node() != x.node());
}

TEST_CASE("p = 0 keeps every element, p = 1 none", "[nn][dropout]") {
  Generator one(4);
  const std::string state = one.state();
  const Tensor x(random_array({5}, 1), true);
  CHECK(difference(nn::Dropout(0, one)(x), x.value(), 0) == "");
  const Tensor nothing = nn::Dropout(1, one)(x);
  CHECK(difference(nothing, zeros({5}), 0) == "");
  backward(nothing, ones({5}));
  CHECK(difference(x.grad(), zeros({5}), 0) == "");
  CHECK(one.state() == state);
}

TEST_CASE("the Dropout layer rejects what is no probability", "[nn][dropout]") {
  Generator one(4);
  CHECK(message_of([&] { nn::Dropout(1.5, one); }) == "Dropout: p = 1.5 is not in [0, 1]");
  CHECK(message_of([&] { nn::Dropout(-0.1, one); }) == "Dropout: p = -0.1 is not in [0, 1]");
  CHECK(message_of([&] { nn::Dropout(not_a_number, one); }) != "");
}

TEST_CASE("a Dropout without a generator throws in training only", "[nn][dropout]") {
  Generator generator(1);
  nn::Dropout dropout(0.5, generator);
  dropout.generator = nullptr;
  const Tensor x(ones({2}));
  CHECK(message_of([&] { dropout(x); }) ==
        "Dropout: has no generator; set `generator`, or training = false");
  dropout.training = false;
  CHECK((dropout(x).value() == x.value()));
}
