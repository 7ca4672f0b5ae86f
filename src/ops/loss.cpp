// loss.cpp: cross-entropy over class indices, squared error, binary cross-entropy with logits, and
// the Huber loss.

#include "heed/ops/loss.hpp"

#include <algorithm>
#include <cmath>

#include "array/lines.hpp"
#include "heed/array/map.hpp"
#include "heed/autograd/record.hpp"
#include "heed/base/error.hpp"
#include "heed/ops/reduce.hpp"

namespace HEED_NAMESPACE {

// loss_i = ln sum_j exp(x_ij) - sum_j q_ij x_ij, where q is the target distribution with label
// smoothing s: q_ij = s / V, plus 1 - s if j is the target class
struct CrossEntropy {
  static constexpr std::string_view name = "CrossEntropy";
  Array forward(const Array& logits) {
    const std::size_t V = logits.shape().back();
    row_max = uninitialized({targets.size()});
    row_sum = uninitialized({targets.size()});
    Array losses = uninitialized(shape_of(targets));
    for_each_target(V, [&](std::size_t i) {
      const Real* const x = logits.data() + i * V;
      row_max.data()[i] = max_of(x, V);
      row_sum.data()[i] = sum_exp(x, V, row_max.data()[i]);
      losses.data()[i] = ignored(i) ? Real{0} : loss(x, V, i);
    });
    if (options.reduction == Reduction::none) return losses;
    const double total = sum_of(losses.data(), losses.size());
    return scalar(
        static_cast<Real>(options.reduction == Reduction::sum ? total : total / target_count()));
  }

  // dx_ij = dloss_i (softmax(x_i)_j - q_ij)
  Array backward(const Array& dy, const Array&, const Array& logits) const {
    const std::size_t V = logits.shape().back();
    Array dx = uninitialized(logits.shape());
    const auto smooth = static_cast<Real>(options.label_smoothing);
    const Real smoothed = smooth / static_cast<Real>(V);
    const bool mean = options.reduction == Reduction::mean;
    const Real divisor = mean ? static_cast<Real>(target_count()) : Real{1};
    for_each_target(V, [&](std::size_t i) {
      Real* const out = dx.data() + i * V;
      if (ignored(i)) return static_cast<void>(std::fill_n(out, V, Real{0}));
      const Real d = dy.data()[options.reduction == Reduction::none ? i : 0] / divisor;
      const Real max = row_max.data()[i], factor = 1 / row_sum.data()[i];
      map_values([=](auto x) { return d * (xsimd::exp(x - max) * factor - smoothed); }, out, V,
                 logits.data() + i * V);
      out[target(i)] -= d * (1 - smooth);
    });
    return dx;
  }

  static Real sum_exp(const Real* x, std::size_t n, Real max) {
    constexpr std::size_t chunk = 64;
    Real e[chunk];
    double sum = 0;
    for (std::size_t j = 0; j < n; j += chunk) {
      const std::size_t count = std::min(chunk, n - j);
      map_values([max](auto v) { return xsimd::exp(v - max); }, e, count, x + j);
      sum += sum_of(e, count);
    }
    return static_cast<Real>(sum);
  }
  Real loss(const Real* x, std::size_t V, std::size_t i) const {
    const double log_sum =
        static_cast<double>(row_max.data()[i]) + std::log(static_cast<double>(row_sum.data()[i]));
    const double nll = log_sum - static_cast<double>(x[target(i)]);
    if (options.label_smoothing == 0) return static_cast<Real>(nll);
    const double mean = log_sum - sum_of(x, V) / static_cast<double>(V);
    return static_cast<Real>((1 - options.label_smoothing) * nll + options.label_smoothing * mean);
  }
  double target_count() const {
    const auto ignored_targets = std::count(targets.begin(), targets.end(), options.ignore_index);
    return static_cast<double>(targets.size()) - static_cast<double>(ignored_targets);
  }
  bool ignored(std::size_t i) const { return targets.data()[i] == options.ignore_index; }
  std::size_t target(std::size_t i) const { return static_cast<std::size_t>(targets.data()[i]); }
  template <class Body>
  void for_each_target(std::size_t V, const Body& body) const {
    parallel_for(targets.size(), elementwise_grain / (V + 1) + 1,
                 [&](std::size_t begin, std::size_t end) {
                   for (std::size_t i = begin; i < end; ++i) body(i);
                 });
  }

