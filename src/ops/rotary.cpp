// rotary.cpp: rotary position embedding (RoPE).

#include "heed/ops/rotary.hpp"

#include <cmath>
#include <limits>

#include "heed/array/parallel.hpp"
#include "heed/autograd/record.hpp"
#include "heed/base/error.hpp"

namespace HEED_NAMESPACE {

// (y_2i, y_2i+1) = (x_2i cos a - x_2i+1 sin a, x_2i sin a + x_2i+1 cos a), a = t base^(-2i / D)
//
// A rotation's inverse is its transpose, so backward rotates dy by the angles -a.
struct RotaryEmbedding {
  static constexpr std::string_view name = "RotaryEmbedding";
  Array forward(const Array& x) const { return rotated(x, 1); }
  Array backward(const Array& dy, const Array&, const Array&) const { return rotated(dy, -1); }

  Array rotated(const Array& x, Real direction) const {
    const std::size_t T = cosines.shape()[0], half = cosines.shape()[1], C = x.shape().back();
    Array y = uninitialized(x.shape());
    parallel_for(x.size() / (C == 0 ? 1 : C), 8192 / (C + 1) + 1,
                 [&](std::size_t begin, std::size_t end) {
                   for (std::size_t row = begin; row < end; ++row) {
                     const Real* cosine = cosines.data() + row % T * half;
                     const Real* sine = sines.data() + row % T * half;
                     for (std::size_t h = 0; h < C; h += 2 * half)
                       rotate_head(y.data() + row * C + h, x.data() + row * C + h, cosine, sine,
                                   half, direction);
                   }
                 });
    return y;
  }
  static void rotate_head(Real* y, const Real* x, const Real* cosine, const Real* sine,
                          std::size_t half, Real direction) {
    for (std::size_t i = 0; i < half; ++i) {
      const Real a = x[2 * i], b = x[2 * i + 1], s = direction * sine[i];
      y[2 * i] = a * cosine[i] - b * s;
      y[2 * i + 1] = a * s + b * cosine[i];
    }
  }

  Array cosines, sines;  // (T, D / 2): cos and sin of the angle of pair i at each position
};

Tensor rotary_embedding(In x, std::size_t num_heads, std::size_t first_position, double base) {
  if (x.dim() < 2 || num_heads == 0 || x.shape().back() % num_heads != 0 ||
      x.shape().back() / num_heads % 2 != 0)
    throw_error("rotary_embedding: ", describe(x, "x"),
                " must be (..., T, C) with C divisible by 2 num_heads = ", 2 * num_heads);
  if (!(base > 0)) throw_error("rotary_embedding: base = ", base, " must be above 0");
  const std::size_t T = x.shape()[x.dim() - 2], half = x.shape().back() / num_heads / 2;
  if (static_cast<std::ptrdiff_t>(first_position) < 0)
    throw_error("rotary_embedding: first_position = ", first_position, " must be at least 0");
  RotaryEmbedding op{uninitialized({T, half}), uninitialized({T, half})};
  parallel_for(half, 256 / (T + 1) + 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const double frequency = std::pow(base, -static_cast<double>(i) / static_cast<double>(half));
      for (std::size_t t = 0; t < T; ++t) {
        const double angle = static_cast<double>(first_position + t) * frequency;
        op.cosines(t, i) = static_cast<Real>(std::cos(angle));
        op.sines(t, i) = static_cast<Real>(std::sin(angle));
      }
    }
  });
  return record(std::move(op), x);
}

}  // namespace HEED_NAMESPACE
