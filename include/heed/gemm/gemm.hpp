// gemm.hpp: matrix products, of whole arrays and of blocks inside arrays.
#pragma once

#include "heed/array/blas.hpp"
#include "heed/array/shape.hpp"

namespace HEED_NAMESPACE {

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

}  // namespace HEED_NAMESPACE
