// gemm_library.cpp: float matrix products by LIBXSMM and oneDNN, which are loaded when needed.

#include "heed/gemm/gemm_library.hpp"

#include <dlfcn.h>
#ifdef HEED_WITH_XSMM
#include <libxsmm.h>
#endif
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "heed/array/blas.hpp"
#include "heed/array/map.hpp"
#include "heed/base/error.hpp"

namespace HEED_NAMESPACE {
namespace {

// The function `name` of a shared library with one of the file names, or nullptr.
template <class F>
F* loaded(std::initializer_list<const char*> files, const char* name) {
  if (sizeof(Real) != sizeof(float)) return nullptr;
  for (const char* file : files)
    if (void* const library = dlopen(file, RTLD_LAZY | RTLD_LOCAL))
      if (void* const function = dlsym(library, name)) return reinterpret_cast<F*>(function);
  return nullptr;
}

// Whether this process may write code and run it, as LIBXSMM and oneDNN do. Some systems forbid it,
// for example systemd with MemoryDenyWriteExecute; LIBXSMM would then end with SIGSEGV.
bool may_compile_functions() {
  constexpr std::size_t size = 4096;
  void* const page =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return false;
  ::munmap(page, size);
  return true;
}

// ---- LIBXSMM compiles a function for each shape. It stores matrices by columns, so a product of
// ours, c = a b, is its C^T = B^T A^T.

#ifdef HEED_WITH_XSMM
// When LIBXSMM starts, it opens the file /tmp/.libxsmm.UID. If another user has made a pipe of this
// name, LIBXSMM would wait for its reader for ever; through a link, it would make another file.
bool xsmm_can_start() {
  struct stat status;
  const std::string file = "/tmp/.libxsmm." + std::to_string(::getuid());
  return ::lstat(file.c_str(), &status) != 0 || S_ISREG(status.st_mode);
}

// LIBXSMM sets OMP_PROC_BIND when it starts, for programs that this one starts later: each would
// run its first thread on the first core.
bool start_xsmm() {
  const bool binds = std::getenv("OMP_PROC_BIND") != nullptr;
  libxsmm_init();
  if (!binds) unsetenv("OMP_PROC_BIND");
  return true;
}

bool with_xsmm() {
  static const bool started =
      sizeof(Real) == sizeof(float) && may_compile_functions() && xsmm_can_start() && start_xsmm();
  return started;
}

// A copy of b with rows that are contiguous, in a buffer that each thread keeps.
MatrixView rows_of(MatrixView b) {
  thread_local std::vector<Real> buffer;
  buffer.resize(b.rows * b.columns);
  blas_transpose<Real>(b.transposed(), buffer.data());
  return {buffer.data(), b.rows, b.columns, b.columns};
}

void multiply(MatrixRef<Real> c, Real scale) {
  for (std::size_t i = 0; i < c.rows; ++i)
    map_values([scale](auto x) { return x * scale; }, c.data + i * c.stride, c.columns,
               c.data + i * c.stride);
}

// The sizes, strides and flags of a product, which determine LIBXSMM's function for it.
struct XsmmShape {
  int m, n, k, lda, ldb, ldc, flags, adds;
  friend bool operator==(const XsmmShape& a, const XsmmShape& b) {
    return std::memcmp(&a, &b, sizeof a) == 0;
  }
};

// LIBXSMM's function for the shape, or nullptr. Each thread keeps the functions of its last shapes,
// because LIBXSMM's own search takes 26 ns, as long as the smallest products of attention.
libxsmm_smmfunction function_for(const XsmmShape& s) {
  struct Kept {
    XsmmShape shape;
    libxsmm_smmfunction function;
  };
  constexpr std::size_t count = 64;
  thread_local std::array<Kept, count> kept{};
  const int mixed = s.m + 3 * s.n + 5 * s.k + 7 * s.lda + 11 * s.ldb + 13 * s.flags + 17 * s.adds;
  Kept& entry = kept[static_cast<unsigned>(mixed) * 2654435761u >> 26];
  if (entry.function != nullptr && entry.shape == s) return entry.function;
  const float alpha = 1, beta = s.adds ? 1 : 0;
  entry = {s, libxsmm_smmdispatch(s.m, s.n, s.k, &s.lda, &s.ldb, &s.ldc, &alpha, &beta, &s.flags,
                                  nullptr)};
  return entry.function;
}

// Returns false if LIBXSMM has no function for the product. It has none for c += scale * a b.
bool xsmm_gemm(MatrixView a, MatrixView b, MatrixRef<Real> c, Output output, Real scale) {
  if (scale != 1 && output == Output::accumulate) return false;
  if (b.is_transposed) b = rows_of(b);
  const int m = blas_int(c.columns), n = blas_int(c.rows), k = blas_int(a.columns);
  const int lda = blas_int(b.stride), ldb = blas_int(a.stride), ldc = blas_int(c.stride);
  const int flags = a.is_transposed ? LIBXSMM_GEMM_FLAG_TRANS_B : LIBXSMM_GEMM_FLAG_NONE;
  const libxsmm_smmfunction product =
      function_for({m, n, k, lda, ldb, ldc, flags, output == Output::accumulate});
  if (product == nullptr) return false;
  const auto floats = [](const Real* x) { return reinterpret_cast<const float*>(x); };
  product(floats(b.data), floats(a.data), reinterpret_cast<float*>(c.data));
  if (scale != 1) multiply(c, scale);
  return true;
}
#else
bool with_xsmm() { return false; }
bool xsmm_gemm(MatrixView, MatrixView, MatrixRef<Real>, Output, Real) { return false; }
#endif

// ---- oneDNN 2 and 3 (dnnl.h)

using DnnlSgemm = int(char transpose_a, char transpose_b, std::int64_t m, std::int64_t n,
                      std::int64_t k, float alpha, const float* a, std::int64_t lda, const float* b,
                      std::int64_t ldb, float beta, float* c, std::int64_t ldc);

constexpr auto onednn_files = {"libdnnl.so.3", "libdnnl.so.2", "libdnnl.3.dylib"};

DnnlSgemm* dnnl_sgemm() {
  static DnnlSgemm* const sgemm =
      may_compile_functions() ? loaded<DnnlSgemm>(onednn_files, "dnnl_sgemm") : nullptr;
  return sgemm;
}

// oneDNN would start threads of its own for a call, by the OpenMP library that it is linked with.
void keep_onednn_on_one_thread() {
  using SetThreads = void(int);
  static SetThreads* const set_threads =
      loaded<SetThreads>({"libgomp.so.1", "libomp.dylib"}, "omp_set_num_threads");
  thread_local const bool once = [] {
    if (set_threads != nullptr) set_threads(1);
    return true;
  }();
  static_cast<void>(once);
}

bool onednn_gemm(MatrixView a, MatrixView b, MatrixRef<Real> c, Output output, Real scale) {
  keep_onednn_on_one_thread();
  const auto size = [](std::size_t n) { return static_cast<std::int64_t>(n); };
  const auto flag = [](MatrixView x) { return x.is_transposed ? 'T' : 'N'; };
  const auto floats = [](const Real* x) { return reinterpret_cast<const float*>(x); };
  const int status = dnnl_sgemm()(
      flag(a), flag(b), size(c.rows), size(c.columns), size(a.columns), static_cast<float>(scale),
      floats(a.data), size(a.stride), floats(b.data), size(b.stride),
      output == Output::accumulate ? 1.0f : 0.0f, reinterpret_cast<float*>(c.data), size(c.stride));
  return status == 0;
}

// Whether oneDNN uses AVX-512 on this processor. ONEDNN_MAX_CPU_ISA can forbid it.
bool onednn_has_avx512() {
  using EffectiveIsa = int();
  static EffectiveIsa* const effective_isa =
      loaded<EffectiveIsa>(onednn_files, "dnnl_get_effective_cpu_isa");
  constexpr int avx512_core = 0x20;  // a bit of dnnl_cpu_isa_avx512_core and of all later ones
  return effective_isa != nullptr && (effective_isa() & avx512_core) != 0;
}

// Without AVX-512, oneDNN's rounding of a row depends on the number of rows of the call. All
// products are then computed in calls of 64 rows, which are the same for any number of threads.
// They take 1.0 to 1.1 of the time of one call, but up to 2.2 if a is transposed and large.
bool needs_equal_calls(GemmLibrary library) {
  if (library != GemmLibrary::onednn) return false;
  static const bool needed = !onednn_has_avx512();
  return needed;
}
constexpr std::size_t rows_of_equal_calls = 64;

}  // namespace

std::string_view name_of(GemmLibrary library) {
  constexpr std::string_view names[] = {"openblas", "xsmm", "onednn"};
  return names[static_cast<std::size_t>(library)];
}

bool is_installed(GemmLibrary library) {
  if (library == GemmLibrary::openblas) return true;
  return library == GemmLibrary::xsmm ? with_xsmm() : dnnl_sgemm() != nullptr;
}

std::size_t rows_per_tile(GemmLibrary library) {
  constexpr std::size_t tile = 24;  // OpenBLAS: 12 rows on Haswell and Zen, 8 on Nehalem
  return needs_equal_calls(library) ? rows_of_equal_calls : tile;
}

static void gemm_in_one_call(GemmLibrary library, MatrixView a, MatrixView b, MatrixRef<Real> c,
                             Output output, Real scale) {
  // A product with a vector is limited by memory; OpenBLAS has functions for it.
  const bool is_vector = c.rows == 1 || c.columns == 1 || a.columns == 0;
  if (!is_vector && library == GemmLibrary::xsmm && xsmm_gemm(a, b, c, output, scale)) return;
  if (!is_vector && library == GemmLibrary::onednn && onednn_gemm(a, b, c, output, scale)) return;
  blas_gemm<Real>(a, b, c, output == Output::accumulate ? Real{1} : Real{0}, scale);
}

void gemm_by(GemmLibrary library, MatrixView a, MatrixView b, MatrixRef<Real> c, Output output,
             Real scale) {
  if (c.rows == 0 || c.columns == 0) return;
  const std::size_t rows = needs_equal_calls(library) ? rows_of_equal_calls : c.rows;
  for (std::size_t begin = 0; begin < c.rows; begin += rows) {
    const std::size_t end = std::min(c.rows, begin + rows);
    gemm_in_one_call(library, a.row_range(begin, end), b, c.row_range(begin, end), output, scale);
  }
}

}  // namespace HEED_NAMESPACE
