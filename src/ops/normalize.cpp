// normalize.cpp: layer normalization, RMS normalization and cosine similarity.

#include "heed/ops/normalize.hpp"

#include <cmath>

#include "array/lines.hpp"
#include "array/reduce.hpp"
#include "heed/array/map.hpp"
#include "heed/autograd/record.hpp"
#include "heed/base/error.hpp"
#include "heed/ops/shape.hpp"

namespace HEED_NAMESPACE {

// y = w n + b with n = (x - mean) / sqrt(variance + eps), for every row x
//
// The mean and the variance depend on every x_i. y does not change if a constant is added to x or
// if x - mean is scaled, so dx has no component along (1, ..., 1) or along n:
//   g = dy w,  dx = (g - mean(g) - n mean(g n)) / sqrt(variance + eps)
struct LayerNorm {
  static constexpr std::string_view name = "LayerNorm";
  Array forward(const Array& x, const Array& weight, const Array& bias) {
    const std::size_t rows = x.size() / std::max<std::size_t>(width, 1);
    means = uninitialized({rows});
    rests = uninitialized({rows});
    scales = uninitialized({rows});
    Array y = uninitialized(x.shape());
    parallel_for(rows, rows_per_chunk(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t r = begin; r < end; ++r) {
        const Real* const in = x.data() + r * width;
        measure(in, r);
        normalize(y.data() + r * width, in, r);
        apply(y.data() + r * width, weight, bias);
      }
    });
    return y;
  }

  Grads<3> backward(const Array& dy, const Array&, const Array& x, const Array& weight,
                    const Array& bias) const {
    Array dx = uninitialized(x.shape());
    const std::size_t rows = means.size(),
                      chunks = (rows + rows_per_chunk() - 1) / rows_per_chunk();
    const Shape partial{chunks, width};  // one partial sum of dw and db per chunk of rows
    Array dweight = !is_defined(weight) ? undefined_array() : zeros(partial);
    Array dbias = !is_defined(bias) ? undefined_array() : zeros(partial);
    parallel_for(rows, rows_per_chunk(), [&](std::size_t begin, std::size_t end) {
      Array n = uninitialized({width}), g = uninitialized({width});
      for (std::size_t r = begin; r < end; ++r) {
        const Real* const d = dy.data() + r * width;
        row_gradient(d, x.data() + r * width, r, weight, n.data(), g.data(), dx.data() + r * width);
        const std::size_t chunk = begin / rows_per_chunk() * width;
        if (is_defined(weight)) add_product(dweight.data() + chunk, d, n.data());
        if (is_defined(bias)) add(dbias.data() + chunk, d);
      }
    });
    return {std::move(dx), total(dweight, weight), total(dbias, bias)};
  }  // dw = sum over rows of dy n, db = sum over rows of dy

  void measure(const Real* x, std::size_t row) {
    const double n = static_cast<double>(width), mean = sum_of(x, width) / n;
    const double squares = squared_deviations_of(x, width, mean);
    const double scale = 1 / std::sqrt(squares / n + eps);
    means.data()[row] = static_cast<Real>(mean);
    const double rest = mean - static_cast<double>(means.data()[row]);
    rests.data()[row] = std::abs(rest) * scale > epsilon ? static_cast<Real>(rest) : Real{0};
    scales.data()[row] = static_cast<Real>(scale);
  }
  // If the mean is much larger than the deviations from it, its rounding error is not small
  // compared with them. Then this error, the rest of the mean, is subtracted too.
  void normalize(Real* n, const Real* x, std::size_t row) const {
    map_values([m = means.data()[row], rest = rests.data()[row],
                s = scales.data()[row]](auto v) { return (v - m - rest) * s; },
               n, width, x);
  }
  void apply(Real* y, const Array& weight, const Array& bias) const {
    if (is_defined(weight))
      map_values([](auto v, auto w) { return v * w; }, y, width, y, weight.data());
    if (is_defined(bias))
      map_values([](auto v, auto b) { return v + b; }, y, width, y, bias.data());
  }
  void row_gradient(const Real* dy, const Real* x, std::size_t row, const Array& weight, Real* n,
                    Real* g, Real* dx) const {
    const Real scale = scales.data()[row];
    normalize(n, x, row);
    if (!is_defined(weight))
      std::copy_n(dy, width, g);
    else
      map_values([](auto d, auto w) { return d * w; }, g, width, dy, weight.data());
    const double size = static_cast<double>(width);
    const auto mean_g = static_cast<Real>(sum_of(g, width) / size);
    const auto mean_gn = static_cast<Real>(dot_of(g, n, width) / size);
    map_values([=](auto u, auto v) { return (u - mean_g - v * mean_gn) * scale; }, dx, width, g, n);
  }
  void add_product(Real* to, const Real* a, const Real* b) const {
    for (std::size_t i = 0; i < width; ++i) to[i] += a[i] * b[i];
  }
  void add(Real* to, const Real* a) const {
    for (std::size_t i = 0; i < width; ++i) to[i] += a[i];
  }
  static Array total(const Array& partial, const Array& parameter) {
    if (!is_defined(parameter)) return undefined_array();
    return reshaped(sum_over(partial, {0}, false), parameter.shape());
  }

