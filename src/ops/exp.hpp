// exp.hpp: e^x on SIMD registers, accurate up to overflow and underflow.
#pragma once

#include "heed/array/map.hpp"

namespace HEED_NAMESPACE {

// xsimd::exp returns infinity for the last x below ln(max), and 0 where e^x is subnormal. Near both
// ends of the range, this is (e^(x/2))^2.
inline Pack exp_in_full(Pack x) {
  constexpr Real edge = sizeof(Real) == sizeof(float) ? Real(87) : Real(708);
  const Pack y = xsimd::exp(x);
  const auto near_the_ends = xsimd::abs(x) > Pack(edge);
  if (!xsimd::any(near_the_ends)) return y;
  const Pack root = xsimd::exp(Real(0.5) * x);
  return xsimd::select(near_the_ends, root * root, y);
}

}  // namespace HEED_NAMESPACE
