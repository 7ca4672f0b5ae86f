// comparison.cpp: elementwise comparison, maximum and minimum, and where with a number.

#include "heed/extra/comparison.hpp"

#include <algorithm>
#include <functional>

#include "array/reduce.hpp"
#include "heed/array/map.hpp"
#include "heed/autograd/record.hpp"
#include "heed/ops/mask.hpp"

namespace HEED_NAMESPACE {

static Shape checked_broadcast(std::string_view op, const Tensor& a, const Tensor& b) {
  return broadcast(op, a.shape(), b.shape(), name_or(a, "a"), name_or(b, "b"));
}

template <class Holds>
static Mask compared(std::string_view op, const In& a, const In& b, const Holds& holds) {
  const Shape shape = checked_broadcast(op, a, b);
  const Array left = expanded(a.value(), shape), right = expanded(b.value(), shape);
  Mask result = mask(shape);
  std::transform(left.data(), left.data() + left.size(), right.data(), result.data(), holds);
  return result;
}

static Tensor constant(double value) { return Tensor(scalar(static_cast<Real>(value))); }

Mask gt(In a, In b) { return compared("gt", a, b, std::greater<Real>()); }
Mask ge(In a, In b) { return compared("ge", a, b, std::greater_equal<Real>()); }
Mask lt(In a, In b) { return compared("lt", a, b, std::less<Real>()); }
Mask le(In a, In b) { return compared("le", a, b, std::less_equal<Real>()); }
Mask eq(In a, In b) { return compared("eq", a, b, std::equal_to<Real>()); }
Mask ne(In a, In b) { return compared("ne", a, b, std::not_equal_to<Real>()); }
Mask gt(In a, double b) { return gt(a, constant(b)); }
Mask ge(In a, double b) { return ge(a, constant(b)); }
Mask lt(In a, double b) { return lt(a, constant(b)); }
Mask le(In a, double b) { return le(a, constant(b)); }
Mask eq(In a, double b) { return eq(a, constant(b)); }
Mask ne(In a, double b) { return ne(a, constant(b)); }

// dy where x is larger than `other` or one of them is NaN, dy / 2 where they are equal, else 0;
// summed to x's shape.
static Array of_larger(const Array& dy, const Array& x, const Array& other, const Shape& shape) {
  const Array part =
      map_broadcast([](Real u, Real v) { return u < v    ? Real{0}
                                                : u == v ? Real(0.5)
                                                         : Real{1}; },
                    x, other, dy.shape());
  return sum_to(map([](auto d, auto p) { return d * p; }, dy, part), shape);
}

// y = max(a, b)
struct Maximum {
  static constexpr std::string_view name = "Maximum";
  Array forward(const Array& a, const Array& b) const {  // v != v: a NaN is the result
    return map_broadcast([](Real u, Real v) { return v > u || v != v ? v : u; }, a, b,
                         broadcast("maximum", a.shape(), b.shape()));
  }
  Grads<2> backward(const Array& dy, const Array&, const Array& a, const Array& b) const {
    return {of_larger(dy, a, b, a.shape()), of_larger(dy, b, a, b.shape())};
  }  // da = dy where a > b, dy / 2 where a = b, else 0; db likewise
};

// y = min(a, b)
struct Minimum {
  static constexpr std::string_view name = "Minimum";
  Array forward(const Array& a, const Array& b) const {
    return map_broadcast([](Real u, Real v) { return v < u || v != v ? v : u; }, a, b,
                         broadcast("minimum", a.shape(), b.shape()));
  }
  Grads<2> backward(const Array& dy, const Array&, const Array& a, const Array& b) const {
    return {of_larger(dy, b, a, a.shape()), of_larger(dy, a, b, b.shape())};
  }  // da = dy where a < b, dy / 2 where a = b, else 0; db likewise
};

Tensor maximum(In a, In b) {
  checked_broadcast("maximum", a, b);
  return record(Maximum{}, a, b);
}
Tensor minimum(In a, In b) {
  checked_broadcast("minimum", a, b);
  return record(Minimum{}, a, b);
}

Tensor where(const Exact<Mask>& condition, In a, double b) {
  return where(condition, a, constant(b));
}
Tensor where(const Exact<Mask>& condition, double a, In b) {
  return where(condition, constant(a), b);
}

}  // namespace HEED_NAMESPACE
