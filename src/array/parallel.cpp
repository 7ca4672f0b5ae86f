// parallel.cpp: parallel loops, their number of threads, and how long idle threads busy-wait.

#include "heed/array/parallel.hpp"

#include <omp.h>
#include <stdlib.h>

#include <algorithm>
#include <cstdlib>
#include <exception>

#include "base/machine.hpp"
#include "heed/array/blas.hpp"
#include "heed/base/error.hpp"

namespace HEED_NAMESPACE {

// The value of OMP_NUM_THREADS if it is set, else the number of cores that this process may use.
static int default_threads() {
  if (std::getenv("OMP_NUM_THREADS") != nullptr) return omp_get_max_threads();
  return usable_cores();
}

// 1024 or, if it is smaller, OMP_THREAD_LIMIT: OpenMP starts no more threads.
static int max_threads() { return std::min(omp_get_thread_limit(), 1024); }

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

void parallel_for(std::size_t n, std::size_t grain, RangeBody body) {
  const std::size_t chunks = n == 0 ? 0 : (n - 1) / grain + 1;
  const auto run = [&](std::size_t i) { body(i * grain, std::min(n, (i + 1) * grain)); };
  if (chunks > 1 && num_threads() > 1) {
    std::exception_ptr failure;
#pragma omp parallel for schedule(static) num_threads(num_threads())
    for (std::size_t i = 0; i < chunks; ++i) {
      try {
        run(i);
      } catch (...) {
#pragma omp critical(heed_parallel_for)
        failure = std::current_exception();
      }
    }
    if (failure) std::rethrow_exception(failure);
    return;
  }
  for (std::size_t i = 0; i < chunks; ++i) run(i);
}

void parallel_ranges(std::size_t n, std::size_t grain, std::size_t min_size, RangeBody body) {
  if (n < std::max(grain, min_size)) return body(0, n);
  const std::size_t max_ranges = std::max<std::size_t>(n / std::max(grain, min_size), 1);
  const std::size_t ranges = std::min(max_ranges, static_cast<std::size_t>(num_threads()));
  const auto start = [&](std::size_t i) {
    return i == ranges ? n : (n * i / ranges + grain / 2) / grain * grain;
  };
  parallel_for(ranges, 1, [&](std::size_t i, std::size_t) { body(start(i), start(i + 1)); });
}

}  // namespace HEED_NAMESPACE
