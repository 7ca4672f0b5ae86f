// dtypes.cpp: converts numbers in F32, F64, F16 and BF16 to Real.

#include "files/dtypes.hpp"

#include <cmath>
#include <cstring>
#include <limits>

#include "heed/array/shape.hpp"
#include "heed/base/error.hpp"
#include "heed/gemm/bf16.hpp"

namespace HEED_NAMESPACE {
namespace {

float as_number(float x) { return x; }
double as_number(double x) { return x; }

struct F16 {
  std::uint16_t bits;
};
float as_number(F16 x) { return float_of_f16(x.bits); }

struct Bf16 {
  std::uint16_t bits;
};
float as_number(Bf16 x) { return float_of_bf16(x.bits); }

// Calls f(x) with an x of the type that has this dtype. Does nothing for other dtypes.
template <class F>
void with_type(const std::string& dtype, const F& f) {
  if (dtype == "F32") f(float());
  if (dtype == "F64") f(double());
  if (dtype == "F16") f(F16());
  if (dtype == "BF16") f(Bf16());
}

template <class Stored>
auto number_at(const unsigned char* bytes, std::size_t index) {
  Stored stored;
  std::memcpy(&stored, bytes + index * sizeof stored, sizeof stored);
  return as_number(stored);
}

}  // namespace

std::size_t bytes_each(const std::string& dtype) {
  std::size_t bytes = 0;
  with_type(dtype, [&](auto x) { bytes = sizeof x; });
  return bytes;
}

void check_dtype(const std::string& name, const StoredTensor& tensor) {
  if (bytes_each(tensor.dtype) == 0)
    throw_error(name, ": its dtype is ", tensor.dtype, ", not F32, F16, BF16 or F64");
  const Shape shape(tensor.shape.begin(), tensor.shape.end());
  if (const std::size_t bytes = numel(shape) * bytes_each(tensor.dtype); bytes != tensor.bytes)
    throw_error(name, ": its shape ", str(shape), " takes ", bytes, " bytes in ", tensor.dtype,
                ", but it has ", tensor.bytes, " bytes");
}

void convert(const std::string& dtype, const unsigned char* bytes, std::size_t count, Real* out) {
  constexpr Real infinity = std::numeric_limits<Real>::infinity();
  constexpr double largest = std::numeric_limits<Real>::max();
  with_type(dtype, [&](auto x) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto value = number_at<decltype(x)>(bytes, i);
      out[i] = std::abs(value) > largest
                   ? std::copysign(infinity, static_cast<Real>(value > 0 ? 1 : -1))
                   : static_cast<Real>(value);
    }
  });
}

void check_numbers(const std::string& name, const std::string& dtype, const unsigned char* bytes,
                   std::size_t first, std::size_t count, const Real* values, bool only_finite) {
  for (std::size_t i = 0; i < count; ++i) {
    if (std::isfinite(values[i])) continue;
    double value = 0;
    with_type(dtype, [&](auto x) { value = number_at<decltype(x)>(bytes, i); });
    if (std::isfinite(value))
      throw_error(name, ": element ", first + i, " is ", value, ", which is too large for ",
                  real_dtype);
    if (only_finite)
      throw_error(name, ": element ", first + i, " is ", value, ", which is not finite");
  }
}

float float_of_f16(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000u) << 16, exponent = (bits >> 10) & 0x1f;
  const std::uint32_t fraction = bits & 0x3ffu;
  if (exponent == 0) {  // zero, or a subnormal number: fraction * 2^-24
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return sign != 0 ? -magnitude : magnitude;
  }
  // 0xff: infinity or NaN
  const std::uint32_t new_exponent = exponent == 0x1f ? 0xff : exponent + 127 - 15;
  const std::uint32_t wide = sign | new_exponent << 23 | fraction << 13;
  float x;
  std::memcpy(&x, &wide, sizeof x);
  return x;
}

}  // namespace HEED_NAMESPACE
