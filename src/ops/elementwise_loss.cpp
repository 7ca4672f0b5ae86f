// elementwise_loss.cpp: squared error, binary cross-entropy with logits, and the Huber loss.

#include <string>

#include "heed/array/map.hpp"
#include "heed/autograd/record.hpp"
#include "heed/base/error.hpp"
#include "heed/ops/loss.hpp"
#include "heed/ops/reduce.hpp"

namespace HEED_NAMESPACE {

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
  return reduction == Reduction::sum ? sum(losses, {}, false) : mean(losses, {}, false);
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
