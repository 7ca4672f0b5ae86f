// gemm_library.hpp: the libraries that compute float matrix products (gemm).
#pragma once

#include <array>
#include <string_view>

#include "heed/gemm/gemm.hpp"

namespace HEED_NAMESPACE {

// OpenBLAS is always there. LIBXSMM and oneDNN are used if they are installed; they are loaded at
// first use.
enum class GemmLibrary { openblas, xsmm, onednn };
inline constexpr std::array<GemmLibrary, 3> all_gemm_libraries = {
    GemmLibrary::openblas, GemmLibrary::xsmm, GemmLibrary::onednn};

std::string_view name_of(GemmLibrary library);  // "openblas", "xsmm" or "onednn"

// Whether the library is installed. Always false for LIBXSMM and oneDNN in double, because only
// float products use them.
bool is_installed(GemmLibrary library);

// c = a b or c += a b by the given library, which must be installed. Otherwise like gemm.
void gemm_by(GemmLibrary library, MatrixView a, MatrixView b, MatrixRef<Real> c,
             Output output = Output::overwrite, Real scale = 1);

// A large product that is divided at multiples of so many rows, for example between threads, has
// the same bits as in one piece: a library's rounding of a row can depend on the row's position in
// a tile. This does not hold for the smallest products, for which OpenBLAS uses other kernels.
std::size_t rows_per_tile(GemmLibrary library);

}  // namespace HEED_NAMESPACE
