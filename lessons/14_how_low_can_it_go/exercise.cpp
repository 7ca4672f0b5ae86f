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
  return xt::mean(losses)() < entropy_rate;
}

std::size_t first_leak(const Model& model, const Indices& tokens, std::size_t V) {
  const std::size_t T = tokens.size(), last = T - 1;
  Indices changed = tokens;
  changed(last) = (tokens(last) + 1) % std::int64_t(V);
  const Array before = model(tokens), after = model(changed);  // (T, V)
  for (std::size_t t = 0; t < last; ++t)
    if (std::abs(after(t, 0) - before(t, 0)) > 0.001F) return t;
  return T;
}
// Your part ends here.
