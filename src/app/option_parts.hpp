// option_parts.hpp: what the command lines of several commands share.
#pragma once

#include "app/flags.hpp"

namespace heed::app {

constexpr const char* about_bench = "how fast this machine trains, and where the time goes";
Command bench_command(const Words& words);

void check_heads(
    const nn::GptConfig& model);  // throws UsageError when they do not divide the width

}  // namespace heed::app
