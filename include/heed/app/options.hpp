// options.hpp: the command line as values, or one line that says what is wrong with it.
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

// Wrong use: exit code 2. The text names the flag, its value and the remedy.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct TrainCommand {
  std::string text;  // empty: the text that comes with heed; "-": standard input
  std::string out;   // empty: runs/NAME
  bool resume = false;
  bool trust = false;  // go on from a checkpoint without a checksum
  bool bytes = false;
  nn::GptConfig model;  // vocab_size is the text's business
  TrainOptions training;
  std::optional<int> threads;
  std::set<std::string> given;  // the flags that were written, such as "--lr"
};

struct SampleCommand {
  std::string run;     // a run's folder, or a checkpoint
  bool trust = false;  // load a checkpoint without a checksum
  std::optional<std::string> prompt;
  GenerateOptions options;
  std::uint64_t seed = 1337;
  std::optional<int> threads;
};

struct InspectCommand {
  std::string file;
};

// What heed bench can measure: the whole table, or one part of it.
enum class BenchPart {
  all,
  step,        // a step, beside the best matrix products
  threads,     // a step on 1, 2, 4 ... threads
  context,     // a step for several windows, 3072 symbols each
  width,       // a step for several widths
  small,       // a step of a small model
  operations,  // where a step's time goes
  generate,    // writing
  memory,      // the most a training program holds
  start,       // from the program's start to the end of its first step
  run,         // nothing but steps, then some writing: what other parts start as a program
};

struct BenchCommand {
  std::string text;  // empty: the text that comes with heed
  BenchPart only = BenchPart::all;
  std::int64_t rounds = 0, steps = 0;  // 0: not given
  Workload workload;                   // vocab_size is the text's business
  std::string compare;                 // PyTorch's script; empty: no comparison
  std::string peer_blas;               // folder of PyTorch's OpenBLAS; empty: look for it
  bool json = false;
};

struct LookCommand {
  std::string run;                         // a run's folder, or a checkpoint
  bool trust = false;                      // load a checkpoint without a checksum
  std::optional<std::string> text;         // what the model reads
  std::optional<std::size_t> layer, head;  // one of them; all unless given
  std::string out;                         // where pictures go; empty: beside the checkpoint
  bool tsne = false;                       // queries and keys of a head in the plane instead
  std::optional<double> perplexity;        // 10, or less for a short text, unless given
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

// Throws Error, with the file's name, when a checkpoint's options are not such as the command line
// would take.
void check_saved_options(const std::string& file, const nn::GptConfig& model,
                         const TrainOptions& training);

// What a run is defined by, as flags and their values: {"--lr", "0.001"}, ...
std::map<std::string, std::string> flag_values(const nn::GptConfig& model,
                                               const TrainOptions& training, bool bytes);

}  // namespace heed::app
