// parallel.hpp: loops over several threads that give the same bits for any number of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>

namespace heed {

// How many threads loops may use: at first usable_cores() (machine.hpp). set_num_threads throws
// Error for 0 and above 1024. Always one where BLAS cannot be shared between threads
// (blas_is_thread_safe()).
void set_num_threads(int threads);
int num_threads();

// Calls body(begin, end) for consecutive pieces of [0, n), each of `grain` iterations. Where the
// pieces lie depends on n and grain only, never on the number of threads: a body that computes
// its piece the same way every time gives the same bits on one thread and on sixteen.
// What a body throws is thrown again when all threads have stopped.
template <class Body>
void parallel_for(std::size_t n, std::size_t grain, const Body& body) {
  const std::size_t pieces = n == 0 ? 0 : (n - 1) / grain + 1;
  const auto run = [&](std::size_t i) { body(i * grain, std::min(n, (i + 1) * grain)); };
#ifdef _OPENMP
  if (pieces > 1 && num_threads() > 1) {
    std::exception_ptr failure;
#pragma omp parallel for schedule(static) num_threads(num_threads())
    for (std::size_t i = 0; i < pieces; ++i) {
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
  for (std::size_t i = 0; i < pieces; ++i) run(i);
}

// Calls body(begin, end) for consecutive stretches of [0, n), one a thread, cut only at multiples
// of `grain` and shorter than `shortest` by half a grain at most. For bodies that do best on long
// stretches, and give the same bits wherever between grains they are cut.
template <class Body>
void parallel_ranges(std::size_t n, std::size_t grain, std::size_t shortest, const Body& body) {
  const std::size_t most = std::max<std::size_t>(n / std::max(grain, shortest), 1);
  const std::size_t stretches = std::min(most, static_cast<std::size_t>(num_threads()));
  const auto cut = [&](std::size_t i) {
    return i == stretches ? n : (n * i / stretches + grain / 2) / grain * grain;
  };
  parallel_for(stretches, 1, [&](std::size_t i, std::size_t) { body(cut(i), cut(i + 1)); });
}

inline constexpr std::size_t elementwise_grain = 16384;  // elements: some 5 us of work

}  // namespace heed
