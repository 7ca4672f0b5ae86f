// optimizer_test.cpp: Sgd and AdamW against PyTorch, and saving and restoring their states.

#include "heed/optim/optimizer.hpp"

#include <limits>

#include "catch.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/reduce.hpp"
#include "heed/optim/adamw.hpp"
#include "heed/optim/sgd.hpp"
#include "near.hpp"

namespace {

using namespace heed;
using namespace heed::test;
using optim::AdamW;
using optim::AdamWOptions;
using optim::Sgd;
using optim::SgdOptions;
using optim::State;

std::vector<Tensor> two_parameters() {
  return {tensor_of({2, 2}, {1, -2, 0.5, 3}).set_name("w"),
          tensor_of({2}, {0.25, -1}).set_name("b")};
}

// The gradients of the PyTorch reference runs in step t: (t + 1) w - 1, and t / 2 - b.
void set_gradients(std::vector<Tensor>& parameters, int t) {
  for (Tensor& p : parameters) {
    p.clear_grad();
    const bool matrix = p.dim() == 2;
    Array g = p.value();
    for (Real& v : g)
      v = matrix ? v * static_cast<Real>(t + 1) - 1 : static_cast<Real>(0.5 * t) - v;
    p.mutable_grad() = g;
    p.node()->has_grad = true;
  }
}

template <class Optimizer>
void take_steps(Optimizer& optimizer, std::vector<Tensor>& parameters, int from, int to) {
  for (int t = from; t < to; ++t) {
    set_gradients(parameters, t);
    optimizer.step();
  }
}

// "" when four steps give the parameters that PyTorch 1.13.1 gives.
template <class Optimizer, class Options>
std::string four_step_difference(const Options& options, std::initializer_list<double> w,
                                 std::initializer_list<double> b) {
  std::vector<Tensor> parameters = two_parameters();
  Optimizer optimizer(parameters, options);
  take_steps(optimizer, parameters, 0, 4);
  return difference(parameters[0], array_of({2, 2}, w), 5e-7) +
         difference(parameters[1], array_of({2}, b), 5e-7);
}

SgdOptions sgd(double lr, double momentum = 0, double dampening = 0, double weight_decay = 0,
               bool nesterov = false) {
  return {lr, momentum, dampening, weight_decay, nesterov};
}

AdamWOptions adamw(double lr, double beta1, double beta2, double eps, double weight_decay) {
  AdamWOptions options;
  options.lr = lr;
  options.beta1 = beta1;
  options.beta2 = beta2;
  options.eps = eps;
  options.weight_decay = weight_decay;
  return options;
}

// Whether restoring another optimizer after three of six steps gives the same bits.
template <class Optimizer, class Options>
bool resumes(const Options& options) {
  std::vector<Tensor> expected = two_parameters(), actual = two_parameters();
  Optimizer uninterrupted(expected, options), first(actual, options), second(actual, options);
  take_steps(uninterrupted, expected, 0, 6);
  take_steps(first, actual, 0, 3);
  second.set_state(first.state());
  take_steps(second, actual, 3, 6);
  return same_bits(expected[0].value(), actual[0].value()) &&
         same_bits(expected[1].value(), actual[1].value());
}

template <class Optimizer, class Options>
std::string error_of(const Options& options) {
  return message_of([&] { Optimizer(two_parameters(), options); });
}

}  // namespace

TEST_CASE("one step of Sgd by hand: p - lr g", "[optim][sgd]") {
  std::vector<Tensor> p{tensor_of({2}, {1, 2})};
  backward(p[0], array_of({2}, {10, -10}));
  Sgd(p, sgd(0.1)).step();
  CHECK(difference(p[0], array_of({2}, {0, 3})) == "");
}

TEST_CASE("four steps of Sgd give the parameters of PyTorch", "[optim][sgd]") {
  CHECK(four_step_difference<Sgd>(sgd(0.1), {0.537999988, -0.369199961, 0.386800021, 1.14279997},
                                  {0.0455249883, -1.7845999}) == "");
  CHECK(four_step_difference<Sgd>(sgd(0.1, 0.9), {0.25, 1.06000006, 0.38499999, -0.289999902},
                                  {0.00749999285, -2.55500007}) == "");
  CHECK(four_step_difference<Sgd>(sgd(0.1, 0.9, 0.5, 0.1),
                                  {0.532165349, 0.29904753, 0.493312329, 0.687577307},
                                  {0.158021808, -1.8537153}) == "");
  CHECK(four_step_difference<Sgd>(sgd(0.1, 0.9, 0, 0.1, true),
                                  {0.0849153027, 0.992814183, 0.236231789, -0.520350635},
                                  {-0.210005298, -3.20777273}) == "");
}

