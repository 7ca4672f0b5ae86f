// matmul.hpp: matrix products on BLAS, of whole arrays or of blocks inside them.
#pragma once

#include "heed/array/shape.hpp"

namespace heed {

// A matrix inside somebody's buffer: element (i, j) is data[i * stride + j], or
// data[j * stride + i] when transposed. Nothing is copied to transpose.
template <class T>
struct MatrixRef {
  T* data;
  std::size_t stride;  // elements between rows as stored
  bool transposed = false;
};
using MatrixView = MatrixRef<const Real>;

enum class Output { overwrite, accumulate };

// c (m, n) = scale * a (m, k) b (k, n), or c += that; on the calling thread.
void gemm(std::size_t m, std::size_t n, std::size_t k, MatrixView a, MatrixView b,
          MatrixRef<Real> c, Output into = Output::overwrite, Real scale = 1);

// c = scale * a b with each sum taken in double and rounded once: the same bits in whatever order
// its terms lie (but for one element in some ten million, whose sum falls on the edge between two
// floats). Half as fast as gemm.
void gemm_in_double(std::size_t m, std::size_t n, std::size_t k, MatrixView a, MatrixView b,
                    MatrixRef<Real> c, Real scale = 1);

// The same as gemm, rows of c shared between threads.
void parallel_gemm(std::size_t m, std::size_t n, std::size_t k, MatrixView a, MatrixView b,
                   MatrixRef<Real> c, Output into = Output::overwrite);

// Whether a factor is read as it lies or with its last two axes swapped.
enum class Transpose { no, yes };

// The product of a (..., M, K) and b (..., K, N) as read, over batches that broadcast:
// (..., M, N). Work is shared between threads. Shapes must fit (the operation checks).
Array matrix_product(const Array& a, Transpose read_a, const Array& b, Transpose read_b);

// Whether several threads may call BLAS at once. Not so if it is an OpenBLAS built for programs of
// one thread (Debian's libopenblas0-serial): its products would write into each other's buffers.
bool blas_is_thread_safe();

// What BLAS calls itself, for reports.
const char* blas_name();

// OpenBLAS takes a processor newer than itself for the oldest it knows ("Prescott", 2004) and runs
// at a fifth of the speed. In that case the name of the kernels this processor can run, to be put
// into the environment as OPENBLAS_CORETYPE before the program starts; otherwise nullptr.
const char* better_openblas_coretype();

}  // namespace heed
