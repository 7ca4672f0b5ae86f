// gemm_setting.cpp: selects the libraries for a command's matrix products.

#include "commands/gemm_setting.hpp"

#include <cstdlib>
#include <string>
#include <system_error>
#include <vector>

#include "commands/flags.hpp"
#include "commands/terminal.hpp"
#include "gemm/measured_choice.hpp"
#include "heed/array/parallel.hpp"
#include "heed/base/error.hpp"

namespace heed::app {

std::optional<GemmChoice> gemm_from_environment() {
  const char* const value = std::getenv("HEED_GEMM");
  const std::string setting = value == nullptr || *value == '\0' ? "auto" : value;
  try {
    return setting == "auto" ? std::nullopt : std::optional(GemmChoice::parse(setting));
  } catch (const Error& error) {
    throw UsageError("HEED_GEMM: " + std::string(error.what()));
  }
}

void set_gemm_from_environment() {
  const auto setting = gemm_from_environment();
  if (!setting) return set_gemm_choice(measured_choice(cache_folder()));
  try {
    set_gemm_choice(*setting);
  } catch (const Error& error) {
    throw UsageError("HEED_GEMM: " + std::string(error.what()));
  }
}

void set_gemm_of_run(const GemmChoice& saved) {
  if (is_installed(saved)) return set_gemm_choice(saved);
  set_gemm_from_environment();
  note("the run computed its matrix products with " + saved.text() + ", and now with " +
       gemm_choice().text() + ": results may differ in their last digits");
}

// Computes a small product with each library of the choice.
static void multiply_once() {
  const std::vector<Real> ones(4, 1);
  std::vector<Real> product(4);
  for (const GemmLibrary library : all_gemm_libraries)
    if (uses(gemm_choice(), library))
      gemm_by(library, {ones.data(), 2, 2, 2}, {ones.data(), 2, 2, 2}, {product.data(), 2, 2, 2});
}

std::future<void> start_gemm_libraries() {
  try {
    return num_threads() == 1 ? std::future<void>() : std::async(std::launch::async, multiply_once);
  } catch (const std::system_error&) {
    return {};  // without another thread, they start later
  }
}

}  // namespace heed::app
