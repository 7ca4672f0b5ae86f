// environment.cpp: the environment variables that OpenBLAS and OpenMP read when they are loaded.

#include "commands/environment.hpp"

#include <cstdlib>

namespace heed::app {

bool set_variable(const char* name, const char* value) {
  if (value == nullptr || std::getenv(name) != nullptr) return false;
  return setenv(name, value, 1) == 0;
}

bool set_thread_variables() {
  // heed calls OpenBLAS from its own threads. Additional threads of OpenBLAS would busy-wait for
  // 0.1 s on the cores that the first training step needs.
  const bool blas_changed = set_variable("OPENBLAS_NUM_THREADS", "1");
  // Makes idle OpenMP threads busy-wait for some microseconds, then sleep. GCC's default, some
  // milliseconds, makes heed thirty times slower if another program uses the same cores.
  return set_variable("GOMP_SPINCOUNT", "10000") || blas_changed;
}

}  // namespace heed::app
