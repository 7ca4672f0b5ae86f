// exact.hpp: Exact<Indices> and Exact<Mask>, parameters that reject numbers which a conversion
// would change.
#pragma once

#include <type_traits>
#include <utility>

#include "heed/array/array.hpp"

namespace HEED_NAMESPACE {

// The same array as Indices or as a Mask. Throws Error for an element that is not a whole number,
// or for a mask, neither 0 nor 1.
void convert_exactly(const xt::xarray<double>& x, Indices& to, SourceLocation location);
void convert_exactly(const xt::xarray<double>& x, Mask& to, SourceLocation location);

// Indices or a Mask as a function takes them. xtensor would convert any array: the indices {1.9,
// -0.5} would become {1, 0}, and an additive mask {0, -infinity} would become {false, true}. Exact
// accepts what it converts without loss, throws Error for other arrays, and accepts no single
// number or bool, which would become an array of rank 0.
template <class Integers>
class Exact : public Integers {
 public:
  using Integers::Integers;
  Exact() = default;
  // A copy of x, or x itself.
  Exact(const Integers& x) : Integers(x) {}
  Exact(Integers&& x) noexcept : Integers(std::move(x)) {}
  // The elements of any other array. Throws Error if one is not exact.
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
  Exact(Number) = delete;                                // a number in the place of an array
  Exact(const typename Integers::value_type&) = delete;  // hides a constructor of Integers
};

}  // namespace HEED_NAMESPACE
