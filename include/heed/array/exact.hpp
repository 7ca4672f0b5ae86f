// exact.hpp: Exact<Indices> and Exact<Mask>, parameter types that reject arrays whose conversion
// would change a number.
#pragma once

#include <type_traits>
#include <utility>

#include "heed/array/array.hpp"

namespace HEED_NAMESPACE {

// Converts x to Indices or to a Mask. Throws Error for an element that is not a whole number or,
// for a mask, neither 0 nor 1.
void convert_exactly(const xt::xarray<double>& x, Indices& to, SourceLocation location);
void convert_exactly(const xt::xarray<double>& x, Mask& to, SourceLocation location);

// The type of a function's parameter: Indices or a Mask. xtensor would convert any array: the
// indices {1.9, -0.5} would become {1, 0}, and an additive mask {0, -infinity} would become {false,
// true}. Exact accepts what it converts without loss, throws Error for other arrays, and accepts no
// single number or bool, which would become an array of rank 0.
template <class Integers>
class Exact : public Integers {
 public:
  using Integers::Integers;
  Exact() = default;
  // A copy of x, or x itself.
  Exact(const Integers& x) : Integers(x) {}
  Exact(Integers&& x) noexcept : Integers(std::move(x)) {}
  // Converts any other array. Throws Error if that would change an element.
  template <class E>
  Exact(const xt::xexpression<E>& x, SourceLocation location = SourceLocation::current()) {
    using From = typename E::value_type;
    if constexpr (std::is_same_v<From, bool> ||
                  (std::is_integral_v<From> && std::is_same_v<Integers, Indices>)) {
      Integers::operator=(x);
    } else {
      convert_exactly(xt::xarray<double>(x), *this, location);
    }
  }
  template <class Number, std::enable_if_t<std::is_arithmetic_v<Number>, int> = 0>
  Exact(Number) = delete;                                // rejects a single number
  Exact(const typename Integers::value_type&) = delete;  // rejects a single element
};

}  // namespace HEED_NAMESPACE
