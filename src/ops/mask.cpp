// mask.cpp: masked_fill, where, tril, the causal mask and dropout.

#include "heed/ops/mask.hpp"

#include <algorithm>
#include <limits>

#include "array/reduce.hpp"
#include "heed/array/map.hpp"
#include "heed/autograd/record.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"

namespace HEED_NAMESPACE {

// y = value where masked, x elsewhere
struct MaskedFill {
  static constexpr std::string_view name = "MaskedFill";
  static constexpr bool may_write_infinity = true;  // -infinity is the score of masked keys
  Array forward(const Array& x) const {
    return map_broadcast([v = value](Real u, Real h) { return h != 0 ? v : u; }, x, masked,
                         x.shape());
  }
  Array backward(const Array& dy, const Array&, const Array&) const {  // dx = dy where not masked
    return map_broadcast([](Real d, Real h) { return h != 0 ? Real{0} : d; }, dy, masked,
                         dy.shape());
  }
  Array masked;  // 1 where masked, else 0; broadcasts to x's shape
  Real value;
};

// y = a where the condition is true, b elsewhere
struct Where {
  static constexpr std::string_view name = "Where";
  Array forward(const Array& a, const Array& b) const {
    const Shape& shape = condition.shape();
    return map([](auto c, auto u, auto v) { return xsimd::select(c != Pack(0), u, v); }, condition,
               expanded(a, shape), expanded(b, shape));
  }
  Grads<2> backward(const Array& dy, const Array&, const Array& a, const Array& b) const {
    const auto kept = [](auto c, auto d) { return xsimd::select(c != Pack(0), d, Pack(0)); };
    const auto rest = [](auto c, auto d) { return xsimd::select(c != Pack(0), Pack(0), d); };
    return {sum_to(map(kept, condition, dy), a.shape()),   // da = dy where true, else 0
            sum_to(map(rest, condition, dy), b.shape())};  // db = dy where false, else 0
  }
  Array condition;  // 1 where true, else 0; has the result's shape
};

// y_ts = x_ts where s <= t + diagonal, else 0
struct Tril {
  static constexpr std::string_view name = "Tril";
  Array forward(const Array& x) const { return lower(x); }
  Array backward(const Array& dy, const Array&, const Array&) const { return lower(dy); }
  Array lower(Array x) const {
    const std::size_t columns = x.shape().back(), rows = x.shape()[x.dimension() - 2];
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto t = static_cast<std::int64_t>(i / columns % rows);
      if (static_cast<std::int64_t>(i % columns) > t + diagonal) x.data()[i] = 0;
    }
    return x;
  }
  std::int64_t diagonal;
};

// y = x m, where each element of m is 0 with probability p, else 1 / (1 - p)
struct Dropout {
  static constexpr std::string_view name = "Dropout";
  Array forward(const Array& x) const {
    return map([](auto v, auto m) { return v * m; }, x, mask);
  }
  Array backward(const Array& dy, const Array&, const Array&) const {
    return map([](auto d, auto m) { return d * m; }, dy, mask);  // dx = dy m
  }
  Array mask;
};

Mask future_mask(std::size_t queries, std::size_t keys, std::size_t past, std::size_t window,
                 SourceLocation location) {
  const CallSite site(location);
  numel({queries, keys});  // throws if the product is too large
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  past = std::min(past, most - queries);  // so that past + t does not overflow
  Mask mask = Mask::from_shape({queries, keys});
  for (std::size_t t = 0; t < queries; ++t)
    for (std::size_t s = 0; s < keys; ++s)
      mask(t, s) = s > past + t || (window != 0 && past + t - s >= window);
  return mask;
}

Array dropout_mask(const Shape& shape, double p, Generator& generator) {
  if (!(p >= 0 && p <= 1))
    throw_error("dropout_mask: p is ", p, "; give a probability from 0 to 1");
  if (p == 0) return ones(shape);
  if (p == 1) return zeros(shape);
  const bool single = generator.precision() == Precision::float32;
  const Real scale = static_cast<Real>(single ? 1 / static_cast<float>(1 - p) : 1 / (1 - p));
  return map([scale](auto kept) { return kept * scale; }, generator.bernoulli(shape, 1 - p));
}

// Returns an array with 1 where the mask is true, else 0.
static Array numbers(const Mask& mask) {
  Array result = uninitialized(shape_of(mask));
  std::copy(mask.data(), mask.data() + mask.size(), result.data());
  return result;
}

Tensor masked_fill(In x, const Exact<Mask>& mask, double value) {
  const Shape shape = shape_of(mask);
  if (!broadcasts_to(shape, x.shape()))
    throw_error("masked_fill: mask ", str(shape), " does not broadcast to ", describe(x, "x"));
  return record(MaskedFill{numbers(mask), static_cast<Real>(value)}, x);
}

Tensor where(const Exact<Mask>& condition, In a, In b) {
  const std::optional<Shape> both = broadcast_shape(a.shape(), b.shape());
  const auto shape = both ? broadcast_shape(shape_of(condition), *both) : std::nullopt;
  if (!shape)
    throw_error("where: shapes do not broadcast: condition ", str(shape_of(condition)), ", ",
                describe(a, "a"), ", ", describe(b, "b"));
  return record(Where{expanded(numbers(condition), *shape)}, a, b);
}

Tensor tril(In x, int diagonal) {
  if (x.dim() < 2) throw_error("tril: ", describe(x, "x"), " needs at least two axes");
  return record(Tril{diagonal}, x);
}

Tensor dropout(In x, double p, Generator& generator) {
  if (!(p >= 0 && p <= 1))
    throw_error("dropout: p = ", exact(p), " for ", describe(x, "x"), " is not in [0, 1]");
  return record(Dropout{dropout_mask(x.shape(), p, generator)}, x);
}

}  // namespace HEED_NAMESPACE
