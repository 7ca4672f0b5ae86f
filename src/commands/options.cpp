// options.cpp: parses the command line. The flags of heed bench are in bench/options.cpp.

#include "commands/options.hpp"

#include <algorithm>

#include "commands/flags.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/files/model_file.hpp"
#include "heed/parallel/shared_memory.hpp"

namespace heed::app {

const std::set<std::string> flags_of_model = {
    "--tokenizer", "--bytes", "--vocab-size", "--block-size", "--layers",  "--heads",
    "--embed-dim", "--norm",  "--positions",  "--mlp",        "--kv-heads"};

void check_heads(const nn::GptConfig& model) {
  if (model.embed_dim % model.heads != 0)
    throw UsageError("--heads " + std::to_string(model.heads) + " does not divide --embed-dim " +
                     std::to_string(model.embed_dim) + "; give a --heads that divides it");
  if (model.kv_heads != 0 && model.heads % model.kv_heads != 0)
    throw UsageError("--kv-heads " + std::to_string(model.kv_heads) + " does not divide --heads " +
                     std::to_string(model.heads) + "; give a --kv-heads that divides it");
  if (model.positions == nn::PositionKind::rotary && model.embed_dim / model.heads % 2 != 0)
    throw UsageError("--positions rotary needs heads of even width, but --embed-dim " +
                     std::to_string(model.embed_dim) + " / --heads " + std::to_string(model.heads) +
                     " is odd; change one of them");
}

void check_processes(std::size_t processes, const TrainOptions& o, const std::string& flag) {
  const std::string text = std::to_string(processes);
  if (!is_power_of_two(processes)) throw_usage_error(flag, text, "must be a power of two");
  if (processes > o.shards)
    throw_usage_error(flag, text,
                      "is more than --shards " + std::to_string(o.shards) +
                          ", and each process needs a shard; give --shards " + text +
                          " or fewer processes");
}

namespace {

using FlagNames = std::set<std::string>;

// These commands have no flags that depend on each other.
void check_flags(const SampleCommand&, const FlagNames&) {}
void check_flags(const CorpusCommand&, const FlagNames&) {}
void check_flags(const InspectCommand&, const FlagNames&) {}
void check_flags(const BookCommand&, const FlagNames&) {}
void check_flags(const ImportCommand&, const FlagNames&) {}
void check_flags(const ExportCommand& c, const FlagNames&) {
  if (c.to.empty()) throw UsageError("export: give --to nanogpt, gpt2 or pytorch");
}

constexpr Bounds seeds{0, 4294967295.0};
// The names of the values of nn::NormKind, nn::PositionKind and nn::MlpKind.
const std::vector<std::string> norm_names = {"layer", "rms"};
const std::vector<std::string> position_names = {"learned", "rotary"};
const std::vector<std::string> mlp_names = {"gelu", "swiglu"};
// The values of --tokenizer, in the order of Unit. (heed train has no word-level tokenizer.)
const std::vector<std::string> tokenizer_names = {"character", "byte", "bpe"};
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

void check_shards(const TrainOptions& o) {
  const std::string shards = std::to_string(o.shards);
  if (!is_power_of_two(o.shards)) throw_usage_error("--shards", shards, "must be a power of two");
  if (o.batch_size % o.shards != 0)
    throw UsageError("--shards " + shards + " does not divide --batch-size " +
                     std::to_string(o.batch_size) + "; give a --batch-size that is a multiple");
}

void run_and_model_flags(Flags& flags, TrainCommand& c) {
  flags.positional("TEXT", c.text,
                   "a text file in UTF-8, or - for standard input; default: heed's harbour.txt");
  flags.group("Run");
  flags.path("--out", "DIR", "folder of the run; default: runs/NAME", "folder", c.out);
  flags.flag("--resume", c.resume, "continue the training run in the folder");
  flags.flag("--replace", c.replace, "replace the training run in the folder by a new one");
  flags.flag("--trust", c.trust, trust_help);
  flags.path(
      "--init", "RUN",
      "start from the weights, the sizes and the vocabulary of a run, such as an imported one",
      "run", c.init);
  flags.enumeration(
      "--tokenizer",
      "the tokens: character, byte (for any text encoding) or bpe (byte-pair encoding)",
      tokenizer_names, c.tokenizer);
  flags.integer("--vocab-size", c.vocab_size, {256, 65536},
                "number of tokens with --tokenizer bpe");
  flags.flag("--bytes", c.bytes, "the same as --tokenizer byte");
  threads_flag(flags, c.threads);
  flags.group("Several processes");
  flags.integer(
      "--processes", c.processes, {1, SharedMemory::max_processes},
      "number of processes, a power of two, at most --shards; changes no bit of the result");
  flags.flag("--zero", c.zero, "split AdamW's moments over the processes (ZeRO stage 1)");
  flags.flag("--no-overlap", c.overlap,
             "send gradients after the backward pass, not while it continues", false);
  flags.group("Model");
  flags.integer("--block-size", c.model.block_size, {1, max_size}, "context length in tokens");
  flags.integer("--layers", c.model.layers, {1, max_size}, "number of transformer blocks");
  flags.integer("--heads", c.model.heads, {1, max_size}, "attention heads per block");
  flags.integer("--embed-dim", c.model.embed_dim, {1, max_size}, "width of the embeddings");
  flags.number("--dropout", c.training.dropout, {0, 1, false, true}, "dropout probability");
  flags.group("Variants of Llama");
  flags.enumeration("--norm", "layer normalization or RMS normalization: layer or rms", norm_names,
                    c.model.norm);
  flags.enumeration("--positions", "position embedding: learned or rotary (RoPE)", position_names,
                    c.model.positions);
  flags.enumeration("--mlp", "feed-forward network: gelu or swiglu", mlp_names, c.model.mlp);
  flags.integer("--kv-heads", c.kv_heads, {1, max_size},
                "grouped-query attention: heads of keys and values; default: as many as --heads");
}

void training_and_report_flags(Flags& flags, TrainCommand& c) {
  TrainOptions& o = c.training;
  flags.group("Training");
  flags.integer("--batch-size", o.batch_size, {1, max_size}, "windows per batch");
  flags.integer(
      "--shards", o.shards, {1, max_size},
      "parts of a batch whose gradients are computed separately, a power of two; --processes "
      "can share them");
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
  flags.flag("--keep-history", c.keep_history,
             "keep the weights at each validation in DIR/history, for heed look --page");
  flags.integer("--log-every", o.log_every, {1, 1e12}, "steps between rows of loss.csv");
}

void declare_flags(Flags& flags, TrainCommand& c) {
  run_and_model_flags(flags, c);
  training_and_report_flags(flags, c);
}

void check_flags(TrainCommand& c, const FlagNames& given) {
  c.given = given;
  if (c.bytes) {
    if (c.tokenizer != Unit::byte && given.count("--tokenizer") != 0)
      throw UsageError("--bytes contradicts --tokenizer; give one of them");
    c.given.insert("--bytes");
    c.tokenizer = Unit::byte;
  }
  if (!c.init.empty() && c.resume)
    throw UsageError("--init contradicts --resume; give one of them");
  for (const std::string& flag : flags_of_model)
    if (!c.init.empty() && c.given.count(flag) != 0)
      throw UsageError(flag + " contradicts --init, which takes the model of its run");
  if (c.resume && c.replace) throw UsageError("--replace contradicts --resume; give one of them");
  if (c.kv_heads && *c.kv_heads != c.model.heads) c.model.kv_heads = *c.kv_heads;
  if (!is_power_of_two(c.processes)) check_processes(c.processes, c.training);
  if (c.resume) return;  // the options of a resumed run are checked after its checkpoint is read
  if (c.trust && c.init.empty())
    throw UsageError("--trust applies to the checkpoint of --resume or --init; give one of them");
  check_heads(c.model);
  check_shards(c.training);
  check_processes(c.processes, c.training);
  if (given.count("--vocab-size") != 0 && c.tokenizer != Unit::byte_pair)
    throw UsageError("--vocab-size applies to --tokenizer bpe; give --tokenizer bpe too");
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
  flags.text("--prompt", "TEXT",
             "text to continue; default: a line break, or GPT-2's <|endoftext|>", c.prompt);
  flags.integer("--tokens", c.options.tokens, {0, max_size}, "number of tokens to generate");
  flags.number("--temperature", c.options.temperature, {0, infinite},
               "divides the logits; 0: always the most likely token");
  flags.integer("--top-k", c.options.top_k, {1, max_size},
                "sample from the K most likely tokens; default: from all", "K");
  flags.integer("--seed", c.seed, seeds, "seed of the sampling");
  flags.integer("--samples", c.samples, {1, 1024},
                "number of texts, generated together; the seeds are --seed, --seed + 1, ...");
  flags.enumeration(
      "--weights",
      "f32, or bf16: rounded weights, half the memory, faster for up to about 10 texts at once",
      {"f32", "bf16"}, c.weights);
  flags.flag("--no-cache", c.options.cache,
             "recompute all keys and values for each token; slower, with the same result", false);
  threads_flag(flags, c.threads);
}

// ---- heed look

void declare_flags(Flags& flags, LookCommand& c) {
  run_argument(flags, c.run, c.trust);
  flags.text("--text", "TEXT", "input of the model; default: the beginning of the validation text",
             c.text);
  flags.text("--mask", "WORD", "replace this word of the text by [MASK]", c.mask);
  flags.text(
      "--attends-to", "WORD",
      "list the heads in which [MASK], or without it the last token, attends to this token; the "
      "largest weights first",
      c.attends_to);
  flags.integer("--layer", c.layer, {0, max_size}, "one layer, from 0; default: all");
  flags.integer("--head", c.head, {0, max_size}, "one head of that layer, from 0; default: all");
  flags.path("--out", "DIR", "folder of the plots; default: the run's folder", "folder", c.out);
  flags.path("--page", "FILE",
             "write an interactive page, one HTML file, instead of text and plots", "file", c.page);
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
  if (!c.mask.empty() && !c.text)
    throw UsageError("--mask " + in_quotes(c.mask) + ": give --text too");
  if (!c.page.empty() && !c.out.empty())
    throw UsageError("--out applies to plots, and --page writes none; leave out one of them");
  if (c.page == "-")
    throw UsageError("--page -: the page is a file; give its name, such as a.html");
  if (!c.page.empty() && c.tsne)
    throw UsageError("--tsne: the page has the maps of the heads already; leave out --tsne");
  if (c.attends_to.empty() && given.count("--attends-to") != 0)
    throw_usage_error("--attends-to", "", "is empty; give a token of the text");
  if (!c.attends_to.empty() && (c.tsne || !c.page.empty()))
    throw UsageError("--attends-to applies to neither --tsne nor --page; leave out one of them");
  for (const char* flag : {"--perplexity", "--iterations", "--seed"})
    if (!c.tsne && c.page.empty() && given.count(flag) != 0)
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

void declare_flags(Flags& flags, ImportCommand& c) {
  flags.footer(
      "FOLDER holds config.json, model.safetensors, and vocab.json with merges.txt (GPT-2) or\n"
      "vocab.txt (BERT, uncased), as Hugging Face ships them. Then heed sample, look and inspect\n"
      "read the run, and heed train --init trains on.");
  flags.positional("FOLDER", c.folder, "a model's folder, with config.json and model.safetensors",
                   "the folder of a model, with config.json and model.safetensors");
  flags.path("--out", "DIR", "folder of the run; default: runs/NAME", "folder", c.out);
  flags.flag("--replace", c.replace, "replace the run in the folder");
}

void declare_flags(Flags& flags, ExportCommand& c) {
  flags.footer("load.py in the new folder loads the model with torch alone.");
  run_argument(flags, c.run, c.trust);
  flags.positional("DIR", c.folder, "the folder to write", "the folder to write");
  flags.choice("--to", "FORMAT", "nanogpt, gpt2 (Hugging Face's GPT2LMHeadModel) or pytorch",
               {"nanogpt", "gpt2", "pytorch"}, c.to);
}

void declare_flags(Flags& flags, BookCommand& c) {
  flags.positional("LESSON", c.lesson, "the number of a lesson, to write only its page");
  flags.path("--out", "DIR", "folder of the pages; default: book", "folder", c.out);
  flags.flag("--brief", c.brief, "run the lessons with fewer training steps");
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
      {"import", "make a run of a model of Hugging Face's or nanoGPT's", parsed<ImportCommand>},
      {"export", "write a run's model for nanoGPT, GPT-2 or PyTorch", parsed<ExportCommand>},
      {"book", "run the lessons and write them as pages", parsed<BookCommand>},
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
  for (const auto& [flag, value] : flag_values(model, training, Unit::code_point, 0))
    if (flag != "--bytes" && flag != "--vocab-size" && flag != "--decay-steps")
      arguments.insert(arguments.end(), {flag, value});
  try {
    parsed<TrainCommand>(Flags("", ""), arguments);
  } catch (const UsageError& error) {
    throw_error(file, ": its options are invalid: ", error.what());
  }
}

std::map<std::string, std::string> flag_values(const nn::GptConfig& model,
                                               const TrainOptions& training, Unit tokenizer,
                                               std::size_t vocab_size) {
  std::map<std::string, std::string> values = {
      {"--block-size", std::to_string(model.block_size)},
      {"--layers", std::to_string(model.layers)},
      {"--heads", std::to_string(model.heads)},
      {"--embed-dim", std::to_string(model.embed_dim)},
      {"--bytes", tokenizer == Unit::byte ? "given" : "not given"},
      {"--vocab-size", tokenizer == Unit::byte_pair ? std::to_string(vocab_size) : "not given"}};
  for (const auto& [name, value] : option_texts(training)) {
    std::string flag = "--" + name;
    std::replace(flag.begin(), flag.end(), '_', '-');
    values[flag] = value;
  }
  if (static_cast<std::size_t>(tokenizer) < tokenizer_names.size())
    values["--tokenizer"] = tokenizer_names.at(static_cast<std::size_t>(tokenizer));
  values["--kv-heads"] = std::to_string(model.kv_heads == 0 ? model.heads : model.kv_heads);
  values["--norm"] = norm_names.at(static_cast<std::size_t>(model.norm));
  values["--positions"] = position_names.at(static_cast<std::size_t>(model.positions));
  values["--mlp"] = mlp_names.at(static_cast<std::size_t>(model.mlp));
  values.erase("--steps");  // not compared: a resumed run may have more steps
  values["--decay-steps"] = std::to_string(schedule_of(training).decay_steps);
  return values;
}

}  // namespace heed::app
