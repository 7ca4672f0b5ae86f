// int8.cpp: matrices of weights in eight bits.

#include "heed/gemm/int8.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace HEED_NAMESPACE {
namespace {

// The integer in byte `byte` of a word, 0 for the lowest.
template <int byte>
Real integer(std::uint32_t word) {
  return static_cast<Real>(static_cast<std::int32_t>(word << (24 - 8 * byte)) >> 24);
}

Real integer_at(std::uint32_t word, std::size_t byte) {
  return static_cast<Real>(static_cast<std::int8_t>(word >> (8 * byte) & 0xffu));
}

}  // namespace

Int8Matrix::Int8Matrix(std::size_t rows, std::size_t columns)
    : CompactMatrix(rows, columns), row_(columns), scales_(rows), data_(rows * words()) {}

void Int8Matrix::set(std::size_t first, const Real* values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t column = (first + i) % columns();
    row_[column] = values[i];
    if (column + 1 == columns()) round_row((first + i) / columns());
  }
}

void Int8Matrix::round_row(std::size_t row) {
  constexpr Real most = 127;
  Real largest = 0;
  for (const Real w : row_) {
    if (std::isfinite(w)) {
      largest = std::max(largest, std::abs(w));
    } else {
      scales_[row] = std::numeric_limits<Real>::quiet_NaN();
      return;
    }
  }
  scales_[row] = largest / most;
  std::uint32_t* const to = data_.data() + row * words();
  std::fill_n(to, words(), 0u);
  for (std::size_t i = 0; i < columns(); ++i) {
    // A quotient first: s may be too small for a Real.
    const long rounded = largest == 0 ? 0 : std::lrint(row_[i] / largest * most);
    const bool is_last = i >= 4 * quarter();
    const std::size_t word = is_last ? quarter() : i % quarter();
    const std::size_t byte = is_last ? i % 4 : i / quarter();
    to[word] |= (static_cast<std::uint32_t>(rounded) & 0xffu) << (8 * byte);
  }
}

void Int8Matrix::copy_row(std::size_t row, Real* out) const {
  const std::uint32_t* const from = data_.data() + row * words();
  const std::size_t q = quarter();
  const Real scale = scales_[row];
  for (std::size_t i = 0; i < q; ++i) {
    out[i] = scale * integer<0>(from[i]);
    out[q + i] = scale * integer<1>(from[i]);
    out[2 * q + i] = scale * integer<2>(from[i]);
    out[3 * q + i] = scale * integer<3>(from[i]);
  }
  for (std::size_t i = 4 * q; i < columns(); ++i) out[i] = scale * integer_at(from[q], i % 4);
}

Real Int8Matrix::dot(std::size_t row, const Real* x) const {
  const std::uint32_t* const from = data_.data() + row * words();
  const std::size_t q = quarter();
  Real sums[4] = {};
  for (std::size_t i = 0; i < q; ++i) {
    sums[0] += integer<0>(from[i]) * x[i];
    sums[1] += integer<1>(from[i]) * x[q + i];
    sums[2] += integer<2>(from[i]) * x[2 * q + i];
    sums[3] += integer<3>(from[i]) * x[3 * q + i];
  }
  for (std::size_t i = 4 * q; i < columns(); ++i) sums[i % 4] += integer_at(from[q], i % 4) * x[i];
  return scales_[row] * (sums[0] + sums[1] + (sums[2] + sums[3]));
}

bool Int8Matrix::all_finite() const {
  return std::all_of(scales_.begin(), scales_.end(), [](Real s) { return std::isfinite(s); });
}

}  // namespace HEED_NAMESPACE
