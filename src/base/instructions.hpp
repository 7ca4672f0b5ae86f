// instructions.hpp: the environment variable HEED_ISA, which limits the SIMD instructions of the
// libraries for matrix products.
#pragma once

#include <string>

namespace heed {

// The value of HEED_ISA, which should be avx2; "" if it is not set.
std::string isa_setting();

// Whether the processor has AVX2 and FMA.
bool has_avx2();

}  // namespace heed
