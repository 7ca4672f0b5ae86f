// options.hpp: the options of heed train.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "commands/flags.hpp"
#include "heed/text/vocabulary.hpp"
#include "heed/train/trainer.hpp"

namespace heed::app {

struct TrainCommand : CommandOptions {
  static constexpr const char* name = "train";
  static constexpr bool ignores_stdout_errors = true;

  std::string text;  // file of the training text; "" means default_text(), "-" means standard input
  std::string out;   // the folder of the run; "" means runs/NAME
  bool resume = false;
  bool replace = false;               // replace the run in the folder
  bool keep_history = false;          // save the weights at each validation
  std::int64_t record = 0;            // steps between recorded states; 0 means none are recorded
  bool watch = false;                 // write a page that shows the run while it is trained
  std::string init;                   // a run whose model a new run starts from; "" means none
  bool trust = false;                 // load the checkpoint even if it has no checksum
  Unit tokenizer = Unit::code_point;  // the kind of token
  bool bytes = false;                 // --bytes is short for --tokenizer byte
  std::size_t vocab_size = 512;       // vocabulary size of byte-pair encoding
  nn::GptConfig model;                // vocab_size is set after the text is read
  TrainOptions training;
  std::optional<int> threads;
  std::size_t processes = 1;    // --processes: the number of forked processes
  bool zero = false;            // split AdamW's moments over the processes
  bool overlap = true;          // send gradients while the backward pass continues
  std::set<std::string> given;  // the flags on the command line, such as "--lr"
};

// Declares the flags of the command, and checks their combination: see parsed().
void declare_flags(Flags& flags, TrainCommand& command);
void check_flags(TrainCommand& command, const std::set<std::string>& given);

// The flags that describe the model and its tokens. With --init, they are those of its run.
extern const std::set<std::string> flags_of_model;

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
