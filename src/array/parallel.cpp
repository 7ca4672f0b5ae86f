// parallel.cpp: the number of threads of parallel loops, and how long idle threads busy-wait.

#include "heed/array/parallel.hpp"

#include <stdlib.h>

#include <algorithm>
#include <cstdlib>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "base/machine.hpp"
#include "heed/array/blas.hpp"
#include "heed/base/error.hpp"

namespace HEED_NAMESPACE {

// The value of OMP_NUM_THREADS if it is set, else the number of cores that this process may use.
static int default_threads() {
#ifdef _OPENMP
  if (std::getenv("OMP_NUM_THREADS") != nullptr) return omp_get_max_threads();
#endif
  return usable_cores();
}

// 1024 or, if it is smaller, OMP_THREAD_LIMIT: OpenMP starts no more threads.
static int max_threads() {
#ifdef _OPENMP
  return std::min(omp_get_thread_limit(), 1024);
#else
  return 1024;
#endif
}

// Makes idle OpenMP threads busy-wait for some microseconds only, then sleep. GCC's default, some
// milliseconds, makes heed ten times slower if another program uses the same cores. Priority 101
// makes this function run before GCC's OpenMP, which heed links statically, reads the environment.
__attribute__((constructor(101))) static void shorten_busy_waiting() {
  setenv("GOMP_SPINCOUNT", "10000", 0);
}

static int thread_count = 0;  // 0: default_threads(), which must not run before OpenMP has started

void set_num_threads(int threads, SourceLocation location) {
  const CallSite site(location);
  if (threads < 1 || threads > 1024)
    throw_error("set_num_threads: ", threads, " is not in 1 to 1024");
  thread_count = threads;
}

int num_threads() {
  static const bool thread_safe = blas_is_thread_safe();
  static const int threads_by_default = default_threads(), limit = max_threads();
  if (!thread_safe) return 1;
  return std::min(limit, thread_count == 0 ? threads_by_default : thread_count);
}

}  // namespace HEED_NAMESPACE
