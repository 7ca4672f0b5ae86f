// blas.cpp: GEMM: typed wrappers for sgemm and dgemm, and OpenBLAS's omatcopy (transposition). No
// other file may include cblas.h.

#include "heed/array/blas.hpp"

#include <cblas.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <string_view>
#include <type_traits>
#include <utility>

#include "heed/base/error.hpp"

namespace HEED_NAMESPACE {

int blas_int(std::size_t n) {
  if (n > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw_error("matmul: size ", n, " is too large for BLAS's integers");
  return static_cast<int>(n);
}

// heed runs several single-threaded BLAS calls in parallel: with more threads per call, they would
// be slower, and round differently. If OpenBLAS uses OpenMP, each calling thread has its own
// setting.
static void use_one_blas_thread() {
  static std::mutex one_at_a_time;
  thread_local const bool once = [] {
    const std::lock_guard<std::mutex> lock(one_at_a_time);
    openblas_set_num_threads(1);
    return true;
  }();
  static_cast<void>(once);
}

static CBLAS_TRANSPOSE blas_flag(bool transposed) { return transposed ? CblasTrans : CblasNoTrans; }

template <class T>
void blas_gemm(MatrixRef<const T> a, MatrixRef<const T> b, MatrixRef<T> c, T beta, T alpha) {
  use_one_blas_thread();
  const int lda = blas_int(std::max<std::size_t>(a.stride, 1));
  const int ldb = blas_int(std::max<std::size_t>(b.stride, 1)), ldc = blas_int(c.stride);
  const int M = blas_int(c.rows), N = blas_int(c.columns), K = blas_int(a.columns);
  const auto [gemm_function, gemv_function] = [] {
    if constexpr (std::is_same_v<T, double>)
      return std::pair(&cblas_dgemm, &cblas_dgemv);
    else
      return std::pair(&cblas_sgemm, &cblas_sgemv);
  }();
  if (M > 1)
    return gemm_function(CblasRowMajor, blas_flag(a.is_transposed), blas_flag(b.is_transposed), M,
                         N, K, alpha, a.data, lda, b.data, ldb, beta, c.data, ldc);
  // If `a` has one row, the product a b is a vector, which gemv computes 3 times faster than gemm.
  if (beta == 0) std::fill_n(c.data, N, T{0});  // some BLAS versions compute 0 * NaN = NaN
  gemv_function(CblasRowMajor, blas_flag(!b.is_transposed), b.is_transposed ? N : K,
                b.is_transposed ? K : N, alpha, b.data, ldb, a.data, a.is_transposed ? lda : 1, 1,
                c.data, 1);
}

template void blas_gemm(MatrixRef<const float>, MatrixRef<const float>, MatrixRef<float>, float,
                        float);
template void blas_gemm(MatrixRef<const double>, MatrixRef<const double>, MatrixRef<double>, double,
                        double);

template <class T>
void blas_transpose(MatrixRef<const T> x, T* out) {
  const int rows = blas_int(x.rows), columns = blas_int(x.columns), stride = blas_int(x.stride);
  if constexpr (std::is_same_v<T, double>)
    cblas_domatcopy(CblasRowMajor, CblasTrans, rows, columns, 1, x.data, stride, out, rows);
  else
    cblas_somatcopy(CblasRowMajor, CblasTrans, rows, columns, 1, x.data, stride, out, rows);
}

template void blas_transpose(MatrixRef<const float>, float*);
template void blas_transpose(MatrixRef<const double>, double*);

bool blas_is_thread_safe() {
  constexpr int built_for_one_thread = 0;
  return openblas_get_parallel() != built_for_one_thread ||
         std::string_view(openblas_get_config()).find("USE_LOCKING") != std::string_view::npos;
}

const char* blas_name() {
  use_one_blas_thread();
  return openblas_get_config();
}

const char* better_openblas_coretype() {
#if defined(__x86_64__)
  if (std::string_view(openblas_get_corename()) != "Prescott") return nullptr;
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    return "SkylakeX";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "Haswell";
#endif
  return nullptr;
}

}  // namespace HEED_NAMESPACE
