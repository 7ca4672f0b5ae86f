// gemm_setting.cpp: selects the libraries for a command's matrix products.

#include "commands/gemm_setting.hpp"

#include <cstdlib>
#include <string>

#include "commands/flags.hpp"
#include "commands/terminal.hpp"
#include "gemm/measured_choice.hpp"
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

}  // namespace heed::app
