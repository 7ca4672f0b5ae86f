// options.cpp: parses the command line. The flags of heed bench are in bench/options.cpp.

#include "heed/app/options.hpp"

#include <algorithm>

#include "app/flags.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/train/model_file.hpp"

namespace heed::app {

void check_heads(const nn::GptConfig& model) {
  if (model.embed_dim % model.heads != 0)
    throw UsageError("--heads " + std::to_string(model.heads) + " does not divide --embed-dim " +
                     std::to_string(model.embed_dim) + "; give a --heads that divides it");
}

namespace {

using FlagNames = std::set<std::string>;

// heed sample, corpus and inspect have no flags that depend on each other.
void check_flags(const SampleCommand&, const FlagNames&) {}
void check_flags(const CorpusCommand&, const FlagNames&) {}
void check_flags(const InspectCommand&, const FlagNames&) {}

constexpr Bounds seeds{0, 4294967295.0};
constexpr const char* trust_help = "load a checkpoint of another program, without heed's checksum";

void threads_flag(Flags& flags, std::optional<int>& threads) {
  flags.integer("--threads", threads, {1, 1024}, "number of threads; default: all cores");
}

void run_argument(Flags& flags, std::string& run, bool& trust) {
  flags.positional("RUN", run, "a run's folder, such as runs/harbour, or a checkpoint",
                   "a run's folder, such as runs/harbour");
  flags.flag("--trust", trust, trust_help);
}

// ---- heed train

void run_and_model_flags(Flags& flags, TrainCommand& c) {
  flags.positional("TEXT", c.text,
                   "a text file in UTF-8, or - for standard input; default: heed's harbour.txt");
  flags.group("Run");
  flags.path("--out", "DIR", "folder of the run; default: runs/NAME", "folder", c.out);
  flags.flag("--resume", c.resume, "continue the training run in the folder");
  flags.flag("--trust", c.trust, trust_help);
  flags.flag("--bytes", c.bytes, "use bytes as tokens instead of characters, for any encoding");
  threads_flag(flags, c.threads);
  flags.group("Model");
  flags.integer("--block-size", c.model.block_size, {1, max_size}, "context length in tokens");
  flags.integer("--layers", c.model.layers, {1, max_size}, "number of transformer blocks");
  flags.integer("--heads", c.model.heads, {1, max_size}, "attention heads per block");
  flags.integer("--embed-dim", c.model.embed_dim, {1, max_size}, "width of the embeddings");
  flags.number("--dropout", c.training.dropout, {0, 1, false, true}, "dropout probability");
}

void training_and_report_flags(Flags& flags, TrainOptions& o) {
  flags.group("Training");
  flags.integer("--batch-size", o.batch_size, {1, max_size}, "windows per batch");
  flags.integer("--steps", o.steps, {1, 1e12}, "optimizer steps");
  flags.number("--lr", o.lr, {0, infinite, true}, "maximum learning rate");
  flags.number("--min-lr", o.min_lr, {0, infinite}, "learning rate after the decay");
  flags.integer("--warmup", o.warmup, {0, 1e12}, "steps of linear learning rate warm-up");
  flags.integer("--decay-steps", o.decay_steps, {1, 1e12},
                "step at which the learning rate has decayed to --min-lr; default: the value of "
                "--steps, also if the run is resumed with a larger value");
  flags.number("--weight-decay", o.weight_decay, {0, infinite}, "AdamW's weight decay of matrices");
  flags.number("--beta1", o.beta1, {0, 1, false, true}, "AdamW's decay rate of the first moment");
  flags.number("--beta2", o.beta2, {0, 1, false, true}, "AdamW's decay rate of the second moment");
  flags.number("--clip", o.clip, {0, infinite}, "maximum norm of the gradient; 0: no clipping");
  flags.integer("--seed", o.seed, seeds, "seed of all random numbers");
  flags.group("Reports");
  flags.integer("--eval-every", o.eval_every, {1, 1e12}, "steps between validations and saves");
  flags.integer("--eval-batches", o.eval_batches, {1, max_size}, "batches per validation");
  flags.integer("--log-every", o.log_every, {1, 1e12}, "steps between rows of loss.csv");
}

void declare_flags(Flags& flags, TrainCommand& c) {
  run_and_model_flags(flags, c);
  training_and_report_flags(flags, c.training);
}

void check_flags(TrainCommand& c, const FlagNames& given) {
  c.given = given;
  if (c.bytes) c.given.insert("--bytes");
  if (c.resume) return;  // the options of a resumed run are checked after its checkpoint is read
  if (c.trust) throw UsageError("--trust applies to resumed checkpoints; give --resume too");
  check_heads(c.model);
  if (given.count("--decay-steps") != 0 && c.training.decay_steps <= c.training.warmup)
    throw UsageError("--decay-steps " + std::to_string(c.training.decay_steps) +
                     " must be above --warmup " + std::to_string(c.training.warmup));
  if (given.count("--min-lr") == 0) c.training.min_lr = std::min(c.training.min_lr, c.training.lr);
  if (c.training.min_lr > c.training.lr)
    throw_usage_error("--min-lr", exact(c.training.min_lr),
                      "must be at most --lr " + exact(c.training.lr));
}

// ---- heed sample

void declare_flags(Flags& flags, SampleCommand& c) {
  flags.footer(
      "When the context reaches the block size, its older half is dropped, and the keys and\n"
      "values of the newer half are computed again. From then on, the context is at least half\n"
      "the block size long.");
  run_argument(flags, c.run, c.trust);
  flags.group("Generation");
  flags.text("--prompt", "TEXT", "text to continue; default: a line break", c.prompt);
  flags.integer("--tokens", c.options.tokens, {0, max_size}, "number of tokens to generate");
  flags.number("--temperature", c.options.temperature, {0, infinite},
               "divides the logits; 0: always the most likely token");
  flags.integer("--top-k", c.options.top_k, {1, max_size},
                "sample from the K most likely tokens; default: from all", "K");
  flags.integer("--seed", c.seed, seeds, "seed of the sampling");
  flags.flag("--no-cache", c.options.cache,
             "recompute all keys and values for each token; slower, with the same result", false);
  threads_flag(flags, c.threads);
}

// ---- heed look

void declare_flags(Flags& flags, LookCommand& c) {
  run_argument(flags, c.run, c.trust);
  flags.text("--text", "TEXT", "input of the model; default: the beginning of the validation text",
             c.text);
  flags.integer("--layer", c.layer, {0, max_size}, "one layer, from 0; default: all");
  flags.integer("--head", c.head, {0, max_size}, "one head of that layer, from 0; default: all");
  flags.path("--out", "DIR", "folder of the plots; default: the run's folder", "folder", c.out);
  threads_flag(flags, c.threads);
  flags.group("Map of queries and keys");
  flags.flag("--tsne", c.tsne,
             "map one head's queries and keys by t-SNE; default: layer 0, head 0");
  flags.number("--perplexity", c.perplexity, {1, max_size},
               "t-SNE's perplexity (number of neighbours); default: 10, or less for a short text");
  flags.integer("--iterations", c.iterations, {1, max_size}, "gradient descent steps of t-SNE");
  flags.integer("--seed", c.seed, seeds, "seed of t-SNE's initial positions");
}

void check_flags(const LookCommand& c, const FlagNames& given) {
  for (const char* flag : {"--perplexity", "--iterations", "--seed"})
    if (!c.tsne && given.count(flag) != 0)
      throw UsageError(std::string(flag) + " applies to --tsne; give --tsne too");
}

// ---- heed corpus and heed inspect

void declare_flags(Flags& flags, CorpusCommand& c) {
  flags.positional("FILE", c.file, "the file to write; default: standard output");
  flags.group("Text");
  flags.choice("--kind", "KIND", "the Markov source: grammar or chain; default: grammar",
               {"grammar", "chain"}, c.kind);
  flags.integer("--size", c.size, {1, max_size}, "number of characters");
  flags.integer("--seed", c.seed, seeds, "seed of the text");
}

void declare_flags(Flags& flags, InspectCommand& c) {
  flags.positional("FILE", c.file, "a safetensors file, such as a checkpoint",
                   "a safetensors file");
}

// ---- all commands

template <class C>
Command parsed(Flags flags, const Arguments& arguments) {
  C command;
  declare_flags(flags, command);
  if (const auto help = flags.read(arguments)) return *help;
  check_flags(command, flags.given());
  return command;
}

}  // namespace

Command parse_command_line(int argc, const char* const* argv) {
  const std::vector<CommandEntry> commands = {
      {"train", "train a small GPT on a text", parsed<TrainCommand>},
      {"sample", "generate text with a trained model", parsed<SampleCommand>},
      {"look", "show attention weights, head scores and head ablation", parsed<LookCommand>},
      {"corpus", "write a text of known entropy", parsed<CorpusCommand>},
      {"inspect", "list the tensors and metadata of a safetensors file", parsed<InspectCommand>},
      {"bench", "measure training speed on this machine, by operation", parsed<BenchCommand>}};
  const Arguments arguments(argv + std::min(argc, 1), argv + argc);
  for (const auto& [name, about, parse] : commands)
    if (!arguments.empty() && arguments[0] == name)
      return parse(Flags(name, about), {arguments.begin() + 1, arguments.end()});
  return read_without_command(arguments, commands);
}

void check_saved_options(const std::string& file, const nn::GptConfig& model,
                         const TrainOptions& training) {
  Arguments arguments = {"--steps", std::to_string(training.steps)};
  for (const auto& [flag, value] : flag_values(model, training, false))
    if (flag != "--bytes" && flag != "--decay-steps")
      arguments.insert(arguments.end(), {flag, value});
  try {
    parsed<TrainCommand>(Flags("", ""), arguments);
  } catch (const UsageError& error) {
    throw_error(file, ": its options are invalid: ", error.what());
  }
}

std::map<std::string, std::string> flag_values(const nn::GptConfig& model,
                                               const TrainOptions& training, bool bytes) {
  std::map<std::string, std::string> values = {{"--block-size", std::to_string(model.block_size)},
                                               {"--layers", std::to_string(model.layers)},
                                               {"--heads", std::to_string(model.heads)},
                                               {"--embed-dim", std::to_string(model.embed_dim)},
                                               {"--bytes", bytes ? "given" : "not given"}};
  for (const auto& [name, value] : option_texts(training)) {
    std::string flag = "--" + name;
    std::replace(flag.begin(), flag.end(), '_', '-');
    values[flag] = value;
  }
  values.erase("--steps");  // --steps of a resumed run may be larger than in the saved run
  values["--decay-steps"] = std::to_string(schedule_of(training).decay_steps);
  return values;
}

}  // namespace heed::app
