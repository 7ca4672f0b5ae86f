// loss.cpp: cross-entropy loss over class indices.

#include "heed/ops/loss.hpp"

#include <algorithm>
#include <cmath>

#include "array/lines.hpp"
#include "heed/array/map.hpp"
#include "heed/autograd/record.hpp"
#include "heed/base/error.hpp"

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

}  // namespace HEED_NAMESPACE