TEST_CASE("the first step of AdamW is lr for gradients of any size", "[optim][adamw]") {
  for (const double size : {1e-3, 1.0, 1e3}) {
    std::vector<Tensor> p{tensor_of({2}, {1, 2})};
    backward(p[0], array_of({2}, {size, -size}));
    AdamW(p, adamw(0.1, 0.9, 0.999, 0, 0)).step();
    CHECK(difference(p[0], array_of({2}, {0.9, 2.1})) == "");
  }
}

TEST_CASE("two steps of AdamW by hand", "[optim][adamw]") {
  std::vector<Tensor> p{tensor_of({1}, {2})};
  AdamW optimizer(p, adamw(0.5, 0.5, 0.75, 0, 0.1));
  backward(p[0], array_of({1}, {4}));
  optimizer.step();  // m = 2, v = 4, both corrected: 4, 16; 2 * 0.95 - 0.5
  CHECK(difference(p[0], array_of({1}, {1.4})) == "");
  p[0].clear_grad();
  backward(p[0], array_of({1}, {-2}));
  optimizer.step();  // m = 0, so only decay: 1.4 * 0.95
  CHECK(difference(p[0], array_of({1}, {1.33})) == "");
}

TEST_CASE("four steps of AdamW and Adam give the parameters of PyTorch", "[optim][adamw]") {
  CHECK(four_step_difference<AdamW>(adamw(0.1, 0.9, 0.999, 1e-8, 0.01),
                                    {0.749047637, -1.59695518, 0.524696231, 2.60485554},
                                    {0.244360536, -1.39033508}) == "");
  CHECK(four_step_difference<AdamW>(adamw(0.1, 0.8, 0.95, 1e-3, 0.3),
                                    {0.632662892, -1.38736939, 0.449674308, 2.28082561},
                                    {0.184723526, -1.26760721}) == "");
  AdamWOptions l2 = adamw(0.1, 0.9, 0.999, 1e-8, 0.3);
  l2.decoupled = false;
  CHECK(four_step_difference<AdamW>(l2, {0.624808073, -1.6026628, 0.45517379, 2.61029005},
                                    {0.18248266, -1.39130139}) == "");
}

TEST_CASE("decay_vectors = false excludes vectors from weight decay", "[optim][adamw]") {
  AdamWOptions options = adamw(0.1, 0.9, 0.999, 1e-8, 0.3);
  options.decay_vectors = false;
  CHECK(four_step_difference<AdamW>(options, {0.644142389, -1.39147127, 0.4705652, 2.28753352},
                                    {0.245764121, -1.39490569}) == "");
}

TEST_CASE("AdamW updates all elements equally for every parameter size", "[optim][adamw]") {
  for (std::size_t n = 0; n < 40; ++n) {
    std::vector<Tensor> p{Tensor(ones({n}), true)};
    backward(p[0], filled({n}, 3));
    AdamW(p, adamw(0.5, 0.9, 0.999, 0, 0)).step();
    CHECK(difference(p[0], filled({n}, 0.5)) == "");
  }
}

TEST_CASE("set_lr takes effect at the next step", "[optim]") {
  std::vector<Tensor> p{tensor_of({1}, {1})}, q{tensor_of({1}, {1})};
  Sgd plain(p, sgd(0.1));
  AdamW adaptive(q, adamw(0.1, 0.9, 0.999, 0, 0));
  backward(p[0], ones({1}));
  backward(q[0], ones({1}));
  plain.set_lr(0.5);
  adaptive.set_lr(0.25);
  plain.step();
  adaptive.step();
  CHECK(difference(p[0], array_of({1}, {0.5})) == "");
  CHECK(difference(q[0], array_of({1}, {0.75})) == "");
}

TEST_CASE("a step does not change parameters without a gradient", "[optim]") {
  std::vector<Tensor> p = two_parameters();
  backward(p[0], ones({2, 2}));
  Sgd(p, sgd(0.1, 0.9)).step();
  AdamW(p, adamw(0.1, 0.9, 0.999, 1e-8, 0.5)).step();
  CHECK((p[1].value() == array_of({2}, {0.25, -1})));
  CHECK(p[0].value()(0, 0) != 1);
}