  // The chunk size does not depend on the number of threads, so that the rounding of dw and db does
  // not depend on it either.
  std::size_t rows_per_chunk() const {
    return std::max<std::size_t>(32, elementwise_grain / (width + 1) + 1);
  }
  std::size_t width;  // number of elements normalized together
  double eps;
  static constexpr double epsilon = std::numeric_limits<Real>::epsilon();
  // (rows) each: a row's mean rounded to Real, the rest of the mean, and 1 / sqrt(variance + eps)
  Array means = undefined_array(), rests = undefined_array(), scales = undefined_array();
};

// y = w n with n = x / sqrt(mean(x^2) + eps), for every row x
//
// n does not change if x is scaled, so dx has no component along n (but for eps):
//   g = dy w,  dx = (g - n mean(g n)) / sqrt(mean(x^2) + eps)
struct RmsNorm {
  static constexpr std::string_view name = "RmsNorm";
  Array forward(const Array& x, const Array& weight) {
    const std::size_t rows = x.size() / std::max<std::size_t>(width, 1);
    scales = uninitialized({rows});
    Array y = uninitialized(x.shape());
    for_each_row(rows, [&](std::size_t r) {
      const Real* const in = x.data() + r * width;
      Real* const out = y.data() + r * width;
      const double mean_square = dot_of(in, in, width) / static_cast<double>(width);
      const Real scale = static_cast<Real>(1 / std::sqrt(mean_square + eps));
      scales.data()[r] = scale;
      map_values([scale](auto v) { return v * scale; }, out, width, in);
      if (is_defined(weight))
        map_values([](auto n, auto w) { return n * w; }, out, width, out, weight.data());
    });
    return y;
  }

  Grads<2> backward(const Array& dy, const Array&, const Array& x, const Array& weight) const {
    Array dx = uninitialized(x.shape()), n = uninitialized(x.shape());
    for_each_row(scales.size(), [&](std::size_t r) {
      const std::size_t at = r * width;
      const Real scale = scales.data()[r];
      map_values([scale](auto v) { return v * scale; }, n.data() + at, width, x.data() + at);
      Real* const g = dx.data() + at;
      std::copy_n(dy.data() + at, width, g);
      if (is_defined(weight))
        map_values([](auto d, auto w) { return d * w; }, g, width, g, weight.data());
      const auto mean_gn =
          static_cast<Real>(dot_of(g, n.data() + at, width) / static_cast<double>(width));
      map_values([=](auto u, auto v) { return (u - v * mean_gn) * scale; }, g, width, g,
                 n.data() + at);
    });
    if (!is_defined(weight)) return {std::move(dx), undefined_array()};
    const Array dyn = map([](auto d, auto v) { return d * v; }, dy, n);
    return {std::move(dx), sum_to(dyn, weight.shape())};  // dw = sum over rows of dy n
  }

  template <class Body>
  void for_each_row(std::size_t rows, const Body& body) const {
    parallel_for(rows, elementwise_grain / (width + 1) + 1,
                 [&](std::size_t begin, std::size_t end) {
                   for (std::size_t r = begin; r < end; ++r) body(r);
                 });
  }
  std::size_t width;  // number of elements normalized together
  double eps;
  Array scales = undefined_array();  // (rows), saved for backward: 1 / sqrt(mean(x^2) + eps)
};

