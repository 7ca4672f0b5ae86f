// compact.cpp: products with matrices in BF16 or in eight bits.

#include "heed/gemm/compact.hpp"

#include <algorithm>

#include "heed/array/parallel.hpp"
#include "heed/gemm/bf16.hpp"
#include "heed/gemm/gemm.hpp"
#include "heed/gemm/int8.hpp"

namespace HEED_NAMESPACE {

std::shared_ptr<CompactMatrix> CompactMatrices::make(std::size_t rows, std::size_t columns) const {
  if (type == WeightType::int8) return std::make_shared<Int8Matrix>(rows, columns);
  return std::make_shared<Bf16Matrix>(rows, columns);
}

namespace {

// Reads each row of the weights once, and multiplies it by all rows of x.
void product_of_few_rows(const Real* x, std::size_t rows, const CompactMatrix& weight, Real* y) {
  const std::size_t in = weight.columns(), out = weight.rows();
  constexpr std::size_t weights_per_chunk = 131072;  // 256 kB in BF16, which take some 20 us to read
  parallel_for(out, weights_per_chunk / in + 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      for (std::size_t r = 0; r < rows; ++r) y[r * out + i] = weight.dot(i, x + r * in);
  });
}

// Converts the rows begin to end - 1 of the weights to Real.
void widen(const CompactMatrix& weight, std::size_t begin, std::size_t end, Real* out) {
  constexpr std::size_t rows_per_chunk = 64;
  parallel_for(end - begin, rows_per_chunk, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i)
      weight.copy_row(begin + i, out + i * weight.columns());
  });
}

// Converts blocks of the weights to Real, and leaves the products to BLAS.
void product_of_many_rows(const Real* x, std::size_t rows, const CompactMatrix& weight, Real* y) {
  const std::size_t in = weight.columns(), out = weight.rows();
  constexpr std::size_t block = 1024;
  Array wide = uninitialized({std::min(block, out), in});
  for (std::size_t begin = 0; begin < out; begin += block) {
    const std::size_t n = std::min(block, out - begin);
    widen(weight, begin, begin + n, wide.data());
    const MatrixView rows_of_block{wide.data(), n, in, in};
    parallel_gemm({x, rows, in, in}, rows_of_block.transposed(), {y + begin, rows, n, out});
  }
}

}  // namespace

void product_with_transposed(const Real* x, std::size_t rows, const CompactMatrix& weight,
                             Real* y) {
  constexpr std::size_t few_rows = 8;
  if (weight.columns() == 0)
    std::fill_n(y, rows * weight.rows(), Real{0});
  else if (rows < few_rows)
    product_of_few_rows(x, rows, weight, y);
  else
    product_of_many_rows(x, rows, weight, y);
}

}  // namespace HEED_NAMESPACE
