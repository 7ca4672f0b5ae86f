// environment.cpp: the environment variables that OpenBLAS, LIBXSMM, oneDNN and OpenMP read when
// they are loaded.

#include "commands/environment.hpp"

#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/instructions.hpp"

namespace heed::app {

bool set_variable(const char* name, const char* value) {
  if (value == nullptr || std::getenv(name) != nullptr) return false;
  return setenv(name, value, 1) == 0;
}

// Replaces other values of these variables. check_environment() rejects other values of HEED_ISA.
static bool limit_instructions() {
  if (isa_setting() != "avx2" || !has_avx2()) return false;
  bool changed = false;
  for (const auto& [name, limit] : {std::pair("OPENBLAS_CORETYPE", "Haswell"),
                                    {"LIBXSMM_TARGET", "hsw"},
                                    {"ONEDNN_MAX_CPU_ISA", "AVX2"},
                                    {"DNNL_MAX_CPU_ISA", "AVX2"}}) {
    const char* const value = std::getenv(name);
    const bool is_set = value != nullptr && std::string_view(value) == limit;
    if (!is_set) changed |= setenv(name, limit, 1) == 0;
  }
  return changed;
}

bool set_library_variables() {
  const bool limited = limit_instructions();

  // heed calls OpenBLAS from its own threads. Additional threads of OpenBLAS would busy-wait for
  // 0.1 s on the cores that the first training step needs.
  const bool blas_changed = set_variable("OPENBLAS_NUM_THREADS", "1");
  // Makes idle OpenMP threads busy-wait for some microseconds, then sleep. GCC's default, some
  // milliseconds, makes heed thirty times slower if another program uses the same cores.
  return set_variable("GOMP_SPINCOUNT", "10000") || blas_changed || limited;
}

}  // namespace heed::app
