// adamw.cpp: the AdamW optimizer (Loshchilov and Hutter 2019).

#include "heed/optim/adamw.hpp"

#include <cmath>
#include <utility>

#include "heed/array/map.hpp"
#include "heed/autograd/observer.hpp"
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
  const ObservedOperation operation("AdamW", Phase::forward);
  ++step_;
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    if (is_updated(parameters_[i])) update(parameters_[i], exp_avg_[i], exp_avg_sq_[i], location);
}

// Applies formula(p, m, v, g), which changes p, m and v, to the elements of four arrays, in one
// pass.
template <class Formula>
static void update_elements(const Formula& formula, Array& p, Array& m, Array& v, const Array& g) {
  const std::size_t grain = elementwise_grain / 4;  // the loop reads four arrays and writes three
  parallel_ranges(p.size(), Pack::size, grain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; i += Pack::size) {
      const std::size_t rest = end - i;
      Pack next_p = load_next(p.data() + i, rest), next_m = load_next(m.data() + i, rest),
           next_v = load_next(v.data() + i, rest);
      formula(next_p, next_m, next_v, load_next(g.data() + i, rest));
      store_next(next_p, p.data() + i, rest);
      store_next(next_m, m.data() + i, rest);
      store_next(next_v, v.data() + i, rest);
    }
  });
}

// Updates a parameter and its moments. With L2 penalty, weight_decay * p is added to the gradient.
void AdamW::update(const Tensor& parameter, Array& exp_avg, Array& exp_avg_sq,
                   SourceLocation location) const {
  const auto pack = [](double value) { return Pack(static_cast<Real>(value)); };
  const double t = static_cast<double>(step_);
  const bool decays = options_.decay_vectors || parameter.dim() >= 2;
  const double weight_decay = decays ? options_.weight_decay : 0;
  const Pack decay = pack(options_.decoupled ? 1 - options_.lr * weight_decay : 1);
  const Pack l2_penalty = pack(options_.decoupled ? 0 : weight_decay);
  const Pack beta1 = pack(options_.beta1), one_minus_beta1 = pack(1 - options_.beta1);
  const Pack beta2 = pack(options_.beta2), one_minus_beta2 = pack(1 - options_.beta2);
  const Pack step_size = pack(options_.lr / (1 - std::pow(options_.beta1, t)));
  const Pack root = pack(std::sqrt(1 - std::pow(options_.beta2, t))), eps = pack(options_.eps);
  const auto formula = [=](Pack& p, Pack& m, Pack& v, Pack g) {
    p = p * decay;
    g = g + l2_penalty * p;
    m = beta1 * m + one_minus_beta1 * g;
    v = one_minus_beta2 * (g * g) + beta2 * v;  // GCC rounds only the first product
    p = p - step_size * (m / (xsimd::sqrt(v) / root + eps));
  };
  update_elements(formula, parameter.mutable_value(location), exp_avg, exp_avg_sq,
                  parameter.grad());
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
