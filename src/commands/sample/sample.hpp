// sample.hpp: heed sample and its options.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "commands/flags.hpp"
#include "heed/files/model_file.hpp"
#include "heed/train/generate.hpp"

namespace heed::app {

struct SampleCommand : CommandOptions {
  static constexpr const char* name = "sample";

  std::string run;     // the folder of a run, or a checkpoint file
  bool trust = false;  // load the checkpoint even if it has no checksum
  std::optional<std::string> prompt;
  bool special = false;  // special tokens in the prompt are tokens, not text
  std::string stop;      // the text before which a sample ends; "": none
  GenerateOptions options;
  std::uint64_t seed = 1337;
  std::size_t samples = 1;  // number of texts; text i draws with seed + i
  WeightType weights = WeightType::f32;
  std::optional<int> threads;
};

// Declares the flags of the command: see parsed().
void declare_flags(Flags& flags, SampleCommand& command);

int run(const SampleCommand& command);  // runs the command; returns the exit code

}  // namespace heed::app