  Indices targets;
  CrossEntropyOptions options;
  Array row_max = undefined_array(),
        row_sum = undefined_array();  // saved for backward: max_j x_j, sum_j exp(x_j - max)
};

Tensor cross_entropy(In logits, const Exact<Indices>& targets, const CrossEntropyOptions& options) {
  const Shape& shape = logits.shape();
  if (shape.size() == 0 || Shape(shape.begin(), shape.end() - 1) != shape_of(targets))
    throw_error("cross_entropy: the targets need the logits' shape without its last axis: ",
                describe(logits, "logits"), ", targets ", str(shape_of(targets)));
  const auto V = static_cast<std::int64_t>(shape.back());
  for (const std::int64_t target : targets)
    if (target != options.ignore_index && (target < 0 || target >= V))
      throw_error(
          "cross_entropy: target ", target, " among targets ", str(shape_of(targets)),
          " is not a class of ", describe(logits, "logits"),
          V == 0 ? "; there are no classes" : "; classes are 0 to " + std::to_string(V - 1));
  if (!(options.label_smoothing >= 0 && options.label_smoothing <= 1))
    throw_error("cross_entropy: label_smoothing = ", options.label_smoothing, " is not in [0, 1]");
  return record(CrossEntropy{targets, options}, logits);
}

// ---- elementwise losses

// y = (x - t)^2
struct SquaredError {
  static constexpr std::string_view name = "SquaredError";
  Array forward(const Array& x, const Array& target) const {
    return map([](auto v, auto t) { return (v - t) * (v - t); }, x, target);
  }
  Grads<2> backward(const Array& dy, const Array&, const Array& x, const Array& target) const {
    const auto gradient = [](auto d, auto v, auto t) { return Real{2} * d * (v - t); };
    return {map(gradient, dy, x, target), map(gradient, dy, target, x)};
  }  // dx = 2 dy (x - t), dt = -dx
};

// y = (1 - t) max(x, 0) + t max(-x, 0) + ln(1 + e^-|x|), which is -t ln s(x) - (1 - t) ln(1 - s(x))
// for the sigmoid s. Both maxima are 0 or positive, so that infinite logits give no inf - inf, and
// a term with the factor 0 is 0.
struct BinaryCrossEntropy {
  static constexpr std::string_view name = "BinaryCrossEntropy";
  Array forward(const Array& x, const Array& target) const {
    return map(
        [](auto v, auto t) {
          return term(Real{1} - t, xsimd::max(v, Pack(0))) + term(t, xsimd::max(-v, Pack(0))) +
                 xsimd::log1p(xsimd::exp(-xsimd::abs(v)));
        },
        x, target);
  }
  Grads<2> backward(const Array& dy, const Array&, const Array& x, const Array& target) const {
    const auto dx = [](auto d, auto v, auto t) {
      return d * (Real{1} / (Real{1} + xsimd::exp(-v)) - t);
    };
    return {map(dx, dy, x, target),                              // dx = dy (s(x) - t)
            map([](auto d, auto v) { return -d * v; }, dy, x)};  // dt = -dy x
  }
  static Pack term(Pack factor, Pack v) {
    return xsimd::select(factor == Pack(0), Pack(0), factor * v);
  }
};

// y = e^2 / 2 where |e| <= delta, else delta (|e| - delta / 2), for the error e = x - t
struct Huber {
  static constexpr std::string_view name = "Huber";
  Array forward(const Array& x, const Array& target) const {
    return map(
        [d = delta](auto v, auto t) {
          const auto size = xsimd::abs(v - t);
          return xsimd::select(size <= Pack(d), Real(0.5) * size * size,
                               d * (size - Real(0.5) * d));
        },
        x, target);
  }
  Grads<2> backward(const Array& dy, const Array&, const Array& x, const Array& target) const {
    const auto gradient = [limit = delta](auto d, auto v, auto t) {
      const auto error = v - t;  // NaN stays NaN, but max and min would drop NaN
      return d * xsimd::select(error > Pack(limit), Pack(limit),
                               xsimd::select(error < Pack(-limit), Pack(-limit), error));
    };
    return {map(gradient, dy, x, target), map(gradient, dy, target, x)};
  }  // dx = dy clamp(e, -delta, delta), dt = -dx
  Real delta;
};

static void check_target(std::string_view op, const Tensor& input, const Tensor& target) {
  if (input.shape() != target.shape())
    throw_error(op, ": input and target need equal shapes: ", describe(input, "input"), ", ",
                describe(target, "target"));
}

static Tensor reduced(const Tensor& losses, Reduction reduction) {
  if (reduction == Reduction::none) return losses;
  return reduction == Reduction::sum ? sum(losses) : mean(losses);
}

Tensor mse_loss(In input, In target, Reduction reduction) {
  check_target("mse_loss", input, target);
  return reduced(record(SquaredError{}, input, target), reduction);
}

Tensor binary_cross_entropy_with_logits(In input, In target, Reduction reduction) {
  check_target("binary_cross_entropy_with_logits", input, target);
  return reduced(record(BinaryCrossEntropy{}, input, target), reduction);
}

Tensor huber_loss(In input, In target, Reduction reduction, double delta) {
  check_target("huber_loss", input, target);
  if (!(delta > 0)) throw_error("huber_loss: delta = ", delta, " must be above 0");
  return reduced(record(Huber{static_cast<Real>(delta)}, input, target), reduction);
}

}  // namespace HEED_NAMESPACE
