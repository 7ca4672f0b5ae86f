// library_version.hpp: the versions of the libraries for matrix products.
#pragma once

#include <string>

#include "heed/gemm/gemm_library.hpp"

namespace HEED_NAMESPACE {

// The name and the version of an installed library, such as "onednn 2.6.3". Loads oneDNN.
std::string name_and_version(GemmLibrary library);

// The instructions that an installed library uses on this processor, such as "hsw" (LIBXSMM) or
// "AVX2". Empty for OpenBLAS, whose version names its kernels, and if unknown.
std::string instructions_of(GemmLibrary library);

}  // namespace HEED_NAMESPACE
