// measured_choice.hpp: the fastest library for each matrix product, measured once on each machine.
#pragma once

#include <array>
#include <filesystem>
#include <vector>

#include "heed/gemm/gemm_choice.hpp"

namespace HEED_NAMESPACE {

// The speed of each library, in GFLOP/s on 1 thread, for one product (m, k) x (k, n). It is 0 for a
// library that is not installed.
struct GemmSpeed {
  GemmForm form;
  std::size_t m, n, k;
  std::array<double, all_gemm_libraries.size()> gflops;

  GemmSize size() const;  // size_of the product
};

// Measures every installed library with typical products of each form and size. Takes about a
// second.
std::vector<GemmSpeed> measure_gemm();

// The fastest library for each form and size. LIBXSMM must take less than 0.97 of OpenBLAS's time,
// because a smaller difference may be chance, and oneDNN 0.9 of the time of the one of them that is
// chosen, because it compiles its functions for 25 ms at the start of a program, and takes 17 MB.
GemmChoice fastest(const std::vector<GemmSpeed>& speeds);

bool uses(const GemmChoice& choice, GemmLibrary library);  // for any form and size

// The choice in the folder's file for this processor, these libraries and HEED_ISA: a library that
// was measured but not chosen is not loaded. If there is none, measures and writes the file; other
// processes that need it wait meanwhile. If the folder cannot be written, the choice is OpenBLAS:
// another measurement could choose otherwise, and change the bits of a run.
GemmChoice measured_choice(const std::filesystem::path& folder);

// The user's folder for cached data: $XDG_CACHE_HOME/heed or $HOME/.cache/heed; empty if neither
// variable is an absolute path.
std::filesystem::path cache_folder();

}  // namespace HEED_NAMESPACE
