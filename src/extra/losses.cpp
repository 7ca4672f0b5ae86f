// losses.cpp: negative log-likelihood, L1 loss, KL divergence, and cross-entropy with class weights
// or class probabilities.

#include "heed/extra/losses.hpp"

#include <numeric>

#include "heed/array/map.hpp"
#include "heed/autograd/record.hpp"
#include "heed/base/error.hpp"
#include "heed/ops/arithmetic.hpp"
#include "heed/ops/mask.hpp"
#include "heed/ops/reduce.hpp"
#include "heed/ops/shape.hpp"
#include "heed/ops/softmax.hpp"

namespace HEED_NAMESPACE {

static Tensor reduced_to(Reduction reduction, const Tensor& losses) {
  if (reduction == Reduction::none) return losses;
  return reduction == Reduction::sum ? sum(losses) : mean(losses);
}

static void check_equal_shapes(std::string_view op, const Tensor& input, const Tensor& target) {
  if (input.shape() != target.shape())
    throw_error(op, ": input and target need equal shapes: ", describe(input, "input"), ", ",
                describe(target, "target"));
}

// ---- nll_loss, and cross_entropy with class weights

// The target classes of a loss: `classes` has 0 where a target is ignored.
struct TargetClasses {
  Indices classes;  // (..., 1)
  Mask ignored;     // (...)
  Array factors;    // (...); the weight of each target's class, 0 where ignored
};

static void check_weights(std::string_view op, const Tensor& x, std::string_view role,
                          const Array& weights) {
  if (x.dim() == 0 || weights.shape() != Shape{x.shape().back()})
    throw_error(op, ": the class weights ", str(weights.shape()), " must be one for each class of ",
                describe(x, role));
}

static void check_smoothing(std::string_view op, double smoothing) {
  if (!(smoothing >= 0 && smoothing <= 1))
    throw_error(op, ": label_smoothing = ", smoothing, " is not in [0, 1]");
}

static TargetClasses checked_targets(std::string_view op, const Tensor& x, std::string_view role,
                                     const Indices& targets, const Array& weights,
                                     std::int64_t ignore_index) {
  const Shape shape = shape_of(targets);
  if (x.dim() == 0 || Shape(x.shape().begin(), x.shape().end() - 1) != shape)
    throw_error(op, ": the targets need the shape of ", role,
                " without its last axis: ", describe(x, role), ", targets ", str(shape));
  check_weights(op, x, role, weights);
  Shape with_one = shape;
  with_one.push_back(1);
  TargetClasses result{indices(with_one), mask(shape), zeros(shape)};
  const auto V = static_cast<std::int64_t>(x.shape().back());
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const std::int64_t target = targets.data()[i];
    result.ignored.data()[i] = target == ignore_index;
    if (target == ignore_index) continue;
    if (target < 0 || target >= V)
      throw_error(op, ": target ", target, " among targets ", str(shape), " is not a class of ",
                  describe(x, role), "; classes are 0 to ", V - 1);
    result.classes.data()[i] = target;
    result.factors.data()[i] = weights.data()[target];
  }
  return result;
}

// The losses -w log p of the targets; with label smoothing s, (1 - s) times these, and s / V times
// the sum of -w_j log p_j over all classes j.
static Tensor weighted_nll(const Tensor& log_p, const TargetClasses& target, const Array& weights,
                           const CrossEntropyOptions& options) {
  const double s = options.label_smoothing;
  Tensor losses = sum(log_p, -1);  // zeros, if there are no classes
  if (log_p.shape().back() > 0) {
    const Tensor chosen = squeeze(gather(log_p, -1, target.classes), -1) * target.factors;
    losses = masked_fill(-chosen, target.ignored, 0);
  }
  if (s != 0) {
    const Tensor of_all = -sum(log_p * weights, -1) / static_cast<double>(log_p.shape().back());
    losses = losses * (1 - s) + masked_fill(of_all, target.ignored, 0) * s;
  }
  if (options.reduction != Reduction::mean) return reduced_to(options.reduction, losses);
  return sum(losses) / std::accumulate(target.factors.begin(), target.factors.end(), 0.0);
}

Tensor cross_entropy(In logits, const Exact<Indices>& targets, Reduction reduction) {
  CrossEntropyOptions options;
  options.reduction = reduction;
  return cross_entropy(logits, targets, options);
}

