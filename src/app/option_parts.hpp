// option_parts.hpp: functions shared by options.cpp and bench/options.cpp.
#pragma once

#include "app/flags.hpp"

namespace heed::app {

constexpr const char* about_bench = "measure training speed on this machine, by operation";
Command bench_command(const Arguments& arguments);

// Throws UsageError if the number of heads does not divide the embedding width.
void check_heads(const nn::GptConfig& model);

}  // namespace heed::app
