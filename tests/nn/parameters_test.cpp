// parameters_test.cpp: tests of Parameters and Scope.

#include "heed/nn/parameters.hpp"

#include "catch.hpp"
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
