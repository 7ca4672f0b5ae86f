// matmul.hpp: matrix products with BLAS, of whole arrays and of blocks inside arrays.
#pragma once

#include "heed/array/shape.hpp"

namespace HEED_NAMESPACE {

// A matrix inside a buffer: element (i, j) is data[i * stride + j], or data[j * stride + i] when
// transposed. Transposing copies nothing.
template <class T>
struct MatrixRef {
  T* data;
  std::size_t rows, columns;  // as read, that is, after transposing
  std::size_t stride;         // elements between two rows as stored
  bool is_transposed = false;

  MatrixRef transposed() const { return {data, columns, rows, stride, !is_transposed}; }
  MatrixRef row_range(std::size_t begin, std::size_t end) const {
    return {data + begin * (is_transposed ? 1 : stride), end - begin, columns, stride,
            is_transposed};
  }
};
using MatrixView = MatrixRef<const Real>;

// Whether a product overwrites its result array or is added to it.
enum class Output { overwrite, accumulate };

// c (M, N) = scale * a (M, K) b (K, N), or c += that, on the calling thread. c is never transposed.
void gemm(MatrixView a, MatrixView b, MatrixRef<Real> c, Output output = Output::overwrite,
          Real scale = 1);

// c = scale * a b. Each sum is computed in double and rounded once, so the result does not depend
// on the order of the terms (except for about one element in ten million, whose sum lies halfway
// between two floats). Half as fast as gemm.
void gemm_in_double(MatrixView a, MatrixView b, MatrixRef<Real> c, Real scale = 1);

// The same as gemm, with the rows of c divided between threads.
void parallel_gemm(MatrixView a, MatrixView b, MatrixRef<Real> c,
                   Output output = Output::overwrite);

// Whether a factor's last two axes are swapped when it is read.
enum class Transpose { no, yes };

// The product of a (..., M, K) and b (..., K, N), shapes as read, with batches that broadcast:
// (..., M, N). Uses several threads. The caller must check the shapes.
Array matrix_product(const Array& a, Transpose transpose_a, const Array& b, Transpose transpose_b);

// Whether several threads may call BLAS at once. An OpenBLAS built for single-threaded programs
// (Debian's libopenblas0-serial) lets two calls write into each other's buffers.
bool blas_is_thread_safe();

// The name and build options of the BLAS in use, for reports.
const char* blas_name();

// OpenBLAS treats a processor newer than itself as the oldest that it knows ("Prescott", 2004) and
// reaches a fifth of its speed. Returns the kernels that this processor can run instead, the value
// to set for OPENBLAS_CORETYPE before the program starts; nullptr where nothing needs to change.
const char* better_openblas_coretype();

}  // namespace HEED_NAMESPACE
