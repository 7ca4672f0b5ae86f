// policy.hpp: the documented differences between heed and PyTorch: each rule changes the expected
// results of the golden cases to which it applies. policy_test.cpp tests each rule by itself.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "golden/extra_operations.hpp"

namespace golden {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

inline Numbers* find(std::vector<Numbers>& list, const std::string& name) {
  return const_cast<Numbers*>(find(static_cast<const std::vector<Numbers>&>(list), name));
}

// The 1-D slices of an array along one axis, as lists of indices into its values.
inline std::vector<std::vector<std::size_t>> lines(const std::vector<std::size_t>& shape, int dim) {
  if (shape.empty()) return {{0}};
  const auto axis = static_cast<std::size_t>(dim < 0 ? dim + static_cast<int>(shape.size()) : dim);
  std::size_t inner = 1, outer = 1;
  for (std::size_t i = 0; i < shape.size(); ++i)
    (i < axis ? outer : inner) *= i == axis ? 1 : shape[i];
  std::vector<std::vector<std::size_t>> result;
  for (std::size_t line = 0; line < outer * inner; ++line) {
    result.emplace_back();
    for (std::size_t j = 0; j < shape[axis]; ++j)
      result.back().push_back((line / inner * shape[axis] + j) * inner + line % inner);
  }
  return result;
}

// Element `flat` of `from`, broadcast to the shape `to`.
inline double broadcast_value(const Numbers& from, const std::vector<std::size_t>& to,
                              std::size_t flat) {
  std::size_t offset = 0, step = 1;
  for (std::size_t i = 0; i < from.shape.size(); ++i) {  // axes from the right
    const std::size_t size = from.shape[from.shape.size() - 1 - i];
    offset += size == 1 ? 0 : flat % to[to.size() - 1 - i] * step;
    flat /= to[to.size() - 1 - i];
    step *= size;
  }
  return from.values[offset];
}

inline void replace_nan(std::vector<double>& values, double by) {
  for (double& value : values)
    if (std::isnan(value)) value = by;
}

// A fully masked row of scores (all -infinity): PyTorch's softmax gives NaN; heed's softmax gives
// zeros, its log_softmax -infinity, and the gradient of the scores is zero.
inline void expect_masked_rows(Case& c) {
  const Numbers& x = c.in.at(0);
  const auto masked = [&](std::size_t i) {
    return x.values[i] == -infinity ||
           (c.op == "masked_softmax" && broadcast_value(c.in.at(1), x.shape, i) != 0);
  };
  for (const auto& line : lines(x.shape, c.attrs.at("dim"))) {
    if (line.empty() || !std::all_of(line.begin(), line.end(), masked)) continue;
    for (const std::size_t i : line) {
      if (c.op != "logsumexp") c.out[0].values[i] = c.op == "log_softmax" ? -infinity : 0;
      if (!c.grad.empty()) c.grad[0].values[i] = 0;
    }
  }
}

inline bool finite_inputs(const Case& c) {
  return std::all_of(c.in.begin(), c.in.end(), [](const Numbers& in) {
    return in.name == "bias" || std::none_of(in.values.begin(), in.values.end(),
                                             [](double v) { return !std::isfinite(v); });
  });
}

// A fully masked query: PyTorch's attention weights are NaN, and so are all gradients that depend
// on them; heed's weights are zeros, so that the gradient of the values is weights^T upstream.
inline void expect_masked_queries(Case& c) {
  if (!finite_inputs(c)) return;
  for (Numbers& out : c.out) replace_nan(out.values, 0);
  Numbers* const v = find(c.grad, "v");
  if (v == nullptr || v->shape.empty()) return;
  const std::vector<double>&weights = c.out[1].values, &up = find(c.up, "y0")->values;
  const std::size_t S = v->shape[v->shape.size() - 2], E = v->shape.back();
  const std::size_t T = c.out[1].shape[v->shape.size() - 2];
  for (std::size_t i = 0; i < v->values.size(); ++i) {
    if (!std::isnan(v->values[i])) continue;
    const std::size_t batch = i / (S * E), s = i / E % S, e = i % E;
    v->values[i] = 0;
    for (std::size_t t = 0; t < T; ++t)
      v->values[i] += weights[(batch * T + t) * S + s] * up[(batch * T + t) * E + e];
  }
}

// heed's results for a case; defined in runner.hpp.
inline std::vector<Numbers> outputs_of(const Case& c);
inline std::vector<Numbers> gradients_of(const Case& c);

// A fully masked query in multi-head attention: the output is the bias of the output projection.
// The gradients equal the gradients of a case in which that query is not masked and its upstream
// gradient is 0.
inline void expect_masked_layers(Case& c) {
  if (!finite_inputs(c)) return;
  Case unmasked = c;
  unmasked.attrs["unmask_full_rows"] = true;
  for (Numbers& up : unmasked.up) {
    const std::vector<double>& out = find(c.out, up.name)->values;
    for (std::size_t i = 0; i < out.size(); ++i)
      if (std::isnan(out[i])) up.values[i] = 0;
  }
  const Numbers* const bias = find(c.in, "out_proj_bias");
  for (std::size_t i = 0; i < c.out[0].values.size(); ++i)
    if (std::isnan(c.out[0].values[i]))
      c.out[0].values[i] = bias == nullptr ? 0 : bias->values[i % bias->values.size()];
  replace_nan(c.out[1].values, 0);
  const auto nan = [](const Numbers& grad) {
    return std::any_of(grad.values.begin(), grad.values.end(), [](double g) { return g != g; });
  };
  if (std::none_of(c.grad.begin(), c.grad.end(), nan)) return;
  const std::vector<Numbers> other = gradients_of(unmasked);
  for (Numbers& grad : c.grad)
    for (std::size_t i = 0; i < grad.values.size(); ++i)
      if (std::isnan(grad.values[i])) grad.values[i] = find(other, grad.name)->values[i];
}

// Equal maxima get equal parts of the gradient; PyTorch's max over one axis gives all of it to the
// first. (A NaN counts as the maximum.)
inline void expect_equal_maxima(Case& c) {
  if (c.grad.empty()) return;
  const std::vector<double>& x = c.in[0].values;
  for (const auto& line : lines(c.in[0].shape, c.attrs.at("dim"))) {
    const auto less = [&](std::size_t a, std::size_t b) { return std::isnan(x[b]) || x[a] < x[b]; };
    if (line.empty()) continue;
    const double max = x[*std::max_element(line.begin(), line.end(), less)];
    std::vector<std::size_t> maxima;
    for (const std::size_t i : line)
      if (x[i] == max || (std::isnan(max) && std::isnan(x[i]))) maxima.push_back(i);
    double total = 0;
    for (const std::size_t i : maxima) total += c.grad[0].values[i];
    for (const std::size_t i : maxima)
      c.grad[0].values[i] = total / static_cast<double>(maxima.size());
  }
}

inline double max_abs(const Numbers& x) {
  double max = 0;
  for (const double v : x.values) max = std::max(max, std::abs(v));
  return max;
}

// Whether the sum of the squares overflows in the precision of the file.
inline bool squares_overflow(const Numbers& x) {
  double sum = 0;
  for (const double v : x.values) sum += v * v;
  return x.dtype == "f32" && std::isfinite(sum) && sum > std::numeric_limits<float>::max();
}

// heed computes norms in double. If the square of a norm overflows in float, PyTorch's cosine is 0;
// heed gives the cosine of the same vectors scaled to smaller norms.
inline void expect_long_vectors(Case& c) {
  if (std::none_of(c.in.begin(), c.in.end(), squares_overflow)) return;
  Case scaled = c;
  for (Numbers& in : scaled.in) {
    const double length = max_abs(in);
    for (double& v : in.values) v /= length;
  }
  c.out[0].values = outputs_of(scaled)[0].values;
  const std::vector<Numbers> grads = gradients_of(scaled);
  for (Numbers& grad : c.grad)
    for (std::size_t i = 0; i < grad.values.size(); ++i)
      grad.values[i] = find(grads, grad.name)->values[i] / max_abs(*find(c.in, grad.name));
}

// If the square of the norm of all gradients overflows, PyTorch's norm is infinite and its clipped
// gradients are 0; heed clips the gradients to max_norm.
inline void expect_long_gradients(Case& c) {
  double squares = 0;
  for (const Numbers& in : c.in)
    for (const double v : in.values) squares += v * v;
  Numbers all;
  all.dtype = c.in.at(0).dtype;
  all.values = {std::sqrt(squares)};
  if (c.attrs.contains("norm_type") || !squares_overflow(all)) return;
  for (std::size_t k = 0; k < c.in.size(); ++k)
    for (std::size_t i = 0; i < c.in[k].values.size(); ++i)
      c.out[k + 1].values[i] = c.in[k].values[i] * number(c.attrs["max_norm"]) / all.values[0];
  if (sizeof(heed::Real) == 8) c.out[0].values = all.values;
}

// The binary cross-entropy of the logit -inf is infinite, as that of the logit inf, if the target
// is between 0 and 1; PyTorch's is NaN.
inline void expect_infinite_loss(Case& c) {
  if (c.attrs.at("reduction") != "none") return;
  for (std::size_t i = 0; i < c.out[0].values.size(); ++i) {
    const double target = c.in[1].values[i];
    if (c.in[0].values[i] == -infinity && target > 0 && target < 1) c.out[0].values[i] = infinity;
  }
}

// GELU and SiLU of an infinite or very large x have the limits 0 or x, with the derivative 0 or 1;
// PyTorch's are NaN.
inline void expect_limits(Case& c) {
  const std::vector<double>& x = c.in[0].values;
  const auto limit = [&](std::vector<double>& values, std::size_t i, double positive) {
    if (std::isnan(values[i]) && !std::isnan(x[i])) values[i] = x[i] < 0 ? 0 : positive;
  };
  for (std::size_t i = 0; i < x.size(); ++i) {
    limit(c.out[0].values, i, x[i]);
    if (!c.grad.empty()) limit(c.grad[0].values, i, c.up[0].values[i]);
  }
}

// The case with the results that heed must give.
inline Case expected_from_heed(Case c) {
  if (c.op == "softmax" || c.op == "log_softmax" || c.op == "logsumexp" || c.op == "masked_softmax")
    expect_masked_rows(c);
  if (c.op == "sdpa") expect_masked_queries(c);
  if (c.op == "mha") expect_masked_layers(c);
  if (c.op == "max_dim") expect_equal_maxima(c);
  if (c.op == "cosine_similarity") expect_long_vectors(c);
  if (c.op == "binary_cross_entropy_with_logits") expect_infinite_loss(c);
  if (c.op == "gelu_erf" || c.op == "gelu_tanh" || c.op == "silu") expect_limits(c);
  if (c.op == "clip_grad_norm") expect_long_gradients(c);
  return c;
}

}  // namespace golden
