// bf16.hpp: numbers and matrices in BF16 (bfloat16), which take half the memory of float.
#pragma once

#include <cstdint>
#include <vector>

#include "heed/array/array.hpp"

namespace HEED_NAMESPACE {

// BF16 is the upper half of a binary32 number: 1 bit for the sign, 8 for the exponent, 7 for the
// fraction. float_of_bf16 is exact; bf16_of_float rounds to the nearest number, ties to even. NaN
// stays NaN, and numbers of at least 0x1.ffp127 become infinite.
float float_of_bf16(std::uint16_t bits);
std::uint16_t bf16_of_float(float x);

// A matrix of weights in BF16. A product with few rows takes the time in which the weights are read
// from memory, so that half the bytes take half the time. Sums are computed in Real.
class Bf16Matrix {
 public:
  Bf16Matrix(std::size_t rows, std::size_t columns);  // all elements are 0

  std::size_t rows() const { return rows_; }        // the number of rows
  std::size_t columns() const { return columns_; }  // the number of columns

  // Sets `count` elements, from element `first` on (row-major), to the rounded values.
  void set(std::size_t first, const Real* values, std::size_t count);
  // Copies the `columns()` numbers of a row to `out`.
  void copy_row(std::size_t row, Real* out) const;
  // The dot product of a row and x, which has `columns()` numbers.
  Real dot(std::size_t row, const Real* x) const;
  bool all_finite() const;  // whether no element is infinite or NaN

 private:
  // A row of n numbers is stored in n / 2 words (rounded up): word i has number i in its lower half
  // and number n / 2 + i in its upper half. A shift or a mask of a word then gives a float, in
  // loops that the compiler vectorizes on every processor. The last upper half is 0 if n is odd.
  std::size_t words() const { return (columns_ + 1) / 2; }  // number of words per row

  std::size_t rows_, columns_;
  std::vector<std::uint32_t, Allocator<std::uint32_t>> data_;
};

// y = x W^T: for each of the `rows` rows x (W's columns), a row y (W's rows). Uses several threads,
// with bit-identical results for any number of them.
void product_with_transposed(const Real* x, std::size_t rows, const Bf16Matrix& weight, Real* y);

}  // namespace HEED_NAMESPACE
