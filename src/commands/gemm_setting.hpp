// gemm_setting.hpp: which library computes the matrix products of a command: measured once on each
// machine, or set by the environment variable HEED_GEMM.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "heed/array/gemm_library.hpp"

namespace heed::app {

// The speed of each library, in GFLOP/s on 1 thread, for one product (m, k) x (k, n). It is 0 for a
// library that is not installed.
struct GemmSpeed {
  GemmForm form;
  std::size_t m, n, k;
  std::array<double, all_gemm_libraries.size()> gflops;
};

// Measures every installed library with typical products of each form and size. Takes about a
// second.
std::vector<GemmSpeed> measure_gemm();

// The fastest library for each form and size. Another library than OpenBLAS is chosen only if it is
// at least 3 % faster, because a smaller difference may be chance.
GemmChoice fastest(const std::vector<GemmSpeed>& speeds);

// A table of the speeds for stdout, with the chosen library of each row.
std::string gemm_table(const std::vector<GemmSpeed>& speeds);

// The choice in the folder's file for this processor and these libraries. If there is none,
// measures and writes the file; other processes that need it wait meanwhile. If the folder cannot
// be written, the choice is OpenBLAS: another measurement could choose otherwise, and change the
// bits of a run.
GemmChoice measured_choice(const std::filesystem::path& folder);

// The user's folder for cached data: $XDG_CACHE_HOME/heed or $HOME/.cache/heed; empty if neither
// variable is an absolute path.
std::filesystem::path cache_folder();

// The value of HEED_GEMM, or nothing for auto. Throws UsageError if the value names no library.
std::optional<GemmChoice> gemm_from_environment();

// Sets the libraries for this process as HEED_GEMM says: openblas, xsmm, onednn, or auto (the
// default), which is measured_choice(cache_folder()). Throws UsageError for another value, and
// for a library that is not installed.
void set_gemm_from_environment();

// Sets the libraries that computed the products of a saved run. If one of them is not installed,
// sets them as HEED_GEMM says, and prints a note: the results may differ in their last digits.
void set_gemm_of_run(const GemmChoice& saved);

}  // namespace heed::app
