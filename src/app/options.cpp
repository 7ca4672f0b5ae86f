// options.cpp: the command line: which command, and what its flags say.

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

void train_flags(Flags& flags, TrainCommand& c) {
  flags.word("TEXT", c.text,
             "a text file in UTF-8, or - for standard input; the text that "
             "comes with heed unless given");
  flags.group("Run");
  flags.text("--out", "DIR", "the run's folder; runs/NAME unless given",
             [&](const std::string& text) {
               if (text.empty()) wrong("--out", text, "needs the name of a folder");
               c.out = text;
             });
  flags.yes("--resume", c.resume, "go on where the run in the folder stopped");
  flags.yes("--trust", c.trust, trust_help);
  flags.yes("--bytes", c.bytes,
            "symbols are bytes instead of characters: for text in any encoding");
  flags.threads(c.threads);

  flags.group("Model");
  flags.whole("--block-size", c.model.block_size, {1, most}, "symbols the model looks at");
  flags.whole("--layers", c.model.layers, {1, most}, "blocks, one on the other");
  flags.whole("--heads", c.model.heads, {1, most}, "attention heads in a block");
  flags.whole("--embed-dim", c.model.embed_dim, {1, most}, "numbers that stand for a symbol");
  flags.real("--dropout", c.training.dropout, {0, 1, false, true},
             "share of values dropped in training");

  flags.group("Training");
  flags.whole("--batch-size", c.training.batch_size, {1, most}, "windows in a step");
  flags.whole("--steps", c.training.steps, {1, 1e12}, "updates");
  flags.real("--lr", c.training.lr, {0, infinite, true}, "highest learning rate");
  flags.real("--min-lr", c.training.min_lr, {0, infinite}, "learning rate at the end");
  flags.whole("--warmup", c.training.warmup, {0, 1e12}, "steps in which the rate rises");
  flags.text("--decay-steps", "N",
             "step at which the rate has fallen to --min-lr; --steps unless given, also when a "
             "run is resumed with more",
             [&](const std::string& text) {
               c.training.decay_steps =
                   static_cast<std::int64_t>(whole_number("--decay-steps", text, {1, 1e12}));
             });
  flags.real("--weight-decay", c.training.weight_decay, {0, infinite},
             "pull of matrices towards 0");
  flags.real("--beta1", c.training.beta1, {0, 1, false, true}, "memory of AdamW's mean");
  flags.real("--beta2", c.training.beta2, {0, 1, false, true}, "memory of AdamW's mean square");
  flags.real("--clip", c.training.clip, {0, infinite}, "largest norm of the gradient; 0 for any");
  flags.whole("--seed", c.training.seed, {0, 4294967295.0}, "of every random number");

  flags.group("Reports");
  flags.whole("--eval-every", c.training.eval_every, {1, 1e12},
              "steps between validations and saves");
  flags.whole("--eval-batches", c.training.eval_batches, {1, most}, "batches in a validation");
  flags.whole("--log-every", c.training.log_every, {1, 1e12}, "steps between lines of loss.csv");
}

void check_together(TrainCommand& c) {
  if (c.trust) throw UsageError("--trust is about a checkpoint to go on from; give --resume too");
  const auto given = [&](const char* flag) { return c.given.count(flag) != 0; };
  check_heads(c.model);
  if (given("--decay-steps") && c.training.decay_steps <= c.training.warmup)
    throw UsageError("--decay-steps " + std::to_string(c.training.decay_steps) +
                     " must be above --warmup " + std::to_string(c.training.warmup));
  if (!given("--min-lr")) c.training.min_lr = std::min(c.training.min_lr, c.training.lr);
  if (c.training.min_lr > c.training.lr)
    wrong("--min-lr", exact(c.training.min_lr), "must be at most --lr " + exact(c.training.lr));
}

void sample_flags(Flags& flags, SampleCommand& c) {
  flags.word("RUN", c.run, "a run's folder, such as runs/harbour, or a checkpoint");
  flags.yes("--trust", c.trust, trust_help);
  flags.group("Writing");
  flags.text("--prompt", "TEXT", "what to go on from; a new line unless given",
             [&](const std::string& text) { c.prompt = text; });
  flags.whole("--tokens", c.options.tokens, {0, most}, "symbols to write");
  flags.real("--temperature", c.options.temperature, {0, infinite},
             "below 1 plays safe, above 1 takes risks; 0 takes the likeliest every time");
  flags.text("--top-k", "K", "choose among the K likeliest symbols only; all unless given",
             [&](const std::string& text) {
               c.options.top_k = static_cast<std::size_t>(whole_number("--top-k", text, {1, most}));
             });
  flags.whole("--seed", c.seed, {0, 4294967295.0}, "of the choices");
  flags.no("--no-cache", c.options.cache,
           "read the window again for every symbol: the same text, only slower");
  flags.threads(c.threads);
}

