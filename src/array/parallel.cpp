// parallel.cpp: the number of threads.

#include "heed/array/parallel.hpp"

#include "heed/array/error.hpp"
#include "heed/array/machine.hpp"
#include "heed/array/matmul.hpp"

namespace heed {
namespace {

int chosen = usable_cores();

}  // namespace

void set_num_threads(int threads) {
  if (threads < 1 || threads > 1024) refuse("set_num_threads: ", threads, " is not in 1 to 1024");
  chosen = threads;
}

int num_threads() {
  static const bool several = blas_may_be_shared();
  return several ? chosen : 1;
}

}  // namespace heed
