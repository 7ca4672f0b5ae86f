// options.cpp: parses the command line of every command except bench.

#include "heed/app/options.hpp"

#include <algorithm>

#include "app/option_parts.hpp"
#include "heed/base/error.hpp"
#include "heed/train/model_file.hpp"

namespace heed::app {

void check_heads(const nn::GptConfig& model) {
  if (model.embed_dim % model.heads != 0)
    throw UsageError("--heads " + std::to_string(model.heads) + " does not divide --embed-dim " +
                     std::to_string(model.embed_dim) + "; choose heads that divide the width");
}

namespace {

// The setter of a flag whose value is the name of a folder.
Flags::Setter folder_setter(const std::string& flag, std::string& target) {
  return [=, &target](const std::string& text) {
    if (text.empty()) throw_usage_error(flag, text, "needs the name of a folder");
    target = text;
  };
}

void run_flags(Flags& flags, TrainCommand& c) {
  flags.positional("TEXT", c.text,
                   "a text file in UTF-8, or - for standard input; default: heed's own text");
  flags.group("Run");
  flags.text("--out", "DIR", "folder of the run; default: runs/NAME",
             folder_setter("--out", c.out));
  flags.flag("--resume", c.resume, "continue the run in the folder");
  flags.flag("--trust", c.trust, trust_help);
  flags.flag("--bytes", c.bytes, "tokens are bytes instead of characters: for any encoding");
  flags.threads(c.threads);
}

void model_flags(Flags& flags, TrainCommand& c) {
  flags.group("Model");
  flags.integer("--block-size", c.model.block_size, {1, max_size}, "context length in tokens");
  flags.integer("--layers", c.model.layers, {1, max_size}, "number of transformer blocks");
  flags.integer("--heads", c.model.heads, {1, max_size}, "attention heads per block");
  flags.integer("--embed-dim", c.model.embed_dim, {1, max_size}, "width of the embeddings");
  flags.number("--dropout", c.training.dropout, {0, 1, false, true}, "dropout probability");
}

void optimizer_flags(Flags& flags, TrainOptions& o) {
  flags.group("Training");
  flags.integer("--batch-size", o.batch_size, {1, max_size}, "windows per batch");
  flags.integer("--steps", o.steps, {1, 1e12}, "optimizer steps");
  flags.number("--lr", o.lr, {0, infinite, true}, "maximum learning rate");
  flags.number("--min-lr", o.min_lr, {0, infinite}, "learning rate after the decay");
  flags.integer("--warmup", o.warmup, {0, 1e12}, "steps of linear learning rate warm-up");
  flags.text(
      "--decay-steps", "N",
      "step at which the learning rate has decayed to --min-lr; default: --steps, also for "
      "a run that is resumed with more steps",
      [&o](const std::string& text) {
        o.decay_steps = static_cast<std::int64_t>(parse_integer("--decay-steps", text, {1, 1e12}));
      });
  flags.number("--weight-decay", o.weight_decay, {0, infinite}, "AdamW's weight decay of matrices");
  flags.number("--beta1", o.beta1, {0, 1, false, true}, "AdamW's decay rate of the first moment");
  flags.number("--beta2", o.beta2, {0, 1, false, true}, "AdamW's decay rate of the second moment");
  flags.number("--clip", o.clip, {0, infinite}, "maximum norm of the gradient; 0: no clipping");
  flags.integer("--seed", o.seed, {0, 4294967295.0}, "seed of all random numbers");
}

void report_flags(Flags& flags, TrainOptions& o) {
  flags.group("Reports");
  flags.integer("--eval-every", o.eval_every, {1, 1e12}, "steps between validations and saves");
  flags.integer("--eval-batches", o.eval_batches, {1, max_size}, "batches per validation");
  flags.integer("--log-every", o.log_every, {1, 1e12}, "steps between rows of loss.csv");
}

void train_flags(Flags& flags, TrainCommand& c) {
  run_flags(flags, c);
  model_flags(flags, c);
  optimizer_flags(flags, c.training);
  report_flags(flags, c.training);
}

void check_together(TrainCommand& c) {
  if (c.trust) throw UsageError("--trust applies to resumed checkpoints; give --resume too");
  const auto given = [&](const char* flag) { return c.given.count(flag) != 0; };
  check_heads(c.model);
  if (given("--decay-steps") && c.training.decay_steps <= c.training.warmup)
    throw UsageError("--decay-steps " + std::to_string(c.training.decay_steps) +
                     " must be above --warmup " + std::to_string(c.training.warmup));
  if (!given("--min-lr")) c.training.min_lr = std::min(c.training.min_lr, c.training.lr);
  if (c.training.min_lr > c.training.lr)
    throw_usage_error("--min-lr", exact(c.training.min_lr),
                      "must be at most --lr " + exact(c.training.lr));
}

constexpr const char* run_help = "a run's folder, such as runs/harbour, or a checkpoint";

void sample_flags(Flags& flags, SampleCommand& c) {
  flags.positional("RUN", c.run, run_help);
  flags.flag("--trust", c.trust, trust_help);
  flags.group("Generation");
  flags.text("--prompt", "TEXT", "text to continue; default: a line break",
             [&](const std::string& text) { c.prompt = text; });
  flags.integer("--tokens", c.options.tokens, {0, max_size}, "number of tokens to generate");
  flags.number("--temperature", c.options.temperature, {0, infinite},
               "divides the logits; 0: always the most likely token");
  flags.text(
      "--top-k", "K", "sample from the K most likely tokens; default: from all",
      [&](const std::string& text) {
        c.options.top_k = static_cast<std::size_t>(parse_integer("--top-k", text, {1, max_size}));
      });
  flags.integer("--seed", c.seed, {0, 4294967295.0}, "seed of the sampling");
  flags.negated_flag("--no-cache", c.options.cache,
                     "recompute all keys and values for each token: the same text, but slower");
  flags.threads(c.threads);
}

void look_flags(Flags& flags, LookCommand& c) {
  flags.positional("RUN", c.run, run_help);
  flags.flag("--trust", c.trust, trust_help);
  flags.text("--text", "TEXT", "input of the model; default: the beginning of its validation text",
             [&](const std::string& text) { c.text = text; });
  flags.optional_integer("--layer", c.layer, {0, max_size}, "one layer, from 0; default: all");
  flags.optional_integer("--head", c.head, {0, max_size}, "one head of it, from 0; default: all");
  flags.text("--out", "DIR", "folder of the plots; default: the run's",
             folder_setter("--out", c.out));
  flags.threads(c.threads);
  flags.group("Map of queries and keys");
  flags.flag("--tsne", c.tsne,
             "map one head's queries and keys by t-SNE; default: layer 0, head 0");
  flags.text("--perplexity", "X",
             "effective number of neighbours; default: 10, or less for a short text",
             [&](const std::string& text) {
               c.perplexity = parse_number("--perplexity", text, {1, max_size});
             });
  flags.integer("--iterations", c.iterations, {1, max_size}, "gradient descent steps of t-SNE");
  flags.integer("--seed", c.seed, {0, 4294967295.0}, "seed of the initial positions");
}

void check_together(const LookCommand& c, const std::set<std::string>& given) {
  if (c.run.empty()) throw UsageError("look: give a run's folder, such as runs/harbour");
  for (const char* flag : {"--perplexity", "--iterations", "--seed"})
    if (!c.tsne && given.count(flag) != 0)
      throw UsageError(std::string(flag) + " applies to --tsne; give --tsne too");
}

void corpus_flags(Flags& flags, CorpusCommand& c) {
  flags.positional("FILE", c.file, "the file to write; default: standard output");
  flags.group("Text");
  flags.text("--kind", "KIND", "grammar or chain; default: grammar", [&](const std::string& text) {
    if (text != "grammar" && text != "chain")
      throw_usage_error("--kind", text, "must be grammar or chain");
    c.kind = text;
  });
  flags.integer("--size", c.size, {1, max_size}, "number of characters");
  flags.integer("--seed", c.seed, {0, 4294967295.0}, "seed of the text");
}

constexpr const char* about_train = "train a small GPT on a text";
constexpr const char* about_sample = "generate text with a trained model";
constexpr const char* about_window =
    "The context of each token is between half a block and a whole block: when the block is full,\n"
    "its older half is dropped, and the keys and values of the newer half are computed again.";
constexpr const char* about_look = "attention weights, scores and ablation of a model's heads";
constexpr const char* about_corpus = "write a text of known entropy";
constexpr const char* about_inspect = "list the tensors and metadata of a safetensors file";

Command train_command(const Arguments& arguments) {
  Flags flags(about_train, "heed train");
  TrainCommand train;
  train_flags(flags, train);
  if (const auto help = flags.read(arguments)) return *help;
  train.given = flags.given();
  if (train.bytes) train.given.insert("--bytes");
  if (!train.resume) check_together(train);  // --resume: checked with the saved options
  return train;
}

Command sample_command(const Arguments& arguments) {
  Flags flags(about_sample, "heed sample", about_window);
  SampleCommand sample;
  sample_flags(flags, sample);
  if (const auto help = flags.read(arguments)) return *help;
  if (sample.run.empty()) throw UsageError("sample: give a run's folder, such as runs/harbour");
  return sample;
}

Command look_command(const Arguments& arguments) {
  Flags flags(about_look, "heed look");
  LookCommand look;
  look_flags(flags, look);
  if (const auto help = flags.read(arguments)) return *help;
  check_together(look, flags.given());
  return look;
}

Command corpus_command(const Arguments& arguments) {
  Flags flags(about_corpus, "heed corpus");
  CorpusCommand corpus;
  corpus_flags(flags, corpus);
  if (const auto help = flags.read(arguments)) return *help;
  return corpus;
}

Command inspect_command(const Arguments& arguments) {
  Flags flags(about_inspect, "heed inspect");
  InspectCommand inspect;
  flags.positional("FILE", inspect.file, "a safetensors file, such as a checkpoint");
  if (const auto help = flags.read(arguments)) return *help;
  if (inspect.file.empty()) throw UsageError("inspect: give a safetensors file");
  return inspect;
}

}  // namespace

Command parse_command_line(int argc, const char* const* argv) {
  const Arguments arguments(argv + std::min(argc, 1), argv + argc);
  const std::string command = arguments.empty() ? "" : arguments[0];
  const Arguments rest(arguments.begin() + (arguments.empty() ? 0 : 1), arguments.end());
  if (command == "train") return train_command(rest);
  if (command == "sample") return sample_command(rest);
  if (command == "look") return look_command(rest);
  if (command == "corpus") return corpus_command(rest);
  if (command == "inspect") return inspect_command(rest);
  if (command == "bench") return bench_command(rest);
  return read_without_command(arguments, {{"train", about_train},
                                          {"sample", about_sample},
                                          {"look", about_look},
                                          {"corpus", about_corpus},
                                          {"inspect", about_inspect},
                                          {"bench", about_bench}});
}

void check_saved_options(const std::string& file, const nn::GptConfig& model,
                         const TrainOptions& training) {
  Arguments arguments = {"--steps", std::to_string(training.steps)};
  for (const auto& [flag, value] : flag_values(model, training, false))
    if (flag != "--bytes" && flag != "--decay-steps")
      arguments.insert(arguments.end(), {flag, value});
  try {
    train_command(arguments);
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
  values.erase("--steps");  // a resumed run may have more steps
  values["--decay-steps"] = std::to_string(schedule_of(training).decay_steps);
  return values;
}

}  // namespace heed::app
