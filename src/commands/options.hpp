// options.hpp: the command-line parser, and a struct with the options of each command of heed.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "heed/files/model_file.hpp"
#include "heed/parallel/communicator.hpp"
#include "heed/train/generate.hpp"
#include "heed/train/trainer.hpp"

namespace heed::app {

inline constexpr const char* version = "heed " HEED_VERSION;  // printed by `heed --version`

// An error in the command line, for which heed exits with code 2. The message contains the flag,
// its value and the remedy.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct TrainCommand {
  std::string text;  // file of the training text; "" means default_text(), "-" means standard input
  std::string out;   // the folder of the run; "" means runs/NAME
  bool resume = false;
  bool replace = false;                 // replace the run in the folder
  bool keep_history = false;            // save the weights at each validation
  std::string init;                     // a run whose model a new run starts from; "" means none
  bool trust = false;                   // load the checkpoint even if it has no checksum
  Unit tokenizer = Unit::code_point;    // the kind of token
  bool bytes = false;                   // --bytes is short for --tokenizer byte
  std::size_t vocab_size = 512;         // of byte-pair encoding
  nn::GptConfig model;                  // vocab_size is set after the text is read
  std::optional<std::size_t> kv_heads;  // the value of --kv-heads
  TrainOptions training;
  std::optional<int> threads;
  std::size_t processes = 1;    // --processes: the number of forked processes
  bool zero = false;            // split AdamW's moments over the processes
  bool overlap = true;          // send gradients while the backward pass continues
  std::set<std::string> given;  // the flags on the command line, such as "--lr"
};

struct SampleCommand {
  std::string run;     // the folder of a run, or a checkpoint file
  bool trust = false;  // load the checkpoint even if it has no checksum
  std::optional<std::string> prompt;
  GenerateOptions options;
  std::uint64_t seed = 1337;
  std::size_t samples = 1;  // number of texts; text i draws with seed + i
  WeightType weights = WeightType::f32;
  std::optional<int> threads;
};

// The model to train, its batch size and the number of threads.
struct Workload {
  nn::GptConfig model;
  std::size_t batch_size = 12;
  int threads = 1;

  std::size_t tokens() const { return batch_size * model.block_size; }  // tokens per training step
  // The sizes that determine the time of a training step, by JSON key, such as {"threads", 1}.
  std::vector<std::pair<std::string, std::size_t>> sizes() const;
};

struct BenchCommand {
  std::string text;  // the text's file; "" means default_text()
  std::string only;  // the measurement to run, such as "threads"; "" means all
  std::optional<std::int64_t> rounds, steps;
  Workload workload;       // vocab_size is set after the text is read
  bool processes = false;  // time steps in several processes
  std::string compare;     // path of the PyTorch script; "" means no comparison
  std::string peer_blas;   // folder of PyTorch's OpenBLAS; "" means that heed searches for it
  bool json = false;
};

struct LookCommand {
  std::string run;                         // the folder of a run, or a checkpoint file
  bool trust = false;                      // load the checkpoint even if it has no checksum
  std::optional<std::string> text;         // the model's input
  std::optional<std::size_t> layer, head;  // the layer and head to show; default: all
  std::string mask;        // a token of the text that [MASK] replaces; "" means none
  std::string attends_to;  // a token: list the heads in which [MASK] attends to it; "" means none
  std::string out;         // folder of the plots; "" means the checkpoint's folder
  std::string page;        // the HTML file to write; "" means none
  bool tsne = false;       // plot only the t-SNE embedding of the queries and keys
  std::optional<double> perplexity;  // t-SNE perplexity; default: 10, less for a short text
  std::size_t iterations = 1000;
  std::uint64_t seed = 1337;
  std::optional<int> threads;
};

struct CorpusCommand {
  std::string file;  // the output file; "" or "-" means standard output
  std::size_t size = 100'000;
  std::string kind = "grammar";
  std::uint64_t seed = 1337;
};

struct BookCommand {
  std::string lesson;        // the lesson to write, such as "5"; "" means all
  std::string out = "book";  // the folder of the pages
  bool brief = false;        // run the lessons with fewer training steps
};

struct InspectCommand {
  std::string file;
};

struct ImportCommand {
  std::string folder;    // the folder with config.json and model.safetensors
  std::string out;       // the folder of the run; "" means runs/NAME
  bool replace = false;  // replace the run in the folder
};

struct ExportCommand {
  std::string run;     // the folder of a run, or a checkpoint file
  std::string folder;  // the folder to write
  bool trust = false;  // load the checkpoint even if it has no checksum
  std::string to;      // nanogpt, gpt2 or pytorch
};

struct ShowText {  // the text that --help or --version prints
  std::string text;
};

using Command =
    std::variant<TrainCommand, SampleCommand, LookCommand, CorpusCommand, InspectCommand,
                 BenchCommand, BookCommand, ImportCommand, ExportCommand, ShowText>;

// The flags that describe the model and its tokens. With --init, they are those of its run.
extern const std::set<std::string> flags_of_model;

// Throws UsageError if the command line is invalid.
Command parse_command_line(int argc, const char* const* argv);

// The overloads of run() run one command each and return the exit code.
int run(const TrainCommand& command);
// Runs heed train as one rank of several processes; run() calls it in each process that it forks.
int train(const TrainCommand& command, Communicator& communicator);
int run(const SampleCommand& command);
int run(const LookCommand& command);
int run(const CorpusCommand& command);
int run(const InspectCommand& command);
int run(const BenchCommand& command);
int run(const BookCommand& command);
int run(const ImportCommand& command);
int run(const ExportCommand& command);

// Throws Error with the name of the checkpoint `file` if the value of a saved option, such as --lr,
// is not one that the command line would accept.
void check_saved_options(const std::string& file, const nn::GptConfig& model,
                         const TrainOptions& training);

// Throws UsageError unless the number of processes is a power of two and at most the number of
// shards. `flag` is the name of the number, such as --processes.
void check_processes(std::size_t processes, const TrainOptions& training,
                     const std::string& flag = "--processes");

// The values of the flags that determine the result of a run, such as {"--lr", "0.001"}.
std::map<std::string, std::string> flag_values(const nn::GptConfig& model,
                                               const TrainOptions& training, Unit tokenizer,
                                               std::size_t vocab_size);

}  // namespace heed::app
