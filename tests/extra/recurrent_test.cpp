// recurrent_test.cpp: the layers GRU and LSTM.

#include "heed/extra/recurrent.hpp"

#include "catch.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/reduce.hpp"
#include "heed/ops/shape.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;

struct Store {
  Parameters parameters;
  Generator random{1};
  Scope scope{parameters, random, "rnn"};
};

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }

// Sets every parameter to one value.
void fill(const Parameters& parameters, Real value) {
  for (const Tensor& p : parameters) p.mutable_value().fill(value);
}

}  // namespace

TEST_CASE("a GRU of one unit by hand", "[extra][recurrent]") {
  Store store;
  const nn::GRU layer(store.scope, 1, 1);
  fill(store.parameters, Real(0.5));
  const auto [output, h_n] = layer(tensor_of({1, 2, 1}, {2, -1}));
  const auto next = [](double x, double h) {
    const double gate = sigmoid_of(0.5 * x + 0.5 * h + 1);
    const double n = std::tanh(0.5 * x + 0.5 + gate * (0.5 * h + 0.5));
    return (1 - gate) * n + gate * h;
  };
  const double first = next(2, 0), second = next(-1, first);
  CHECK(difference(output, array_of({1, 2, 1}, {first, second})) == "");
  CHECK(difference(h_n, array_of({1, 1, 1}, {second})) == "");
}

TEST_CASE("an LSTM of one unit by hand", "[extra][recurrent]") {
  Store store;
  const nn::LSTM layer(store.scope, 1, 1);
  fill(store.parameters, Real(0.5));
  const auto result =
      layer(tensor_of({1, 1, 1}, {2}), tensor_of({1, 1, 1}, {0.5}), tensor_of({1, 1, 1}, {3}));
  const double a = 0.5 * 2 + 0.5 * 0.5 + 1, gate = sigmoid_of(a);
  const double c = gate * 3 + gate * std::tanh(a), h = gate * std::tanh(c);
  CHECK(difference(result.output, array_of({1, 1, 1}, {h})) == "");
  CHECK(difference(result.h_n, array_of({1, 1, 1}, {h})) == "");
  CHECK(difference(result.c_n, array_of({1, 1, 1}, {c})) == "");
}

TEST_CASE("recurrent layers have PyTorch's parameter names", "[extra][recurrent]") {
  Store store;
  nn::RecurrentOptions options;
  options.num_layers = 2;
  options.bidirectional = true;
  const nn::LSTM layer(store.scope, 3, 2, options);
  std::string names;
  for (const Tensor& p : store.parameters) names += p.name() + " " + str(p.shape()) + "\n";
  CHECK(names ==
        "rnn.weight_ih_l0 (8, 3)\nrnn.weight_hh_l0 (8, 2)\nrnn.bias_ih_l0 (8)\nrnn.bias_hh_l0 (8)\n"
        "rnn.weight_ih_l0_reverse (8, 3)\nrnn.weight_hh_l0_reverse (8, 2)\n"
        "rnn.bias_ih_l0_reverse (8)\nrnn.bias_hh_l0_reverse (8)\n"
        "rnn.weight_ih_l1 (8, 4)\nrnn.weight_hh_l1 (8, 2)\nrnn.bias_ih_l1 (8)\nrnn.bias_hh_l1 (8)\n"
        "rnn.weight_ih_l1_reverse (8, 4)\nrnn.weight_hh_l1_reverse (8, 2)\n"
        "rnn.bias_ih_l1_reverse (8)\nrnn.bias_hh_l1_reverse (8)\n");
  const auto result = layer(Tensor(ones({5, 4, 3})));
  CHECK(result.output.shape() == Shape{5, 4, 4});
  CHECK(result.h_n.shape() == Shape{4, 5, 2});
  CHECK(result.c_n.shape() == Shape{4, 5, 2});
}

TEST_CASE("the state continues a sequence", "[extra][recurrent]") {
  Store store;
  const nn::GRU layer(store.scope, 2, 3);
  const Tensor x(random_array({2, 5, 2}, 7));
  const auto whole = layer(x), first = layer(slice(x, 1, 0, 2));
  const auto second = layer(slice(x, 1, 2), first.h_n);
  CHECK(difference(concat({first.output, second.output}, 1), whole.output.value()) == "");
  CHECK(difference(second.h_n, whole.h_n.value()) == "");
}

TEST_CASE("the errors of recurrent layers name the layer and the shapes", "[extra][recurrent]") {
  Store store;
  const nn::GRU layer(store.scope, 2, 3);
  const Tensor x = Tensor(ones({4, 5, 2})).set_name("x");
  CHECK(message_of([&] {
          layer(Tensor(ones({4, 5, 3})).set_name("x"));
        }) == "GRU: x (4, 5, 3) must be (B, T, 2) with T at least 1");
  CHECK(message_of([&] {
          layer(Tensor(ones({4, 0, 2})).set_name("x"));
        }) == "GRU: x (4, 0, 2) must be (B, T, 2) with T at least 1");
  CHECK(message_of([&] {
          layer(x, Tensor(ones({4, 3})));
        }) == "GRU: h_0 (4, 3) must be (D L, B, H) = (1, 4, 3) for x (4, 5, 2)");
  CHECK(message_of([&] { nn::LSTM(store.scope / "other", 2, 0); }) ==
        "LSTM: hidden_size = 0 and num_layers = 1 must be at least 1");
}
