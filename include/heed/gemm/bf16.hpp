// bf16.hpp: numbers and matrices in BF16 (bfloat16), which take half the memory of float.
#pragma once

#include <cstdint>
#include <vector>

#include "heed/gemm/compact.hpp"

namespace HEED_NAMESPACE {

// BF16 is the upper half of a binary32 number: 1 bit for the sign, 8 for the exponent, 7 for the
// fraction. float_of_bf16 is exact; bf16_of_float rounds to the nearest number, ties to even. NaN
// stays NaN, and numbers of at least 0x1.ffp127 become infinite.
float float_of_bf16(std::uint16_t bits);
std::uint16_t bf16_of_float(float x);

// A matrix of weights in BF16.
class Bf16Matrix : public CompactMatrix {
 public:
  Bf16Matrix(std::size_t rows, std::size_t columns);  // all elements are 0

  const char* type() const override { return "BF16"; }
  void set(std::size_t first, const Real* values, std::size_t count) override;
  void copy_row(std::size_t row, Real* out) const override;
  Real dot(std::size_t row, const Real* x) const override;
  bool all_finite() const override;

 private:
  // A row of n numbers is stored in n / 2 words (rounded up): word i has number i in its lower half
  // and number n / 2 + i in its upper half. A shift or a mask of a word then gives a float, in
  // loops that the compiler vectorizes on every processor. The last upper half is 0 if n is odd.
  std::size_t words() const { return (columns() + 1) / 2; }  // number of words per row

  std::vector<std::uint32_t, Allocator<std::uint32_t>> data_;
};

}  // namespace HEED_NAMESPACE