TEST_CASE("zero_grad clears every gradient", "[optim]") {
  std::vector<Tensor> p = two_parameters();
  backward(p[0], ones({2, 2}));
  optim::zero_grad(p);
  CHECK_FALSE(p[0].has_grad());
}

TEST_CASE("an optimizer restored from its state continues with the same bits", "[optim][state]") {
  CHECK(resumes<Sgd>(sgd(0.1, 0.9, 0.5, 0.1)));
  CHECK(resumes<Sgd>(sgd(0.1)));
  CHECK(resumes<Sgd>(sgd(0.1, 0.9, 0, 0.1, true)));
  CHECK(resumes<AdamW>(adamw(0.1, 0.8, 0.95, 1e-3, 0.3)));
}

TEST_CASE("a state has named arrays and the number of steps", "[optim][state]") {
  std::vector<Tensor> p = two_parameters();
  AdamW optimizer(p, {});
  take_steps(optimizer, p, 0, 3);
  const State state = optimizer.state();
  CHECK(state.step == 3);
  REQUIRE(state.arrays.size() == 4);
  CHECK(state.arrays[0].first == "w.exp_avg");
  CHECK(state.arrays[1].first == "b.exp_avg");
  CHECK(state.arrays[2].first == "w.exp_avg_sq");
  CHECK(state.arrays[3].first == "b.exp_avg_sq");
  Sgd with_momentum(p, sgd(0.1, 0.9));
  take_steps(with_momentum, p, 0, 1);
  CHECK(with_momentum.state().arrays[0].first == "w.momentum");
}

TEST_CASE("a state saved before the first step can be restored", "[optim][state]") {
  std::vector<Tensor> p = two_parameters();
  Sgd plain(p, sgd(0.1, 0.9)), other(p, sgd(0.1, 0.9));
  CHECK(plain.state().arrays.empty());
  other.set_state(plain.state());
  AdamW adaptive(p, {}), another(p, {});
  another.set_state(adaptive.state());
  CHECK(another.state().step == 0);
}

TEST_CASE("set_state rejects a state that does not fit and changes nothing", "[optim][state]") {
  std::vector<Tensor> p = two_parameters();
  AdamW optimizer(p, {});
  take_steps(optimizer, p, 0, 1);
  const State good = optimizer.state();
  State missing = good, reshaped = good, foreign = good;
  missing.arrays.erase(missing.arrays.begin() + 3);
  reshaped.arrays[1].second = zeros({3});
  foreign.arrays.emplace_back("head.exp_avg", zeros({2}));
  State twice = good;
  twice.arrays.emplace_back("w.exp_avg", zeros({2}));
  CHECK(message_of([&] { optimizer.set_state(twice); }) ==
        "optimizer state: 'w.exp_avg' is there twice; leave one of them out");
  CHECK(message_of([&] { optimizer.set_state(missing); }) == "optimizer state: no 'b.exp_avg_sq'");
  CHECK(message_of([&] { optimizer.set_state(reshaped); }) ==
        "optimizer state: 'b.exp_avg' has shape (3), but its parameter has (2)");
  CHECK(message_of([&] { optimizer.set_state(foreign); }) ==
        "optimizer state: 'head.exp_avg' belongs to no parameter");
  CHECK(message_of([&] { Sgd(p, sgd(0.1, 0.9)).set_state(good); }) ==
        "optimizer state: 'w.exp_avg' belongs to no parameter");
  State invalid = good;
  for (const std::int64_t step : {std::int64_t{-1}, std::numeric_limits<std::int64_t>::max()}) {
    invalid.step = step;
    CHECK(message_of([&] { optimizer.set_state(invalid); }) ==
          "optimizer state: step " + std::to_string(step) + " must be 0 to 2^53");
  }
  CHECK(same_bits(optimizer.state().arrays[1].second, good.arrays[1].second));
  State longest = good;
  longest.step = std::int64_t{1} << 53;
  optimizer.set_state(longest);
  CHECK(optimizer.state().step == longest.step);
}

TEST_CASE("a state of parameters with one name is rejected", "[optim][state]") {
  std::vector<Tensor> p = two_parameters();
  p[1].set_name(p[0].name());
  const AdamW optimizer(p, {});
  CHECK(message_of([&] { optimizer.state(); }) ==
        "optimizer state: two parameters have the name 'w'; give each its own");
}

