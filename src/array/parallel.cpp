// parallel.cpp: the number of threads of parallel loops.

#include "heed/array/parallel.hpp"

#include "heed/array/matmul.hpp"
#include "heed/base/error.hpp"
#include "heed/base/machine.hpp"

namespace HEED_NAMESPACE {

static int thread_count = usable_cores();

void set_num_threads(int threads) {
  if (threads < 1 || threads > 1024)
    throw_error("set_num_threads: ", threads, " is not in 1 to 1024");
  thread_count = threads;
}

int num_threads() {
  static const bool thread_safe = blas_is_thread_safe();
  return thread_safe ? thread_count : 1;
}

}  // namespace HEED_NAMESPACE