Tensor cross_entropy(In logits, const Exact<Indices>& targets, const Array& class_weights,
                     const CrossEntropyOptions& options) {
  const TargetClasses checked = checked_targets("cross_entropy", logits, "logits", targets,
                                                class_weights, options.ignore_index);
  check_smoothing("cross_entropy", options.label_smoothing);
  return weighted_nll(log_softmax(logits, -1), checked, class_weights, options);
}

Tensor nll_loss(In log_probabilities, const Exact<Indices>& targets,
                const CrossEntropyOptions& options) {
  const std::size_t V = log_probabilities.dim() == 0 ? 0 : log_probabilities.shape().back();
  return nll_loss(log_probabilities, targets, ones({V}), options);
}

Tensor nll_loss(In log_probabilities, const Exact<Indices>& targets, Reduction reduction) {
  CrossEntropyOptions options;
  options.reduction = reduction;
  return nll_loss(log_probabilities, targets, options);
}

Tensor nll_loss(In log_probabilities, const Exact<Indices>& targets, const Array& class_weights,
                const CrossEntropyOptions& options) {
  if (options.label_smoothing != 0)
    throw_error("nll_loss: has no label_smoothing, but it is ", options.label_smoothing,
                "; use cross_entropy");
  const TargetClasses checked = checked_targets("nll_loss", log_probabilities, "log_probabilities",
                                                targets, class_weights, options.ignore_index);
  return weighted_nll(log_probabilities, checked, class_weights, options);
}

// ---- cross_entropy with class probabilities

Tensor cross_entropy(In logits, In probabilities, const CrossEntropyOptions& options) {
  const std::size_t V = logits.dim() == 0 ? 0 : logits.shape().back();
  return cross_entropy(logits, probabilities, ones({V}), options);
}

Tensor cross_entropy(In logits, In probabilities, const Array& class_weights,
                     const CrossEntropyOptions& options) {
  if (logits.dim() == 0 || logits.shape() != probabilities.shape())
    throw_error(
        "cross_entropy: logits and probabilities need equal shapes, with at least one axis: ",
        describe(logits, "logits"), ", ", describe(probabilities, "probabilities"));
  check_weights("cross_entropy", logits, "logits", class_weights);
  check_smoothing("cross_entropy", options.label_smoothing);
  const double s = options.label_smoothing, V = static_cast<double>(logits.shape().back());
  const Tensor target = s == 0 ? Tensor(probabilities) : probabilities * (1 - s) + s / V;
  return reduced_to(options.reduction, -sum(log_softmax(logits, -1) * target * class_weights, -1));
}

// ---- elementwise losses

Tensor l1_loss(In input, In target, Reduction reduction) {
  check_equal_shapes("l1_loss", input, target);
  return reduced_to(reduction, abs(input - target));
}
Tensor l1_loss(In input, const Array& target, Reduction reduction) {
  return l1_loss(input, Tensor(target), reduction);
}
Tensor mse_loss(In input, const Array& target, Reduction reduction) {
  return mse_loss(input, Tensor(target), reduction);
}

// y = t (ln t - x), 0 where t = 0
struct KlDivergence {
  static constexpr std::string_view name = "KlDivergence";
  Array forward(const Array& x, const Array& target) const {
    return map([](auto v,
                  auto t) { return xsimd::select(t == Pack(0), Pack(0), t * (xsimd::log(t) - v)); },
               x, target);
  }
  Grads<2> backward(const Array& dy, const Array&, const Array& x, const Array& target) const {
    const auto dt = [](auto d, auto v, auto t) {
      return xsimd::select(t == Pack(0), Pack(0), d * (xsimd::log(t) - v + Real{1}));
    };
    return {map([](auto d, auto t) { return -d * t; }, dy, target), map(dt, dy, x, target)};
  }  // dx = -dy t, dt = dy (ln t - x + 1), 0 where t = 0
};

Tensor kl_div(In input, In target, Reduction reduction, Bool log_target) {
  check_equal_shapes("kl_div", input, target);
  const Tensor losses =
      log_target ? exp(target) * (target - input) : record(KlDivergence{}, input, target);
  return reduced_to(reduction, losses);
}

}  // namespace HEED_NAMESPACE
