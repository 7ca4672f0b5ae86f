// gemm.cpp: matrix products in parallel, and of batches.

#include "heed/gemm/gemm.hpp"

#include <algorithm>
#include <vector>

#include "heed/array/parallel.hpp"
#include "heed/array/strided.hpp"
#include "heed/gemm/gemm_choice.hpp"

namespace HEED_NAMESPACE {

namespace {

double flop(std::size_t m, std::size_t n, std::size_t k) {
  return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
}

constexpr double min_flop_per_thread = 4e6;  // about 50 us; a thread with less work saves no time

std::size_t min_rows_per_thread(std::size_t m, std::size_t n, std::size_t k, std::size_t tile) {
  const double rows = min_flop_per_thread * static_cast<double>(m) / (flop(m, n, k) + 1);
  return tile + static_cast<std::size_t>(std::min(rows, static_cast<double>(m)));
}

using Doubles = std::vector<double, Allocator<double>>;

// A contiguous copy of x in double, which is stored transposed if x is stored transposed.
Doubles to_double(MatrixView x) {
  const std::size_t rows = x.is_transposed ? x.columns : x.rows;
  const std::size_t columns = x.is_transposed ? x.rows : x.columns;
  Doubles copy(rows * columns);
  for (std::size_t i = 0; i < rows; ++i)
    std::copy_n(x.data + i * x.stride, columns, copy.data() + i * columns);
  return copy;
}

MatrixRef<const double> packed_view(const Doubles& values, MatrixView like) {
  return {values.data(), like.rows, like.columns, like.is_transposed ? like.rows : like.columns,
          like.is_transposed};
}

Shape batch_shape(const Array& x) { return Shape(x.shape().begin(), x.shape().end() - 2); }

// Matrix `i` of the batch x, transposed if `transpose` is yes.
MatrixView matrix_at(const Array& x, std::size_t i, Transpose transpose) {
  const std::size_t rows = x.shape()[x.dimension() - 2], columns = x.shape().back();
  const MatrixView matrix{x.data() + i * rows * columns, rows, columns, columns};
  return transpose == Transpose::yes ? matrix.transposed() : matrix;
}

// Computes one matrix product for each matrix of the batch, in parallel.
void batched_gemm(const Array& a, Transpose transpose_a, const Array& b, Transpose transpose_b,
                  const Shape& batch, Array& c) {
  const StridedLoop<2> matrices(
      batch, {broadcast_strides(batch_shape(a), batch), broadcast_strides(batch_shape(b), batch)});
  const std::size_t m = c.shape()[c.dimension() - 2], n = c.shape().back();
  const std::size_t k = matrix_at(a, 0, transpose_a).columns;
  const auto grain = static_cast<std::size_t>(2 * min_flop_per_thread / (flop(m, n, k) + 1)) + 1;
  parallel_for(numel(batch), grain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto [index_a, index_b] = matrices.offsets(i);
      gemm(matrix_at(a, static_cast<std::size_t>(index_a), transpose_a),
           matrix_at(b, static_cast<std::size_t>(index_b), transpose_b),
           {c.data() + i * m * n, m, n, n});
    }
  });
}

}  // namespace

void gemm(MatrixView a, MatrixView b, MatrixRef<Real> c, Output output, Real scale) {
  gemm_by(gemm_choice().library_for(a, b), a, b, c, output, scale);
}

void gemm_in_double(MatrixView a, MatrixView b, MatrixRef<Real> c, Real scale) {
  if (c.rows == 0 || c.columns == 0) return;
  const Doubles wide_a = to_double(a), wide_b = to_double(b);
  Doubles sums(c.rows * c.columns);
  blas_gemm<double>(packed_view(wide_a, a), packed_view(wide_b, b),
                    {sums.data(), c.rows, c.columns, c.columns}, 0, static_cast<double>(scale));
  for (std::size_t i = 0; i < c.rows; ++i)
    std::transform(sums.data() + i * c.columns, sums.data() + (i + 1) * c.columns,
                   c.data + i * c.stride, [](double sum) { return static_cast<Real>(sum); });
}

void parallel_gemm(MatrixView a, MatrixView b, MatrixRef<Real> c, Output output) {
  const GemmLibrary library = gemm_choice().library_for(a, b);
  const std::size_t tile = rows_per_tile(library);
  const std::size_t min_rows = min_rows_per_thread(c.rows, c.columns, a.columns, tile);
  parallel_ranges(c.rows, tile, min_rows, [&](std::size_t begin, std::size_t end) {
    gemm_by(library, a.row_range(begin, end), b, c.row_range(begin, end), output);
  });
}

Array matrix_product(const Array& a, Transpose transpose_a, const Array& b, Transpose transpose_b) {
  const Shape a_batch = batch_shape(a), b_batch = batch_shape(b);
  const Shape batch = broadcast("matmul", a_batch, b_batch);
  const MatrixView first_a = matrix_at(a, 0, transpose_a), first_b = matrix_at(b, 0, transpose_b);
  const std::size_t m = first_a.rows, k = first_a.columns, n = first_b.columns;
  Shape shape = batch;
  shape.push_back(m);
  shape.push_back(n);
  Array c = uninitialized(shape);
  if (c.size() == 0) return c;
  const std::size_t matrices = numel(batch);
  const bool a_is_rows = transpose_a == Transpose::no && numel(a_batch) == matrices;
  if (numel(b_batch) == 1 && a_is_rows)  // all products share one b: multiply all rows of a by b
    parallel_gemm({a.data(), matrices * m, k, k}, first_b, {c.data(), matrices * m, n, n});
  else if (matrices == 1)
    parallel_gemm(first_a, first_b, {c.data(), m, n, n});
  else
    batched_gemm(a, transpose_a, b, transpose_b, batch, c);
  return c;
}

}  // namespace HEED_NAMESPACE
