// parameters_test.cpp: tests of Parameters and Scope.

#include "heed/nn/parameters.hpp"

#include "catch.hpp"
#include "heed/gemm/bf16.hpp"
#include "heed/nn/layers.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;

}  // namespace

TEST_CASE("a parameter has its dotted name and requires a gradient", "[nn][parameters]") {
  Parameters store;
  Generator generator(1);
  const Scope scope(store, generator);
  const Tensor weight = (scope / "blocks" / 3 / "up").parameter("weight", ones({2, 3}));
  CHECK(weight.name() == "blocks.3.up.weight");
  CHECK(weight.requires_grad());
  CHECK(store.at("blocks.3.up.weight").node() == weight.node());
  CHECK(scope.parameter("scale", scalar(1)).name() == "scale");
}

TEST_CASE("parameters keep the order of their creation and are counted", "[nn][parameters]") {
  Parameters store;
  store.add("b", ones({2, 3}));
  store.add("a", ones({4}));
  store.add("none", zeros({0}));
  CHECK(store.size() == 3);
  CHECK(store.count() == 10);
  std::string names;
  for (const Tensor& parameter : store) names += parameter.name() + " ";
  CHECK(names == "b a none ");
}

TEST_CASE("adding an existing name throws and adds nothing", "[nn][parameters]") {
  Parameters store;
  Generator generator(1);
  store.add("head.weight", ones({2}));
  CHECK(message_of([&] { store.add("head.weight", ones({3})); }) ==
        "parameters: 'head.weight' exists already; give it another name");
  const Scope scope(store, generator, "head");
  CHECK(message_of([&] { scope.parameter("weight", ones({3})); }) ==
        "parameters: 'head.weight' exists already; give it another name");
  CHECK(store.size() == 1);
}

TEST_CASE("the error of an unknown name lists the names", "[nn][parameters]") {
  Parameters store;
  store.add("up.weight", ones({2}));
  store.add("up.bias", ones({2}));
  CHECK(store.find("up.wieght") == nullptr);
  CHECK(store.find("up") == nullptr);
  CHECK(store.find("up.bias") != nullptr);
  CHECK(message_of([&] { store.at("up.wieght"); }) ==
        "parameters: no 'up.wieght'; there are: up.weight, up.bias");
}

TEST_CASE("a name can be used once for a parameter or a matrix in BF16", "[nn][parameters][bf16]") {
  Parameters store;
  CompactMatrices matrices;
  Generator generator(1);
  Scope scope(store, generator, "head");
  scope.compact = &matrices;
  const auto first = scope.compact_matrix("weight", 2, 3);
  scope.parameter("bias", ones({2}));
  const std::string exists = "' exists already; give it another name";
  CHECK(message_of([&] { scope.compact_matrix("weight", 2, 3); }) ==
        "parameters: 'head.weight" + exists);
  CHECK(message_of([&] { scope.parameter("weight", ones({2})); }) ==
        "parameters: 'head.weight" + exists);
  CHECK(message_of([&] { scope.compact_matrix("bias", 2, 3); }) ==
        "parameters: 'head.bias" + exists);
  CHECK(message_of([&] { nn::Linear(scope, 3, 2, false); }) == "parameters: 'head.weight" + exists);
  CHECK(matrices.at("head.weight") == first);
  CHECK(matrices.size() == 1);
  CHECK(store.size() == 1);
}

TEST_CASE("linear layers and embeddings in BF16 have the rounded initial weights",
          "[nn][parameters][bf16]") {
  for (const double std : {0.0, 0.02}) {
    Parameters store, others;
    CompactMatrices matrices;
    Generator generator(1), same(1);
    Scope scope(store, generator), plain(others, same);
    scope.init.std = plain.init.std = std;
    scope.compact = &matrices;
    const nn::Linear linear(scope / "up", 3, 2);
    const nn::Embedding embedding(scope / "token", 5, 4);
    const nn::Linear plain_linear(plain / "up", 3, 2);
    const nn::Embedding plain_embedding(plain / "token", 5, 4);
    CHECK((store.size() == 1 && matrices.size() == 2));
    CHECK(same_bits(linear.bias.value(), plain_linear.bias.value()));
    for (const auto& [name, matrix] : matrices) {
      INFO(name);
      const Array& drawn = others.at(name).value();
      REQUIRE(Shape{matrix->rows(), matrix->columns()} == drawn.shape());
      Array rounded = drawn, held = drawn;
      for (Real& value : rounded)
        value = static_cast<Real>(float_of_bf16(bf16_of_float(static_cast<float>(value))));
      for (std::size_t row = 0; row < matrix->rows(); ++row)
        matrix->copy_row(row, held.data() + row * matrix->columns());
      CHECK(same_bits(held, rounded));
    }
  }
}

TEST_CASE("the names in the error of at() show control characters as text", "[nn][parameters]") {
  Parameters parameters;
  parameters.add("a\x1b[31m\nb", ones({1}));
  CHECK(message_of([&] { parameters.at("q\n"); }) ==
        "parameters: no 'q\\n'; there are: a\\x1b[31m\\nb");
}
