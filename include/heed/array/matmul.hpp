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

// c = scale * a b, or c += scale * a b, for a (M, K), b (K, N) and c (M, N), which must not be
// transposed. Runs on the calling thread.
void gemm(MatrixView a, MatrixView b, MatrixRef<Real> c, Output output = Output::overwrite,
          Real scale = 1);

// c = scale * a b. Each sum is computed in double and rounded once, so the result does not depend
// on the order of the terms (except for about one element in ten million, whose sum lies halfway
// between two floats). gemm is twice as fast.
void gemm_in_double(MatrixView a, MatrixView b, MatrixRef<Real> c, Real scale = 1);

// The same as gemm, with the rows of c divided between threads.
void parallel_gemm(MatrixView a, MatrixView b, MatrixRef<Real> c,
                   Output output = Output::overwrite);

// Whether a factor's last two axes are swapped when it is read.
enum class Transpose { no, yes };

// The product (..., M, N) of a (..., M, K) and b (..., K, N), with shapes after transposing. The
// batch axes broadcast. Uses several threads. The caller must check the shapes.
Array matrix_product(const Array& a, Transpose transpose_a, const Array& b, Transpose transpose_b);

// Whether several threads may call BLAS at once. An OpenBLAS built for single-threaded programs
// (Debian's libopenblas0-serial) lets two calls write into each other's buffers.
bool blas_is_thread_safe();

// The name and build options of the BLAS in use, for reports.
const char* blas_name();

// OpenBLAS runs the kernels of a "Prescott" (2004) on processors that it does not know, which is
// five times slower. In this case, returns the value of the environment variable OPENBLAS_CORETYPE
// that selects faster kernels if it is set before the program starts. Otherwise returns nullptr.
const char* better_openblas_coretype();

}  // namespace HEED_NAMESPACE