TEST_CASE("a step rejects parameters and gradients whose shape was changed, and changes nothing",
          "[optim]") {
  std::vector<Tensor> p = two_parameters();
  AdamW adam(p, {});
  Sgd heavy(p, sgd(0.1, 0.9));
  for (const Tensor& parameter : p) backward(parameter, ones(parameter.shape()));
  heavy.step();
  const Array first = p[0].value();
  p[1].mutable_grad() = ones({3});
  const std::string gradient = "step: b (2) has a gradient of shape (3); they must be equal";
  CHECK(message_of([&] { adam.step(); }) == gradient);
  CHECK(message_of([&] { heavy.step(); }) == gradient);
  p[1].mutable_value() = ones({3});
  const std::string value =
      "step: the optimizer's state of b (3) has the shape (2); make a new optimizer";
  CHECK(message_of([&] { adam.step(); }) == value);
  CHECK(message_of([&] { heavy.step(); }) == value);
  CHECK((p[0].value() == first));
}

TEST_CASE("Sgd rejects options out of range", "[optim][sgd]") {
  CHECK(error_of<Sgd>(sgd(-0.1)) == "Sgd: lr -0.1 must be 0 or more");
  CHECK(error_of<Sgd>(sgd(not_a_number)) == "Sgd: lr nan must be 0 or more");
  CHECK(error_of<Sgd>(sgd(0.1, -1)) == "Sgd: momentum -1 must be 0 or more");
  CHECK(error_of<Sgd>(sgd(0.1, 0, 0, -1)) == "Sgd: weight_decay -1 must be 0 or more");
  CHECK(error_of<Sgd>(sgd(0.1, 0.9, not_a_number)) == "Sgd: dampening nan must be finite");
  const std::string nesterov = "Sgd: nesterov needs momentum above 0 and no dampening";
  CHECK(error_of<Sgd>(sgd(0.1, 0, 0, 0, true)) == nesterov);
  CHECK(error_of<Sgd>(sgd(0.1, 0.9, 0.1, 0, true)) == nesterov);
}

TEST_CASE("Sgd and AdamW accept a learning rate and a weight decay of 0", "[optim]") {
  std::vector<Tensor> p = two_parameters();
  const Array before = p[0].value();
  backward(p[0], ones({2, 2}));
  Sgd plain(p, sgd(0));
  plain.step();
  AdamW(p, adamw(0, 0, 0, 1e-8, 0)).step();
  CHECK((p[0].value() == before));
  plain.set_lr(0);
}

TEST_CASE("without momentum the state of Sgd has no arrays", "[optim][sgd]") {
  std::vector<Tensor> p = two_parameters();
  backward(p[0], ones({2, 2}));
  Sgd plain(p, sgd(0.1)), heavy(p, sgd(0.1, 1));
  plain.step(), heavy.step();
  CHECK(plain.state().arrays.empty());
  CHECK(heavy.state().arrays.size() == 1);
}

TEST_CASE("AdamW rejects options out of range", "[optim][adamw]") {
  CHECK(error_of<AdamW>(adamw(-1, 0.9, 0.9, 0, 0)) == "AdamW: lr -1 must be 0 or more");
  CHECK(error_of<AdamW>(adamw(1, 1, 0.9, 0, 0)) == "AdamW: beta1 1 must be in [0, 1)");
  CHECK(error_of<AdamW>(adamw(1, -0.1, 0.9, 0, 0)) == "AdamW: beta1 -0.1 must be in [0, 1)");
  CHECK(error_of<AdamW>(adamw(1, 0.9, 1.5, 0, 0)) == "AdamW: beta2 1.5 must be in [0, 1)");
  CHECK(error_of<AdamW>(adamw(1, 0.9, 0.9, -1, 0)) == "AdamW: eps -1 must be 0 or more");
  CHECK(error_of<AdamW>(adamw(1, 0.9, 0.9, 0, -1)) == "AdamW: weight_decay -1 must be 0 or more");
}

TEST_CASE("a parameter without a name can be trained, but its state cannot be saved",
          "[optim][state]") {
  std::vector<Tensor> p = two_parameters();
  p[1] = tensor_of({2}, {0.25, -1});
  AdamW adaptive(p, {});
  Sgd plain(p, sgd(0.1, 0.9));
  take_steps(adaptive, p, 0, 1);
  take_steps(plain, p, 1, 2);
  CHECK(p[1].value()(0) != Real(0.25));
  const std::string error =
      "optimizer state: a parameter (2) has no name; name every parameter whose state is saved";
  CHECK(message_of([&] { adaptive.state(); }) == error);
  CHECK(message_of([&] { plain.state(); }) == error);
}

