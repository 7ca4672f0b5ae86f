// dtypes.hpp: the dtypes F32, F64, F16 and BF16, whose numbers are converted to Real.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

#include "files/safetensors_reader.hpp"
#include "heed/base/error.hpp"
#include "heed/gemm/bf16.hpp"

namespace HEED_NAMESPACE {

inline float as_number(float x) { return x; }
inline double as_number(double x) { return x; }

struct F16 {
  std::uint16_t bits;
};
inline float as_number(F16 x) { return float_of_f16(x.bits); }

struct Bf16 {
  std::uint16_t bits;
};
inline float as_number(Bf16 x) { return float_of_bf16(x.bits); }

// The dtype of Real.
inline constexpr const char* real_dtype = sizeof(Real) == 4 ? "F32" : "F64";
inline constexpr double largest_real = static_cast<double>(std::numeric_limits<Real>::max());

// Calls f(x) with an x of the type that has this dtype. Returns false for other dtypes.
template <class F>
bool with_type(const std::string& dtype, const F& f) {
  if (dtype == "F32")
    f(float());
  else if (dtype == "F64")
    f(double());
  else if (dtype == "F16")
    f(F16());
  else if (dtype == "BF16")
    f(Bf16());
  else
    return false;
  return true;
}

// The number of bytes of an element; 0 for a dtype that is not converted to Real.
inline std::size_t bytes_each(const std::string& dtype) {
  std::size_t bytes = 0;
  with_type(dtype, [&](auto x) { bytes = sizeof x; });
  return bytes;
}

// Throws Error for a dtype that is not converted to Real. `name` begins the message, such as
// "PATH: tensor 'NAME'".
inline void check_dtype(const std::string& name, const std::string& dtype) {
  if (bytes_each(dtype) == 0)
    throw_error(name, ": its dtype is ", dtype, ", not F32, F16, BF16 or F64");
}

// Throws Error if the value of an element is finite and too large for Real.
template <class Number>
void check_magnitude(const std::string& name, std::size_t element, Number value) {
  if (std::isfinite(value) && std::abs(value) > largest_real)
    throw_error(name, ": element ", element, " is ", value, ", which is too large for ",
                real_dtype);
}

// The value of the element at `index` of numbers that may be unaligned.
template <class Stored>
auto number_at(const unsigned char* bytes, std::size_t index) {
  Stored stored;
  std::memcpy(&stored, bytes + index * sizeof stored, sizeof stored);
  return as_number(stored);
}

}  // namespace HEED_NAMESPACE
