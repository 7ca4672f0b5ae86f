// gemm_setting.hpp: selects the libraries for a command's matrix products: measured, those of
// a saved run, or set by the environment variable HEED_GEMM.
#pragma once

#include <future>
#include <optional>

#include "heed/gemm/gemm_choice.hpp"

namespace heed::app {

// The value of HEED_GEMM, or nothing for auto. Throws UsageError if the value names no library.
std::optional<GemmChoice> gemm_from_environment();

// Sets the libraries for this process as HEED_GEMM says: openblas, xsmm, onednn, or auto (the
// default), which is measured_choice(cache_folder()). Throws UsageError for another value, and
// for a library that is not installed.
void set_gemm_from_environment();

// Sets the libraries that computed the products of a saved run. If one of them is not installed,
// sets them as HEED_GEMM says, and prints a note: the results may differ in their last digits.
void set_gemm_of_run(const GemmChoice& saved);

// Starts the libraries of the choice on another thread, if more than one is used: each computes a
// small product, because oneDNN compiles its functions at its first one, which takes 25 ms or more.
// The future waits for them when it is destroyed.
std::future<void> start_gemm_libraries();

}  // namespace heed::app
