// parallel.hpp: parallel loops whose results are bit-identical for any number of threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>

#include "heed/array/precision.hpp"
#include "heed/base/source_location.hpp"

namespace HEED_NAMESPACE {

// The number of threads that parallel loops use. The default is the environment variable
// OMP_NUM_THREADS or, if it is not set, usable_cores() (machine.hpp).
// set_num_threads throws Error unless `threads` is between 1 and 1024. num_threads() is at most
// OMP_THREAD_LIMIT and, if blas_is_thread_safe() is false, always 1.
void set_num_threads(int threads, SourceLocation location = SourceLocation::current());
int num_threads();

// Calls body(begin, end) for consecutive chunks of [0, n). Each chunk has `grain` iterations, the
// last one possibly fewer. The chunk boundaries depend only on n and grain, so the results are
// bit-identical for any number of threads. An exception thrown by body is rethrown after all
// threads have stopped.
template <class Body>
void parallel_for(std::size_t n, std::size_t grain, const Body& body) {
  const std::size_t chunks = n == 0 ? 0 : (n - 1) / grain + 1;
  const auto run = [&](std::size_t i) { body(i * grain, std::min(n, (i + 1) * grain)); };
#ifdef _OPENMP
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
#endif
  for (std::size_t i = 0; i < chunks; ++i) run(i);
}

// Calls body(begin, end) for consecutive ranges of [0, n), at most one per thread. Ranges begin at
// multiples of `grain` and have more than min_size - grain iterations (unless n is smaller). Use
// parallel_ranges if long ranges are faster than short ones, and if the results do not depend on
// where a range begins.
template <class Body>
void parallel_ranges(std::size_t n, std::size_t grain, std::size_t min_size, const Body& body) {
  if (n < std::max(grain, min_size)) return body(std::size_t{0}, n);
  const std::size_t max_ranges = std::max<std::size_t>(n / std::max(grain, min_size), 1);
  const std::size_t ranges = std::min(max_ranges, static_cast<std::size_t>(num_threads()));
  const auto start = [&](std::size_t i) {
    return i == ranges ? n : (n * i / ranges + grain / 2) / grain * grain;
  };
  parallel_for(ranges, 1, [&](std::size_t i, std::size_t) { body(start(i), start(i + 1)); });
}

inline constexpr std::size_t elementwise_grain = 16384;  // elements per chunk, about 5 us of work

}  // namespace HEED_NAMESPACE
