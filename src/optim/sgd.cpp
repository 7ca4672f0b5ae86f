// sgd.cpp: stochastic gradient descent with momentum.

#include "heed/optim/sgd.hpp"

#include <cmath>
#include <utility>

#include "heed/array/map.hpp"
#include "optim/state.hpp"

namespace HEED_NAMESPACE::optim {

Sgd::Sgd(std::vector<Tensor> parameters, const SgdOptions& options, SourceLocation location)
    : Optimizer("Sgd", std::move(parameters), location), options_(options) {
  const CallSite site(location);
  const double lr = options.lr, momentum = options.momentum, weight_decay = options.weight_decay;
  check_option("Sgd", "lr", lr, lr >= 0, "0 or more");
  check_option("Sgd", "momentum", momentum, momentum >= 0, "0 or more");
  check_option("Sgd", "weight_decay", weight_decay, weight_decay >= 0, "0 or more");
  check_option("Sgd", "dampening", options.dampening, std::isfinite(options.dampening), "finite");
  if (options.nesterov && (momentum == 0 || options.dampening != 0))
    throw_error("Sgd: nesterov needs momentum above 0 and no dampening");
  momenta_.assign(parameters_.size(), undefined_array());
}

void Sgd::set_lr(double lr, SourceLocation location) {
  const CallSite site(location);
  check_option("Sgd", "lr", lr, lr >= 0, "0 or more");
  options_.lr = lr;
}

void Sgd::step(SourceLocation location) {
  const CallSite site(location);
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    if (is_updated(parameters_[i])) check_shapes(parameters_[i], momenta_[i]);
  const Real momentum = static_cast<Real>(options_.momentum), lr = static_cast<Real>(options_.lr);
  const Real grad_weight = static_cast<Real>(1 - options_.dampening);
  const Real decay = static_cast<Real>(options_.weight_decay);
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (!is_updated(parameters_[i])) continue;
    Array& p = parameters_[i].mutable_value(location);
    Array g = map([=](auto grad, auto w) { return grad + decay * w; }, parameters_[i].grad(), p);
    if (options_.momentum != 0) {
      Array& b = momenta_[i];
      const auto average = [=](auto m, auto grad) { return momentum * m + grad_weight * grad; };
      const auto nesterov = [=](auto grad, auto m) { return grad + momentum * m; };
      b = is_defined(b) ? map(average, b, g) : g;
      g = options_.nesterov ? map(nesterov, g, b) : b;
    }
    p = map([=](auto w, auto grad) { return w - lr * grad; }, p, g);
  }
  ++step_;
}

State Sgd::state(SourceLocation location) const {
  const CallSite site(location);
  State state{{}, step_};
  append_arrays(state, parameters_, momenta_, "momentum");
  return state;
}

void Sgd::set_state(const State& state, SourceLocation location) {
  const CallSite site(location);
  // A parameter that never had a gradient has no momentum array, so none is required.
  std::vector<std::vector<Array>> found = find_arrays(state, parameters_, {"momentum"}, false);
  momenta_ = std::move(found[0]);
  step_ = state.step;
}

}  // namespace HEED_NAMESPACE::optim
