// parallel.hpp: parallel loops whose results are bit-identical for any number of threads.
#pragma once

#include <cstddef>

#include "heed/array/precision.hpp"
#include "heed/base/source_location.hpp"

namespace HEED_NAMESPACE {

// The number of threads that parallel loops use. The default is the environment variable
// OMP_NUM_THREADS or, if it is not set, usable_cores() (machine.hpp).
// set_num_threads throws Error unless `threads` is between 1 and 1024. num_threads() is at most
// OMP_THREAD_LIMIT and, if blas_is_thread_safe() is false, always 1.
void set_num_threads(int threads, SourceLocation location = SourceLocation::current());
int num_threads();

// A reference to a function body(begin, end), which must outlive it.
class RangeBody {
 public:
  // A reference to `function`.
  template <class Function>
  RangeBody(const Function& function)
      : function_(&function), call_([](const void* f, std::size_t begin, std::size_t end) {
          (*static_cast<const Function*>(f))(begin, end);
        }) {}
  // Calls the function for the indices begin to end - 1.
  void operator()(std::size_t begin, std::size_t end) const { call_(function_, begin, end); }

 private:
  const void* function_;
  void (*call_)(const void* function, std::size_t begin, std::size_t end);
};

// Calls body(begin, end) for consecutive chunks of [0, n). Each chunk has `grain` iterations, the
// last one possibly fewer. The chunk boundaries depend only on n and grain, so the results are
// bit-identical for any number of threads. An exception thrown by body is rethrown after all
// threads have stopped.
void parallel_for(std::size_t n, std::size_t grain, RangeBody body);

// Calls body(begin, end) for consecutive ranges of [0, n), at most one per thread. Ranges begin at
// multiples of `grain` and have more than min_size - grain iterations (unless n is smaller). Use
// parallel_ranges if long ranges are faster than short ones, and if the results do not depend on
// where a range begins.
void parallel_ranges(std::size_t n, std::size_t grain, std::size_t min_size, RangeBody body);

inline constexpr std::size_t elementwise_grain = 16384;  // elements per chunk, about 5 us of work

}  // namespace HEED_NAMESPACE
