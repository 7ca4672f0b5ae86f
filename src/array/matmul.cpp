// matmul.cpp: the only file that speaks to BLAS.

#include "heed/array/matmul.hpp"

#include <cblas.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "heed/array/parallel.hpp"
#include "heed/array/pool.hpp"
#include "heed/array/strided.hpp"
#include "heed/base/error.hpp"

namespace heed {
namespace {

// Threads are ours: a threaded BLAS inside a threaded loop makes both wait for each other.
const bool blas_is_single_threaded = [] {
  openblas_set_num_threads(1);
  return true;
}();

int blas_int(std::size_t n) {
  if (n > static_cast<std::size_t>(std::numeric_limits<int>::max()))
    throw_error("matmul: a size of ", n, " is more than BLAS can count");
  return static_cast<int>(n);
}

CBLAS_TRANSPOSE blas_flag(bool transposed) { return transposed ? CblasTrans : CblasNoTrans; }

double work(std::size_t m, std::size_t n, std::size_t k) {
  return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
}

constexpr double least_work = 4e6;  // multiplications and additions a thread is woken for: 50 us

// Where the rows of a product may be cut. OpenBLAS rounds a row by its place in a tile (12 rows on
// Haswell and Zen, 8 on Nehalem), and takes another way for the smallest products; at multiples of
// this many rows a cut between large parts changes no bit.
constexpr std::size_t tile = 24;

// Rows of a product that are work for a thread.
std::size_t worthwhile_rows(std::size_t m, std::size_t n, std::size_t k) {
  const double rows = least_work * static_cast<double>(m) / (work(m, n, k) + 1);
  return tile + static_cast<std::size_t>(std::min(rows, static_cast<double>(m)));
}

template <class T>
void product(std::size_t m, std::size_t n, std::size_t k, MatrixRef<const T> a,
             MatrixRef<const T> b, MatrixRef<T> c, T keep, T scale) {
  const int lda = blas_int(std::max<std::size_t>(a.stride, 1));
  const int ldb = blas_int(std::max<std::size_t>(b.stride, 1)), ldc = blas_int(c.stride);
  const int M = blas_int(m), N = blas_int(n), K = blas_int(k);
  const auto [matrix, row] = [] {
    if constexpr (std::is_same_v<T, double>)
      return std::pair(&cblas_dgemm, &cblas_dgemv);
    else
      return std::pair(&cblas_sgemm, &cblas_sgemv);
  }();
  if (m > 1)
    return matrix(CblasRowMajor, blas_flag(a.transposed), blas_flag(b.transposed), M, N, K, scale,
                  a.data, lda, b.data, ldb, keep, c.data, ldc);
  // One row takes a third of the time so: b is not laid out anew first. It is c = b^T a.
  if (keep == 0) std::fill_n(c.data, n, T{0});  // BLAS versions differ on 0 times a NaN in c
  row(CblasRowMajor, blas_flag(!b.transposed), b.transposed ? N : K, b.transposed ? K : N, scale,
      b.data, ldb, a.data, a.transposed ? lda : 1, 1, c.data, 1);
}

using Doubles = std::vector<double, PoolAllocator<double>>;

// The numbers of a matrix as read, (rows, columns), packed.
Doubles doubles(std::size_t rows, std::size_t columns, MatrixView x) {
  if (x.transposed) std::swap(rows, columns);  // as it lies
  Doubles copy(rows * columns);
  for (std::size_t i = 0; i < rows; ++i)
    std::copy_n(x.data + i * x.stride, columns, copy.data() + i * columns);
  return copy;
}

Shape batch_shape(const Array& x) { return Shape(x.shape().begin(), x.shape().end() - 2); }

}  // namespace

void gemm(std::size_t m, std::size_t n, std::size_t k, MatrixView a, MatrixView b,
          MatrixRef<Real> c, Output into, Real scale) {
  if (m == 0 || n == 0) return;
  product<Real>(m, n, k, a, b, c, into == Output::accumulate ? Real{1} : Real{0}, scale);
}

void gemm_in_double(std::size_t m, std::size_t n, std::size_t k, MatrixView a, MatrixView b,
                    MatrixRef<Real> c, Real scale) {
  if (m == 0 || n == 0) return;
  const Doubles wide_a = doubles(m, k, a), wide_b = doubles(k, n, b);
  Doubles sums(m * n);
  product<double>(m, n, k, {wide_a.data(), a.transposed ? m : k, a.transposed},
                  {wide_b.data(), b.transposed ? k : n, b.transposed}, {sums.data(), n}, 0,
                  static_cast<double>(scale));
  for (std::size_t i = 0; i < m; ++i)
    std::transform(sums.data() + i * n, sums.data() + (i + 1) * n, c.data + i * c.stride,
                   [](double sum) { return static_cast<Real>(sum); });
}

void parallel_gemm(std::size_t m, std::size_t n, std::size_t k, MatrixView a, MatrixView b,
                   MatrixRef<Real> c, Output into) {
  const std::size_t shortest = worthwhile_rows(m, n, k);
  parallel_ranges(m, tile, shortest, [&](std::size_t begin, std::size_t end) {
    const Real* const a_rows = a.data + begin * (a.transposed ? 1 : a.stride);
    gemm(end - begin, n, k, {a_rows, a.stride, a.transposed}, b,
         {c.data + begin * c.stride, c.stride}, into);
  });
}

Array matrix_product(const Array& a, Transpose read_a, const Array& b, Transpose read_b) {
  const bool ta = read_a == Transpose::yes, tb = read_b == Transpose::yes;
  const std::size_t a_columns = a.shape().back(), b_columns = b.shape().back();
  const std::size_t m = ta ? a_columns : a.shape()[a.dimension() - 2];
  const std::size_t k = ta ? a.shape()[a.dimension() - 2] : a_columns;
  const std::size_t n = tb ? b.shape()[b.dimension() - 2] : b_columns;
  const Shape a_batch = batch_shape(a), b_batch = batch_shape(b);
  const Shape batch = broadcast("matmul", a_batch, b_batch);

  Shape shape = batch;
  shape.push_back(m);
  shape.push_back(n);
  Array c = uninitialized(shape);
  if (c.size() == 0) return c;
  const std::size_t matrices = numel(batch);
  if (!ta && numel(b_batch) == 1 && numel(a_batch) == matrices) {  // the batch is so many rows
    parallel_gemm(matrices * m, n, k, {a.data(), a_columns}, {b.data(), b_columns, tb},
                  {c.data(), n});
    return c;
  }
  if (matrices == 1) {
    parallel_gemm(m, n, k, {a.data(), a_columns, ta}, {b.data(), b_columns, tb}, {c.data(), n});
    return c;
  }
  const StridedLoop<2> place(
      batch, {broadcast_strides(a_batch, batch), broadcast_strides(b_batch, batch)});
  const auto together = static_cast<std::size_t>(2 * least_work / (work(m, n, k) + 1)) + 1;
  parallel_for(matrices, together, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto [in_a, in_b] = place.offsets(i);
      gemm(m, n, k, {a.data() + static_cast<std::size_t>(in_a) * m * k, a_columns, ta},
           {b.data() + static_cast<std::size_t>(in_b) * k * n, b_columns, tb},
           {c.data() + i * m * n, n});
    }
  });
  return c;
}

bool blas_is_thread_safe() {
  constexpr int built_for_one_thread = 0;
  return openblas_get_parallel() != built_for_one_thread ||
         std::string_view(openblas_get_config()).find("USE_LOCKING") != std::string_view::npos;
}

const char* blas_name() {
  static_cast<void>(blas_is_single_threaded);
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

}  // namespace heed
