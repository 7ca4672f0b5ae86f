// 14 find_the_leak: test models for leaks, by their loss and by changing later tokens.
//
// Lesson 14: an expected loss below the entropy rate proves a leak. But a model with a leak may
// also have a loss above it. The check prints the losses of eight models, A to H, beside the
// entropy rate of their text. Five of the eight leak, and only two of these have a loss below it.
//
// 1. proves_leak: losses (W) are the mean losses of W independent windows of new text. Return
//    whether their mean is below the entropy rate by more than three standard errors: the standard
//    deviation of the losses, divided by sqrt(W).
//
// 2. first_leak: a model maps tokens (T) to logits (T, V). Row t predicts token t + 1, so it may
//    depend on the tokens 0 to t only. Return the first t whose row changes, by any bit, when a
//    single later token is replaced by another of the tokens 0 to V - 1. Return T if no row does.
//    Logits may be minus infinity or NaN. Compare bits: 0 and -0 have different bits, and a NaN has
//    the same bits as itself, though == says the opposite of both.
//
// As handed out, proves_leak ignores the standard error, and first_leak misses most leaks.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "exercise.hpp"

using namespace heed;
using Model = std::function<Array(const Indices&)>;  // tokens (T) to logits (T, V)

// Your part begins here.
bool proves_leak(const Array& losses, double entropy_rate) {
  const double W = double(losses.size());
  double mean = 0, variance = 0;
  for (const Real loss : losses) mean += double(loss) / W;
  for (const Real loss : losses) variance += (double(loss) - mean) * (double(loss) - mean) / W;
  return mean < entropy_rate - 3 * std::sqrt(variance / W);
}

bool same_bits(Real a, Real b) { return std::memcmp(&a, &b, sizeof a) == 0; }

std::size_t first_leak(const Model& model, const Indices& tokens, std::size_t V) {
  const std::size_t T = tokens.size();
  const Array before = model(tokens);  // (T, V)
  std::size_t first = T;
  for (std::size_t s = 1; s < T; ++s)
    for (std::size_t v = 0; v < V; ++v) {
      Indices changed = tokens;
      changed(s) = std::int64_t(v);
      const Array after = model(changed);
      for (std::size_t t = 0; t < std::min(s, first); ++t)
        for (std::size_t w = 0; w < V; ++w)
          if (!same_bits(after(t, w), before(t, w))) first = std::min(first, t);
    }
  return first;
}
// Your part ends here.
