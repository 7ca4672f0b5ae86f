// blas_gemm.hpp: the matrix product of BLAS in float and in double, and OpenBLAS's transposition.
#pragma once

#include "heed/array/matmul.hpp"

namespace HEED_NAMESPACE {

// n as an integer of BLAS. Throws Error if n is too large.
int blas_int(std::size_t n);

// c = beta c + alpha a b, computed by BLAS on the calling thread, in the precision of T.
template <class T>
void blas_gemm(MatrixRef<const T> a, MatrixRef<const T> b, MatrixRef<T> c, T beta, T alpha);
extern template void blas_gemm<Real>(MatrixRef<const Real>, MatrixRef<const Real>, MatrixRef<Real>,
                                     Real, Real);

// Writes the transposed matrix of x, row by row, to `out`. x must not be stored transposed.
template <class T>
void blas_transpose(MatrixRef<const T> x, T* out);
extern template void blas_transpose<Real>(MatrixView, Real*);

}  // namespace HEED_NAMESPACE