void look_flags(Flags& flags, LookCommand& c) {
  flags.word("RUN", c.run, "a run's folder, such as runs/harbour, or a checkpoint");
  flags.yes("--trust", c.trust, trust_help);
  flags.text("--text", "TEXT",
             "what the model reads; the beginning of its validation text unless given",
             [&](const std::string& text) { c.text = text; });
  flags.maybe("--layer", c.layer, {0, most}, "one layer, from 0; all unless given");
  flags.maybe("--head", c.head, {0, most}, "one head of that layer, from 0; all unless given");
  flags.text("--out", "DIR", "folder for the pictures; the run's unless given",
             [&](const std::string& text) {
               if (text.empty()) wrong("--out", text, "needs the name of a folder");
               c.out = text;
             });
  flags.threads(c.threads);
  flags.group("Queries and keys in the plane");
  flags.yes("--tsne", c.tsne,
            "place the queries and keys of one head by t-SNE; layer 0, head 0 unless given");
  flags.text("--perplexity", "X",
             "neighbours that count, about; 10, or less for a short text, unless given",
             [&](const std::string& text) {
               c.perplexity = real_number("--perplexity", text, {1, most});
             });
  flags.whole("--iterations", c.iterations, {1, most}, "steps of its descent");
  flags.whole("--seed", c.seed, {0, 4294967295.0}, "of its first places");
}

void check_together(const LookCommand& c, const std::set<std::string>& given) {
  if (c.run.empty()) throw UsageError("look: give a run's folder, such as runs/harbour");
  for (const char* flag : {"--perplexity", "--iterations", "--seed"})
    if (!c.tsne && given.count(flag) != 0)
      throw UsageError(std::string(flag) + " is about --tsne; give that too");
}

void corpus_flags(Flags& flags, CorpusCommand& c) {
  flags.word("FILE", c.file, "the file to write; standard output unless given");
  flags.group("Text");
  flags.text("--kind", "KIND", "grammar or chain; grammar unless given",
             [&](const std::string& text) {
               if (text != "grammar" && text != "chain")
                 wrong("--kind", text, "must be grammar or chain");
               c.kind = text;
             });
  flags.whole("--size", c.size, {1, most}, "characters to write");
  flags.whole("--seed", c.seed, {0, 4294967295.0}, "of every choice");
}

constexpr const char* about_train = "teach a small GPT a text";
constexpr const char* about_sample = "let a trained model write";
constexpr const char* about_window =
    "The model sees between half a block and a whole one of what stands before: a full block\n"
    "loses its older half, and the newer one is read again, so each symbol is read twice.";
constexpr const char* about_look = "what the heads of a trained model look at, and which matter";
constexpr const char* about_corpus = "write a text whose entropy is known exactly";
constexpr const char* about_inspect = "names, types and shapes in a safetensors file";

Command train_command(const Words& words) {
  Flags flags(about_train, "heed train");
  TrainCommand train;
  train_flags(flags, train);
  if (const auto help = flags.read(words)) return *help;
  train.given = flags.given();
  if (train.bytes) train.given.insert("--bytes");
  if (!train.resume) check_together(train);  // else the checkpoint has what is not given
  return train;
}

Command sample_command(const Words& words) {
  Flags flags(about_sample, "heed sample", about_window);
  SampleCommand sample;
  sample_flags(flags, sample);
  if (const auto help = flags.read(words)) return *help;
  if (sample.run.empty()) throw UsageError("sample: give a run's folder, such as runs/harbour");
  return sample;
}

Command look_command(const Words& words) {
  Flags flags(about_look, "heed look");
  LookCommand look;
  look_flags(flags, look);
  if (const auto help = flags.read(words)) return *help;
  check_together(look, flags.given());
  return look;
}

Command corpus_command(const Words& words) {
  Flags flags(about_corpus, "heed corpus");
  CorpusCommand corpus;
  corpus_flags(flags, corpus);
  if (const auto help = flags.read(words)) return *help;
  return corpus;
}

Command inspect_command(const Words& words) {
  Flags flags(about_inspect, "heed inspect");
  InspectCommand inspect;
  flags.word("FILE", inspect.file, "a safetensors file, such as a checkpoint");
  if (const auto help = flags.read(words)) return *help;
  if (inspect.file.empty()) throw UsageError("inspect: give a safetensors file");
  return inspect;
}

}  // namespace

Command parse_command_line(int argc, const char* const* argv) {
  const Words words(argv + std::min(argc, 1), argv + argc);
  const std::string command = words.empty() ? "" : words[0];
  const Words rest(words.begin() + (words.empty() ? 0 : 1), words.end());
  if (command == "train") return train_command(rest);
  if (command == "sample") return sample_command(rest);
  if (command == "look") return look_command(rest);
  if (command == "corpus") return corpus_command(rest);
  if (command == "inspect") return inspect_command(rest);
  if (command == "bench") return bench_command(rest);
  return read_without_command(words, {{"train", about_train},
                                      {"sample", about_sample},
                                      {"look", about_look},
                                      {"corpus", about_corpus},
                                      {"inspect", about_inspect},
                                      {"bench", about_bench}});
}

void check_saved_options(const std::string& file, const nn::GptConfig& model,
                         const TrainOptions& training) {
  Words words = {"--steps", std::to_string(training.steps)};
  for (const auto& [flag, value] : flag_values(model, training, false))
    if (flag != "--bytes" && flag != "--decay-steps") words.insert(words.end(), {flag, value});
  try {
    train_command(words);
  } catch (const UsageError& error) {
    throw_error(file, ": its options are not those of a run: ", error.what());
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
  values.erase("--steps");  // how long a run is does not define it
  values["--decay-steps"] = std::to_string(schedule_of(training).decay_steps);
  return values;
}

}  // namespace heed::app
