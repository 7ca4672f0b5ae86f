// look.hpp: heed look and its options.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "commands/flags.hpp"

namespace heed::app {

struct LookCommand : CommandOptions {
  static constexpr const char* name = "look";

  std::string run;                         // the folder of a run, or a checkpoint file
  bool trust = false;                      // load the checkpoint even if it has no checksum
  std::optional<std::string> text;         // the model's input
  std::optional<std::size_t> layer, head;  // the layer and head to show; default: all
  std::string mask;        // a token of the text to replace by [MASK]; "" means none
  std::string attends_to;  // a token: list the heads in which [MASK] attends to it; "" means none
  std::string out;         // folder of the plots; "" means the checkpoint's folder
  std::string page;        // the HTML file to write; "" means none
  std::string film;        // the HTML file of a film to write; "" means none
  std::optional<std::int64_t> step;  // of the film; default: the last saved step
  std::string parameter;             // film this parameter over steps; "" means one step's nodes
  std::optional<std::int64_t> from;  // first step of a parameter's film; default: 50 steps
  bool near = false;                 // as in ReplayOptions
  bool tsne = false;                 // plot only the t-SNE embedding of the queries and keys
  std::optional<double> perplexity;  // t-SNE perplexity; default: 10, less for a short text
  std::size_t iterations = 1000;
  std::uint64_t seed = 1337;
  std::optional<int> threads;
};

// Declares the flags of the command, and checks their combination: see parsed().
void declare_flags(Flags& flags, LookCommand& command);
void check_flags(const LookCommand& command, const std::set<std::string>& given);

int run(const LookCommand& command);  // runs the command; returns the exit code

}  // namespace heed::app
