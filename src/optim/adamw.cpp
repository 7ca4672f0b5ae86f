// adamw.cpp: the AdamW optimizer (Loshchilov and Hutter 2019).

#include "heed/optim/adamw.hpp"

#include <cmath>
#include <utility>

#include "heed/array/map.hpp"
#include "heed/autograd/trace/trace.hpp"
#include "optim/state.hpp"

namespace HEED_NAMESPACE::optim {

AdamW::AdamW(std::vector<Tensor> parameters, const AdamWOptions& options, SourceLocation location)
    : Optimizer("AdamW", std::move(parameters), location), options_(options) {
  const CallSite site(location);
  const double lr = options.lr, beta1 = options.beta1, beta2 = options.beta2;
  const double eps = options.eps, weight_decay = options.weight_decay;
  check_option("AdamW", "lr", lr, lr >= 0, "0 or more");
  check_option("AdamW", "beta1", beta1, beta1 >= 0 && beta1 < 1, "in [0, 1)");
  check_option("AdamW", "beta2", beta2, beta2 >= 0 && beta2 < 1, "in [0, 1)");
  check_option("AdamW", "eps", eps, eps >= 0, "0 or more");
  check_option("AdamW", "weight_decay", weight_decay, weight_decay >= 0, "0 or more");
  for (const Tensor& parameter : parameters_) {
    exp_avg_.push_back(zeros(parameter.shape()));
    exp_avg_sq_.push_back(zeros(parameter.shape()));
  }
}

void AdamW::set_lr(double lr, SourceLocation location) {
  const CallSite site(location);
  check_option("AdamW", "lr", lr, lr >= 0, "0 or more");
  options_.lr = lr;
}

void AdamW::step(SourceLocation location) {
  const CallSite site(location);
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    if (is_updated(parameters_[i])) check_shapes(parameters_[i], exp_avg_[i]);
  const OperationTimer timer("AdamW", Phase::forward);
  ++step_;
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    if (is_updated(parameters_[i])) update(parameters_[i], exp_avg_[i], exp_avg_sq_[i], location);
}

// Updates the parameter p and its moments m and v in one pass over p, m, v and the gradient g.
void AdamW::update(const Tensor& parameter, Array& m, Array& v, SourceLocation location) const {
  const double t = static_cast<double>(step_);
  const double correction1 = 1 - std::pow(options_.beta1, t);
  const double sqrt_correction2 = std::sqrt(1 - std::pow(options_.beta2, t));
  const bool decays = options_.decay_vectors || parameter.dim() >= 2;
  const double decay = decays ? options_.weight_decay : 0;
  const Pack decay_factor(static_cast<Real>(options_.decoupled ? 1 - options_.lr * decay : 1));
  const Pack l2_penalty(static_cast<Real>(options_.decoupled ? 0 : decay));
  const Pack beta1(static_cast<Real>(options_.beta1)),
      one_minus_beta1(static_cast<Real>(1 - options_.beta1));
  const Pack beta2(static_cast<Real>(options_.beta2)),
      one_minus_beta2(static_cast<Real>(1 - options_.beta2));
  const Pack step_size(static_cast<Real>(options_.lr / correction1));
  const Pack root(static_cast<Real>(sqrt_correction2)), eps(static_cast<Real>(options_.eps));

  Array& p = parameter.mutable_value(location);
  const Array& g = parameter.grad();
  const std::size_t grain = elementwise_grain / 4;  // the loop reads four arrays and writes three
  parallel_ranges(p.size(), Pack::size, grain, [&](std::size_t begin, std::size_t end) {
    const std::size_t n = end - begin;
    Real *const ps = p.data() + begin, *const ms = m.data() + begin, *const vs = v.data() + begin;
    const Real* const gs = g.data() + begin;
    for (std::size_t i = 0; i < n; i += Pack::size) {
      const std::size_t rest = n - i;
      const Pack decayed = load_next(ps + i, rest) * decay_factor;
      const Pack grad = load_next(gs + i, rest) + l2_penalty * decayed;
      const Pack moment1 = beta1 * load_next(ms + i, rest) + one_minus_beta1 * grad;
      const Pack moment2 = beta2 * load_next(vs + i, rest) + one_minus_beta2 * (grad * grad);
      const Pack denominator = xsimd::sqrt(moment2) / root + eps;
      store_next(decayed - step_size * (moment1 / denominator), ps + i, rest);
      store_next(moment1, ms + i, rest);
      store_next(moment2, vs + i, rest);
    }
  });
}

State AdamW::state(SourceLocation location) const {
  const CallSite site(location);
  State state{{}, step_};
  append_arrays(state, parameters_, exp_avg_, "exp_avg");
  append_arrays(state, parameters_, exp_avg_sq_, "exp_avg_sq");
  return state;
}

void AdamW::set_state(const State& state, SourceLocation location) {
  const CallSite site(location);
  auto arrays = find_arrays(state, parameters_, {"exp_avg", "exp_avg_sq"}, true);
  exp_avg_ = std::move(arrays[0]);
  exp_avg_sq_ = std::move(arrays[1]);
  step_ = state.step;
}

}  // namespace HEED_NAMESPACE::optim
