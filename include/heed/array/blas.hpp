// blas.hpp: MatrixRef (a matrix inside a buffer), matrix products by BLAS in float and double, and
// properties of the BLAS library.
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

// Converts n to BLAS's integer type. Throws Error if n is too large.
int blas_int(std::size_t n);

// c = beta c + alpha a b, computed by BLAS on the calling thread, in the precision of T: float or
// double.
template <class T>
void blas_gemm(MatrixRef<const T> a, MatrixRef<const T> b, MatrixRef<T> c, T beta, T alpha);

// Writes the transposed matrix of x, row by row, to `out`. x must not be stored transposed.
template <class T>
void blas_transpose(MatrixRef<const T> x, T* out);

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