TEST_CASE("an optimizer rejects an empty list, an undefined tensor and one that occurs twice",
          "[optim]") {
  const Tensor w = tensor_of({2}, {1, 2}).set_name("w"), copy = w;
  CHECK(message_of([] { Sgd({}); }) == "Sgd: the list of parameters is empty");
  CHECK(message_of([] { AdamW({}); }) == "AdamW: the list of parameters is empty");
  CHECK(message_of([&] { Sgd({w, Tensor()}); }) == "Sgd: parameter 1, x (not given), is undefined");
  CHECK(message_of([&] {
          AdamW({w, tensor_of({1}, {1}), copy});
        }) == "AdamW: parameter 2, w (2), occurs twice");
}

TEST_CASE("an optimizer rejects the result of an operation and names its place", "[optim]") {
  const Tensor w = tensor_of({2}, {1, 2});
  const int made = __LINE__ + 1;
  const Tensor y = w * 2.0;
  CHECK(message_of([&] { Sgd({y}); }) ==
        "Sgd: parameter 0, x (2), is the result of Scale made at " + std::string(__FILE__) + ":" +
            std::to_string(made) + "; give the tensors that it depends on");
}

TEST_CASE("a tensor that requires no gradient keeps its value", "[optim]") {
  const Tensor w = tensor_of({2}, {1, 2}), constant(ones({2}));
  optim::SgdOptions options;
  options.lr = 1;
  Sgd optimizer({w, constant}, options);
  sum(w * constant).backward();
  optimizer.step();
  CHECK(difference(w, array_of({2}, {0, 1})) == "");
  CHECK(difference(constant, ones({2})) == "");
}

TEST_CASE("two optimizers with a common parameter both change it", "[optim]") {
  const Tensor w = tensor_of({1}, {1});
  optim::SgdOptions options;
  options.lr = 0.25;
  Sgd one({w}, options), two({w}, options);
  sum(w).backward();
  one.step();
  two.step();
  CHECK(difference(w, array_of({1}, {0.5})) == "");
}

TEST_CASE("set_lr rejects a negative rate and NaN, and keeps the old rate", "[optim]") {
  AdamW adamw(two_parameters());
  Sgd sgd(two_parameters());
  for (optim::Optimizer* const optimizer :
       {static_cast<optim::Optimizer*>(&adamw), static_cast<optim::Optimizer*>(&sgd)}) {
    const double before = optimizer->lr();
    for (const double lr : {-0.1, not_a_number})
      CHECK(message_of([&] { optimizer->set_lr(lr); }).find(": lr ") != std::string::npos);
    CHECK(optimizer->lr() == before);
    optimizer->set_lr(0);
    CHECK(optimizer->lr() == 0);
  }
}

TEST_CASE("an optimizer of any kind trains through the interface Optimizer", "[optim]") {
  const Tensor a = tensor_of({2}, {1, -2}), b = tensor_of({2}, {1, -2});
  Sgd sgd({a});
  AdamW adamw({b});
  const std::vector<std::pair<optim::Optimizer*, Tensor>> both{{&sgd, a}, {&adamw, b}};
  for (const auto& [optimizer, w] : both) {
    optimizer->set_lr(0.1);
    const Real first = sum(w * w).item();
    for (int step = 0; step < 20; ++step) {
      optimizer->zero_grad();
      sum(w * w).backward();
      optimizer->step();
    }
    CHECK(sum(w * w).item() < first / 4);
    CHECK(optimizer->parameters().size() == 1);
  }
}

TEST_CASE("a frozen parameter keeps its value, also if it still has a gradient", "[optim]") {
  for (const bool adam : {true, false}) {
    std::vector<Tensor> p = two_parameters();
    set_gradients(p, 1);
    p[0].node()->requires_grad = false;
    const Array before = p[0].value(), other = p[1].value();
    if (adam)
      AdamW(p).step();
    else
      Sgd(p).step();
    CHECK((p[0].value() == before));
    CHECK((p[1].value() != other));
  }
}

TEST_CASE("optimizers throw for an infinite learning rate", "[optim]") {
  AdamWOptions infinite;
  infinite.lr = infinity;
  CHECK(message_of([&] { AdamW(two_parameters(), infinite); }) == "AdamW: lr inf must be finite");
  Sgd sgd(two_parameters());
  CHECK(message_of([&] { sgd.set_lr(infinity); }) == "Sgd: lr inf must be finite");
}
