// policy.hpp: the few places where heed promises something else than PyTorch, as changes to what a
// case expects. Each rule looks at what the case contains; policy_test.cpp says them as sentences.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "golden/models.hpp"

namespace golden {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

inline Numbers* find(std::vector<Numbers>& list, const std::string& name) {
  return const_cast<Numbers*>(find(static_cast<const std::vector<Numbers>&>(list), name));
}

// The lines of an array along one axis, as lists of positions in its values.
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

// Element `flat` of an array of shape `to` that `from` was broadcast to.
inline double broadcast_value(const Numbers& from, const std::vector<std::size_t>& to,
                              std::size_t flat) {
  std::size_t at = 0, step = 1;
  for (std::size_t i = 0; i < from.shape.size(); ++i) {  // axes from the right
    const std::size_t size = from.shape[from.shape.size() - 1 - i];
    at += size == 1 ? 0 : flat % to[to.size() - 1 - i] * step;
    flat /= to[to.size() - 1 - i];
    step *= size;
  }
  return from.values[at];
}

inline void replace_nan(std::vector<double>& values, double by) {
  for (double& value : values)
    if (std::isnan(value)) value = by;
}

// A line of scores that is -infinity throughout has nothing to choose from. PyTorch answers NaN;
// heed's softmax gives zeros, its log_softmax -infinity, and the scores get a gradient of zero.
inline void promise_for_hidden_lines(Case& c) {
  const Numbers& x = c.in.at(0);
  const auto hidden = [&](std::size_t i) {
    return x.values[i] == -infinity ||
           (c.op == "masked_softmax" && broadcast_value(c.in.at(1), x.shape, i) != 0);
  };
  for (const auto& line : lines(x.shape, c.attrs.at("dim"))) {
    if (line.empty() || !std::all_of(line.begin(), line.end(), hidden)) continue;
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

// A query that may see nothing. PyTorch's weights are NaN, and with them all gradients that the
// weights touch; heed's are zeros, so that the values' gradient is weights^T upstream.
inline void promise_for_blind_queries(Case& c) {
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

// What heed itself makes of a case; runner.hpp has the bodies.
inline std::vector<Numbers> outputs_of(const Case& c);
inline std::vector<Numbers> gradients_of(const Case& c);

// The same behind multi-head attention: the output of a blind query is the last layer's bias, and
// the gradients are those of a layer whose blind queries may look, but whose output nobody uses.
inline void promise_for_blind_layers(Case& c) {
  if (!finite_inputs(c)) return;
  Case seeing = c;
  seeing.attrs["open_blind_rows"] = true;
  for (Numbers& up : seeing.up) {
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
  const std::vector<Numbers> other = gradients_of(seeing);
  for (Numbers& grad : c.grad)
    for (std::size_t i = 0; i < grad.values.size(); ++i)
      if (std::isnan(grad.values[i])) grad.values[i] = find(other, grad.name)->values[i];
}

// Equal maxima share the gradient, over one axis as over all; PyTorch's max over one axis gives it
// to the first. (A NaN is the maximum where there is one.)
inline void promise_for_ties(Case& c) {
  if (c.grad.empty()) return;
  const std::vector<double>& x = c.in[0].values;
  for (const auto& line : lines(c.in[0].shape, c.attrs.at("dim"))) {
    const auto above = [&](std::size_t a, std::size_t b) {
      return std::isnan(x[b]) || x[a] < x[b];
    };
    if (line.empty()) continue;
    const double top = x[*std::max_element(line.begin(), line.end(), above)];
    std::vector<std::size_t> ties;
    for (const std::size_t i : line)
      if (x[i] == top || (std::isnan(top) && std::isnan(x[i]))) ties.push_back(i);
    double total = 0;
    for (const std::size_t i : ties) total += c.grad[0].values[i];
    for (const std::size_t i : ties) c.grad[0].values[i] = total / static_cast<double>(ties.size());
  }
}

inline double largest(const Numbers& x) {
  double top = 0;
  for (const double v : x.values) top = std::max(top, std::abs(v));
  return top;
}

// Whether the sum of the squares is too large for the precision the file was made in.
inline bool squares_overflow(const Numbers& x) {
  double sum = 0;
  for (const double v : x.values) sum += v * v;
  return x.dtype == "f32" && std::isfinite(sum) && sum > std::numeric_limits<float>::max();
}

// Lengths are measured in double: where a float's square overflows, and PyTorch's cosine is 0,
// heed's is that of the same directions at a length that can be squared.
inline void promise_for_long_vectors(Case& c) {
  if (std::none_of(c.in.begin(), c.in.end(), squares_overflow)) return;
  Case shorter = c;
  for (Numbers& in : shorter.in) {
    const double length = largest(in);
    for (double& v : in.values) v /= length;
  }
  c.out[0].values = outputs_of(shorter)[0].values;
  const std::vector<Numbers> grads = gradients_of(shorter);
  for (Numbers& grad : c.grad)
    for (std::size_t i = 0; i < grad.values.size(); ++i)
      grad.values[i] = find(grads, grad.name)->values[i] / largest(*find(c.in, grad.name));
}

// The same for the length of all gradients together: PyTorch's is infinite, and the clipped
// gradients 0; heed's are clipped to max_norm.
inline void promise_for_long_gradients(Case& c) {
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

// What heed promises for a case.
inline Case promised(Case c) {
  if (c.op == "softmax" || c.op == "log_softmax" || c.op == "logsumexp" || c.op == "masked_softmax")
    promise_for_hidden_lines(c);
  if (c.op == "sdpa") promise_for_blind_queries(c);
  if (c.op == "mha") promise_for_blind_layers(c);
  if (c.op == "max_dim") promise_for_ties(c);
  if (c.op == "cosine_similarity") promise_for_long_vectors(c);
  if (c.op == "clip_grad_norm") promise_for_long_gradients(c);
  return c;
}

}  // namespace golden
