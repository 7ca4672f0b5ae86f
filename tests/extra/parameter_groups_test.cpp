// parameter_groups_test.cpp: an optimizer of several groups of parameters.

#include "heed/extra/parameter_groups.hpp"

#include "catch.hpp"
#include "heed/optim/adamw.hpp"
#include "heed/optim/sgd.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;

Tensor parameter(const char* name) {
  Tensor p = tensor_of({1}, {1}).set_name(name);
  p.mutable_grad() = ones({1});
  return p;
}

}  // namespace

TEST_CASE("each group is updated with its own options", "[extra][parameter_groups]") {
  const Tensor a = parameter("a"), b = parameter("b");
  optim::ParameterGroups groups(optim::Sgd({a}, {0.1}), optim::Sgd({b}, {0.01}));
  groups.step();
  CHECK(difference(a, array_of({1}, {0.9})) == "");
  CHECK(difference(b, array_of({1}, {0.99})) == "");
  CHECK(groups.size() == 2);
  CHECK(groups.parameters().size() == 2);
  groups.zero_grad();
  CHECK_FALSE(a.has_grad());
  CHECK_FALSE(b.has_grad());
}

TEST_CASE("set_lr multiplies the rates of all groups by one factor", "[extra][parameter_groups]") {
  optim::ParameterGroups groups(optim::Sgd({parameter("a")}, {0.5}),
                                optim::Sgd({parameter("b")}, {0.25}));
  groups.set_lr(0.125);
  groups.set_lr(1);
  CHECK(groups.lr() == 1);
  CHECK(groups.group(1).lr() == 0.5);
  groups.group(1).set_lr(3);
  CHECK(groups.group(1).lr() == 3);
  optim::ParameterGroups at_rest(optim::Sgd({parameter("a")}, {0.0}));
  CHECK(message_of([&] { at_rest.set_lr(1); }) ==
        "ParameterGroups: the initial lr of group 0 is 0, so that 1 is no multiple of it; call "
        "set_lr of each group");
}

TEST_CASE("a state that was saved continues all groups", "[extra][parameter_groups]") {
  const auto steps = [](int before, int after) {
    const Tensor a = parameter("a.weight"), b = parameter("b");
    const auto make = [&] {
      return std::vector<std::shared_ptr<optim::Optimizer>>{
          std::make_shared<optim::AdamW>(std::vector<Tensor>{a}),
          std::make_shared<optim::AdamW>(std::vector<Tensor>{b})};
    };
    optim::ParameterGroups first(make());
    for (int i = 0; i < before; ++i) first.step();
    optim::ParameterGroups second(make());
    second.set_state(first.state());
    for (int i = 0; i < after; ++i) second.step();
    CHECK(second.state().step == before + after);
    return a.value()(0) + b.value()(0);
  };
  CHECK(steps(1, 2) == steps(3, 0));
}

TEST_CASE("the errors of parameter groups name the parameter", "[extra][parameter_groups]") {
  const Tensor a = parameter("a");
  CHECK(message_of([&] { optim::ParameterGroups(optim::Sgd({a}), optim::Sgd({a})); }) ==
        "ParameterGroups: parameter 1, a (1), occurs twice");
  CHECK(message_of([&] {
          optim::ParameterGroups groups(optim::Sgd({a}));
          groups.set_state({{{"b.momentum", ones({1})}}, 1});
        }) == "optimizer state: 'b.momentum' belongs to no parameter");
  CHECK(message_of([] {
          optim::ParameterGroups(std::vector<std::shared_ptr<optim::Optimizer>>());
        }) == "ParameterGroups: the list of parameters is empty");
}
