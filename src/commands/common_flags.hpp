// common_flags.hpp: flags and checks that several commands share.
#pragma once

#include <optional>
#include <string>

#include "commands/flags.hpp"
#include "heed/nn/gpt.hpp"

namespace heed::app {

constexpr const char* trust_help = "load a checkpoint of another program, without checksum";

// Declares --threads.
void threads_flag(Flags& flags, std::optional<int>& threads);

// Declares the argument RUN, and --trust.
void run_argument(Flags& flags, std::string& run, bool& trust);

// Throws UsageError if the number of heads does not divide the embedding width, if --kv-heads does
// not divide --heads, or if rotary positions need heads of even width.
void check_heads(const nn::GptConfig& model);

}  // namespace heed::app
