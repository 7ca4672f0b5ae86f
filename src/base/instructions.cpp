// instructions.cpp: the environment variable HEED_ISA, and whether the processor has AVX2.

#include "base/instructions.hpp"

#include <cstdlib>

namespace heed {

std::string isa_setting() {
  const char* const value = std::getenv("HEED_ISA");
  return value == nullptr ? "" : value;
}

bool has_avx2() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  return false;
#endif
}

}  // namespace heed
