// parallel.cpp: the number of threads.

#include "heed/array/parallel.hpp"

#include "heed/array/matmul.hpp"
#include "heed/base/error.hpp"
#include "heed/base/machine.hpp"

namespace heed {
namespace {

int chosen = usable_cores();

}  // namespace

void set_num_threads(int threads) {
  if (threads < 1 || threads > 1024)
    throw_error("set_num_threads: ", threads, " is not in 1 to 1024");
  chosen = threads;
}

int num_threads() {
  static const bool several = blas_is_thread_safe();
  return several ? chosen : 1;
}

}  // namespace heed
