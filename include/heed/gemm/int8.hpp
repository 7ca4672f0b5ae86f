// int8.hpp: matrices of weights in eight bits, which take a quarter of the memory of float.
#pragma once

#include <cstdint>
#include <vector>

#include "heed/gemm/compact.hpp"

namespace HEED_NAMESPACE {

// Element w of a row is stored as the integer q nearest to w / s, where s, the scale of the row, is
// its largest |w| / 127. So w differs from q s by at most s / 2, a 254th of the largest |w|.
class Int8Matrix : public CompactMatrix {
 public:
  Int8Matrix(std::size_t rows, std::size_t columns);  // a matrix of zeros

  const char* type() const override { return "int8"; }
  void set(std::size_t first, const Real* values, std::size_t count) override;
  void copy_row(std::size_t row, Real* out) const override;
  Real dot(std::size_t row, const Real* x) const override;
  bool all_finite() const override;

 private:
  // A row of n numbers is stored in words of four bytes. Word i of the first q = n / 4 (rounded
  // down) has the numbers i, q + i, 2 q + i and 3 q + i; the last n % 4 numbers have a word of
  // their own. Two shifts of a word then give an integer, in loops that the compiler vectorizes on
  // every processor.
  std::size_t quarter() const { return columns() / 4; }
  std::size_t words() const { return (columns() + 3) / 4; }  // number of words per row
  void round_row(std::size_t row);                           // rounds row_ to a row of the matrix

  std::vector<Real> row_;     // the values of a row until all are set
  std::vector<Real> scales_;  // s of each row; NaN if an element is not finite
  std::vector<std::uint32_t, Allocator<std::uint32_t>> data_;
};

}  // namespace HEED_NAMESPACE
