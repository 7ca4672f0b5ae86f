// dtypes.hpp: the dtypes F32, F64, F16 and BF16, whose numbers are converted to Real.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "heed/files/safetensors.hpp"

namespace HEED_NAMESPACE {

// The dtype of Real.
inline constexpr const char* real_dtype = sizeof(Real) == 4 ? "F32" : "F64";

// The number of bytes of an element; 0 for a dtype that is not converted to Real.
std::size_t bytes_each(const std::string& dtype);

// Throws Error for a dtype that is not converted to Real, and unless the tensor has as many bytes
// as its shape takes. `name` begins the message, such as "PATH: tensor 'NAME'".
void check_dtype(const std::string& name, const StoredTensor& tensor);

// Converts `count` numbers, which may be unaligned. Numbers that are finite and too large for Real
// become infinite.
void convert(const std::string& dtype, const unsigned char* bytes, std::size_t count, Real* out);

// Throws Error for the first of the converted numbers `values` that was finite in `bytes` and is
// too large for Real; if `only_finite`, also for one that is infinite or NaN. The message has the
// index of the element, counted from `first`.
void check_numbers(const std::string& name, const std::string& dtype, const unsigned char* bytes,
                   std::size_t first, std::size_t count, const Real* values, bool only_finite);

// The value of a number in F16 (IEEE 754 binary16, with subnormal numbers).
float float_of_f16(std::uint16_t bits);

}  // namespace HEED_NAMESPACE
