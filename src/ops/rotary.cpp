// rotary.cpp: rotary position embedding (RoPE).

#include "heed/ops/rotary.hpp"

#include <algorithm>
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
                     for (std::size_t h = 0; h < C; h += head_dim)
                       rotate_head(y.data() + row * C + h, x.data() + row * C + h, cosine, sine,
                                   half, direction);
                   }
                 });
    return y;
  }
  void rotate_head(Real* y, const Real* x, const Real* cosine, const Real* sine, std::size_t half,
                   Real direction) const {
    if (pairs == RotaryPairs::interleaved)
      rotate_pairs<2>(y, x, 1, cosine, sine, half, direction);
    else
      rotate_pairs<1>(y, x, half, cosine, sine, half, direction);
    std::copy(x + 2 * half, x + head_dim, y + 2 * half);
  }
  // Rotates the pairs of elements step * i and step * i + distance.
  template <std::size_t step>
  static void rotate_pairs(Real* y, const Real* x, std::size_t distance, const Real* cosine,
                           const Real* sine, std::size_t half, Real direction) {
    for (std::size_t i = 0; i < half; ++i) {
      const Real a = x[step * i], b = x[step * i + distance], s = direction * sine[i];
      y[step * i] = a * cosine[i] - b * s;
      y[step * i + distance] = a * s + b * cosine[i];
    }
  }

  RotaryPairs pairs;
  std::size_t head_dim;
  Array cosines, sines;  // (T, D / 2): cos and sin of the angle of pair i at each position
};

static std::size_t checked_head_dim(const Tensor& x, std::size_t num_heads,
                                    const RotaryOptions& options) {
  const bool all = options.dim == 0;
  if (x.dim() < 2 || num_heads == 0 || x.shape().back() % num_heads != 0 ||
      (all && x.shape().back() / num_heads % 2 != 0))
    throw_error("rotary_embedding: ", describe(x, "x"), " must be (..., T, C) with C divisible by ",
                all ? "2 num_heads = " : "num_heads = ", all ? 2 * num_heads : num_heads);
  const std::size_t head_dim = x.shape().back() / num_heads;
  if (options.dim % 2 != 0 || options.dim > head_dim)
    throw_error("rotary_embedding: dim = ", options.dim, " must be even and at most ", head_dim,
                ", the width of a head of ", describe(x, "x"));
  if (!(options.base > 0))
    throw_error("rotary_embedding: base = ", options.base, " must be above 0");
  return head_dim;
}

Tensor rotary_embedding(In x, std::size_t num_heads, std::size_t first_position,
                        const RotaryOptions& options) {
  const std::size_t head_dim = checked_head_dim(x, num_heads, options);
  if (static_cast<std::ptrdiff_t>(first_position) < 0)
    throw_error("rotary_embedding: first_position = ", first_position, " must be at least 0");
  const std::size_t T = x.shape()[x.dim() - 2];
  const std::size_t half = (options.dim == 0 ? head_dim : options.dim) / 2;
  RotaryEmbedding op{options.pairs, head_dim, uninitialized({T, half}), uninitialized({T, half})};
  parallel_for(half, 256 / (T + 1) + 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const double frequency =
          std::pow(options.base, -static_cast<double>(i) / static_cast<double>(half));
      for (std::size_t t = 0; t < T; ++t) {
        const double angle = static_cast<double>(first_position + t) * frequency;
        op.cosines(t, i) = static_cast<Real>(std::cos(angle));
        op.sines(t, i) = static_cast<Real>(std::sin(angle));
      }
    }
  });
  return record(std::move(op), x);
}

Tensor rotary_embedding(In x, std::size_t num_heads, std::size_t first_position, double base) {
  return rotary_embedding(x, num_heads, first_position, RotaryOptions{base});
}

}  // namespace HEED_NAMESPACE