// y = a.b / (max(|a|, eps) max(|b|, eps))
struct CosineSimilarity {
  static constexpr std::string_view name = "CosineSimilarity";
  Array forward(const Array& a, const Array& b) const {
    const Lines lines(a.shape(), axis);
    Array y = uninitialized(reduced_shape(a.shape(), {axis}, false));
    for (std::size_t i = 0; i < lines.count; ++i)
      y.data()[i] = static_cast<Real>(at(a, b, lines, i).cosine);
    return y;
  }
  // da = dy (b / (|a| |b|) - y a / |a|^2), and db is the same with a and b exchanged
  Grads<2> backward(const Array& dy, const Array&, const Array& a, const Array& b) const {
    const Lines lines(a.shape(), axis);
    Array da = uninitialized(a.shape()), db = uninitialized(b.shape());
    for (std::size_t i = 0; i < lines.count; ++i) {
      const Angle angle = at(a, b, lines, i);
      const double d = static_cast<double>(dy.data()[i]);
      std::size_t k = lines.start(i);
      for (std::size_t j = 0; j < lines.size; ++j, k += lines.inner) {
        const double u = static_cast<double>(a.data()[k]), v = static_cast<double>(b.data()[k]);
        const double own_a = angle.a > eps ? angle.cosine * u / (angle.a * angle.a) : 0;
        const double own_b = angle.b > eps ? angle.cosine * v / (angle.b * angle.b) : 0;
        da.data()[k] = static_cast<Real>(d * (v / angle.norm_product - own_a));
        db.data()[k] = static_cast<Real>(d * (u / angle.norm_product - own_b));
      }
    }
    return {da, db};
  }
  struct Angle {
    double a, b;          // norms of a and b
    double norm_product;  // max(|a|, eps) max(|b|, eps)
    double cosine;
  };
  Angle at(const Array& a, const Array& b, const Lines& lines, std::size_t line) const {
    double aa = 0, bb = 0, ab = 0;
    std::size_t k = lines.start(line);
    for (std::size_t j = 0; j < lines.size; ++j, k += lines.inner) {
      const double u = static_cast<double>(a.data()[k]), v = static_cast<double>(b.data()[k]);
      aa += u * u;
      bb += v * v;
      ab += u * v;
    }
    const double norm_a = std::sqrt(aa), norm_b = std::sqrt(bb);
    const double norm_product = std::fmax(norm_a, eps) * std::fmax(norm_b, eps);
    return {norm_a, norm_b, norm_product, ab / norm_product};
  }
  std::size_t axis;
  double eps;
};

// Checks that x's shape ends with normalized_shape, and that weight and bias have this shape.
static void check_normalized(std::string_view op, const Tensor& x, const Shape& normalized_shape,
                             const Tensor& weight, const Tensor& bias) {
  const std::size_t axes = normalized_shape.size();
  if (axes == 0 || axes > x.dim() ||
      !std::equal(normalized_shape.begin(), normalized_shape.end(),
                  x.shape().end() - static_cast<std::ptrdiff_t>(axes)))
    throw_error(op, ": normalized_shape ", str(normalized_shape),
                " must equal the last dimensions of ", describe(x, "x"), ": ",
                describe(weight, "weight"),
                op == "layer_norm" ? ", " + describe(bias, "bias") : "");
  for (const Tensor* parameter : {&weight, &bias})
    if (parameter->defined() && parameter->shape() != normalized_shape)
      throw_error(op, ": ", describe(*parameter, parameter == &weight ? "weight" : "bias"),
                  " must have normalized_shape ", str(normalized_shape), " of ", describe(x, "x"));
}

static void check_eps(const char* op, double eps) {
  if (!(eps >= 0)) throw_error(op, ": eps is ", eps, "; give 0 or more");
}

Tensor layer_norm(In x, const Shape& normalized_shape, In weight, In bias, double eps) {
  check_eps("layer_norm", eps);
  check_normalized("layer_norm", x, normalized_shape, weight, bias);
  return record(LayerNorm{numel(normalized_shape), eps}, x, weight, bias);
}

Tensor rms_norm(In x, const Shape& normalized_shape, In weight, double eps) {
  check_eps("rms_norm", eps);
  check_normalized("rms_norm", x, normalized_shape, weight, {});
  return record(RmsNorm{numel(normalized_shape), eps}, x, weight);
}

Tensor cosine_similarity(In a, In b, int axis, double eps) {
  check_eps("cosine_similarity", eps);
  const Shape shape =
      broadcast("cosine_similarity", a.shape(), b.shape(), name_or(a, "a"), name_or(b, "b"));
  const std::size_t at = checked_axis("cosine_similarity", shape, axis, "the broadcast shape");
  const Tensor wide_a = a.shape() == shape ? a : expand(a, shape);
  const Tensor wide_b = b.shape() == shape ? b : expand(b, shape);
  return record(CosineSimilarity{at, eps}, wide_a, wide_b);
}

}  // namespace HEED_NAMESPACE
