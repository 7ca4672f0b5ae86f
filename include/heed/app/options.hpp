// options.hpp: the parsed command line: one struct of options for each command.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <variant>

#include "heed/app/bench/step_timer.hpp"
#include "heed/train/generate.hpp"
#include "heed/train/trainer.hpp"

namespace heed::app {

// A usage error: exit code 2. The text names the flag, its value and the remedy.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct TrainCommand {
  std::string text;  // empty: default_text(); "-": standard input
  std::string out;   // empty: runs/NAME
  bool resume = false;
  bool trust = false;  // resume from a checkpoint without a checksum
  bool bytes = false;
  nn::GptConfig model;  // vocab_size is set from the text later
  TrainOptions training;
  std::optional<int> threads;
  std::set<std::string> given;  // the flags on the command line, such as "--lr"
};

struct SampleCommand {
  std::string run;     // a run's folder or a checkpoint file
  bool trust = false;  // load a checkpoint without a checksum
  std::optional<std::string> prompt;
  GenerateOptions options;
  std::uint64_t seed = 1337;
  std::optional<int> threads;
};

struct InspectCommand {
  std::string file;
};

// The parts of heed bench.
enum class BenchPart {
  all,
  step,        // a training step, compared with the fastest matrix products
  threads,     // a step with 1, 2, 4 ... threads
  context,     // a step at several context lengths, 3072 tokens each
  width,       // a step at several embedding widths
  small,       // a step of a small model
  operations,  // the time of each operation in a step
  generate,    // text generation
  memory,      // the peak memory of a training program
  start,       // the time from the program's start to the end of its first step
  run,         // only steps, then some generation: other parts start this as a program
};

struct BenchCommand {
  std::string text;  // empty: default_text()
  BenchPart only = BenchPart::all;
  std::int64_t rounds = 0, steps = 0;  // 0: not given
  Workload workload;                   // vocab_size is set from the text later
  std::string compare;                 // the PyTorch script; empty: no comparison
  std::string peer_blas;               // folder of PyTorch's OpenBLAS; empty: search for it
  bool json = false;
};

struct LookCommand {
  std::string run;                         // a run's folder or a checkpoint file
  bool trust = false;                      // load a checkpoint without a checksum
  std::optional<std::string> text;         // the model's input
  std::optional<std::size_t> layer, head;  // all if absent
  std::string out;                         // folder of the plots; empty: the checkpoint's
  bool tsne = false;                       // plot queries and keys by t-SNE instead
  std::optional<double> perplexity;        // if absent: 10, or less for a short text
  std::int64_t iterations = 1000;
  std::uint64_t seed = 1337;
  std::optional<int> threads;
};

struct CorpusCommand {
  std::string file;  // empty or "-": standard output
  std::size_t size = 100'000;
  std::string kind = "grammar";
  std::uint64_t seed = 1337;
};

struct ShowText {  // --help and --version
  std::string text;
};

using Command = std::variant<TrainCommand, SampleCommand, LookCommand, CorpusCommand,
                             InspectCommand, BenchCommand, ShowText>;

// Throws UsageError.
Command parse_command_line(int argc, const char* const* argv);

// Throws Error, which names the file, if the command line would reject a checkpoint's options.
void check_saved_options(const std::string& file, const nn::GptConfig& model,
                         const TrainOptions& training);

// The flags that determine a run's result, with their values: {"--lr", "0.001"}, ...
std::map<std::string, std::string> flag_values(const nn::GptConfig& model,
                                               const TrainOptions& training, bool bytes);

}  // namespace heed::app
