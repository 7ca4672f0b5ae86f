// matmul.hpp: matrix products with BLAS, of whole arrays and of blocks inside arrays.
#pragma once

#include "heed/array/shape.hpp"

namespace HEED_NAMESPACE {

// A matrix inside a buffer: element (i, j) is data[i * stride + j], or data[j * stride + i] when
// transposed. Transposing copies nothing.
template <class T>
struct MatrixRef {
  T* data;                     // element (0, 0)
  std::size_t rows, columns;   // shape of the matrix, after transposing
  std::size_t stride;          // leading dimension: elements from one stored row to the next
  bool is_transposed = false;  // whether the buffer holds the transposed matrix

  // Views of the same buffer: the transposed matrix, and the rows begin to end - 1 of the matrix.
  MatrixRef transposed() const { return {data, columns, rows, stride, !is_transposed}; }
  MatrixRef row_range(std::size_t begin, std::size_t end) const {
    return {data + begin * (is_transposed ? 1 : stride), end - begin, columns, stride,
            is_transposed};
  }
};
using MatrixView = MatrixRef<const Real>;  // a read-only matrix

// Whether a product overwrites its result array or is added to it.
enum class Output { overwrite, accumulate };

// c = scale * a b, or c += scale * a b, for a (M, K), b (K, N) and c (M, N). c must not be
// transposed. Runs on the calling thread.
void gemm(MatrixView a, MatrixView b, MatrixRef<Real> c, Output output = Output::overwrite,
          Real scale = 1);

// c = scale * a b. Each sum is computed in double and rounded once, so the result does not depend
// on the order of the terms (except for about one element in ten million, whose sum lies halfway
// between two floats). Takes twice as long as gemm.
void gemm_in_double(MatrixView a, MatrixView b, MatrixRef<Real> c, Real scale = 1);

// Computes c = a b or c += a b like gemm, but divides the rows of c between threads.
void parallel_gemm(MatrixView a, MatrixView b, MatrixRef<Real> c,
                   Output output = Output::overwrite);

// Whether a factor of a matrix product is transposed, that is, its last two axes are swapped.
enum class Transpose { no, yes };

// The product (..., M, N) of a (..., M, K) and b (..., K, N), where the shapes are those after
// transposing. The batch axes broadcast. Uses several threads. The caller must check the shapes.
Array matrix_product(const Array& a, Transpose transpose_a, const Array& b, Transpose transpose_b);

// Whether several threads may call BLAS at once. An OpenBLAS built for single-threaded programs
// (Debian's libopenblas0-serial) lets concurrent calls overwrite each other's buffers.
bool blas_is_thread_safe();

// The name and build options of the BLAS library in use.
const char* blas_name();

// On a processor that OpenBLAS does not recognise, OpenBLAS uses its kernels for "Prescott" (2004),
// which are five times slower. In this case, returns a better value for the environment variable
// OPENBLAS_CORETYPE, which must be set before program start; otherwise returns nullptr.
const char* better_openblas_coretype();

}  // namespace HEED_NAMESPACE
