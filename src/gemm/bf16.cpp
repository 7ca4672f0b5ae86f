// bf16.cpp: numbers and matrices in BF16.

#include "heed/gemm/bf16.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace HEED_NAMESPACE {
namespace {

float float_of(std::uint32_t bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

// The two numbers in a word of Bf16Matrix.
Real lower_half(std::uint32_t word) { return static_cast<Real>(float_of(word << 16)); }
Real upper_half(std::uint32_t word) { return static_cast<Real>(float_of(word & 0xffff0000u)); }

}  // namespace

float float_of_bf16(std::uint16_t bits) { return float_of(std::uint32_t{bits} << 16); }

std::uint16_t bf16_of_float(float x) {
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  if (std::isnan(x)) return static_cast<std::uint16_t>(bits >> 16 | 0x40u);
  return static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

Bf16Matrix::Bf16Matrix(std::size_t rows, std::size_t columns)
    : CompactMatrix(rows, columns), data_(rows * words()) {}

void Bf16Matrix::set(std::size_t first, const Real* values, std::size_t count) {
  if (count == 0) return;
  std::uint32_t* row = data_.data() + first / columns() * words();
  std::size_t column = first % columns();
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_upper = column >= words();
    std::uint32_t& word = row[is_upper ? column - words() : column];
    const std::uint32_t bits = bf16_of_float(static_cast<float>(values[i]));
    word = is_upper ? (word & 0xffffu) | bits << 16 : (word & 0xffff0000u) | bits;
    if (++column < columns()) continue;
    column = 0;
    row += words();
  }
}

void Bf16Matrix::copy_row(std::size_t row, Real* out) const {
  const std::uint32_t* const from = data_.data() + row * words();
  for (std::size_t i = 0; i < words(); ++i) out[i] = lower_half(from[i]);
  for (std::size_t i = words(); i < columns(); ++i) out[i] = upper_half(from[i - words()]);
}

Real Bf16Matrix::dot(std::size_t row, const Real* x) const {
  const std::uint32_t* const from = data_.data() + row * words();
  const std::size_t pairs = columns() / 2;
  Real lower_sum = 0, upper_sum = 0;
  for (std::size_t i = 0; i < pairs; ++i) {
    lower_sum += lower_half(from[i]) * x[i];
    upper_sum += upper_half(from[i]) * x[words() + i];
  }
  if (pairs != words()) lower_sum += lower_half(from[pairs]) * x[pairs];
  return lower_sum + upper_sum;
}

bool Bf16Matrix::all_finite() const {
  constexpr std::uint32_t exponent = 0x7f80u;  // all ones in infinity and NaN
  return std::none_of(data_.begin(), data_.end(), [](std::uint32_t word) {
    return (word & exponent) == exponent || (word >> 16 & exponent) == exponent;
  });
}

}  // namespace HEED_NAMESPACE
