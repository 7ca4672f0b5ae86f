// options.cpp: the command line; the one file that includes CLI11.

#include "heed/app/options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <list>
#include <sstream>

#include "heed/app/version.hpp"
#include "heed/array/error.hpp"
#include "heed/nn/checkpoint.hpp"
#include "heed/report/format.hpp"
#include "heed/train/checkpoint.hpp"

namespace heed::app {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

// A word of the command line as an error shows it: in full, unless it would fill the screen.
std::string brief(const std::string& word) {
  const std::size_t many = 60;
  return word.size() <= many ? word : shortened(word.substr(0, 4 * many), many);
}

[[noreturn]] void wrong(const std::string& flag, const std::string& value, const std::string& why) {
  const bool odd = value.empty() || value.find(' ') != value.npos;
  throw UsageError(flag + " " + (odd ? "'" + brief(value) + "'" : brief(value)) + ": " + why);
}

// Where values of a flag may lie.
struct Span {
  double low, high;
  bool open_low = false, open_high = false;  // the end itself is out
  bool contains(double v) const {
    return (open_low ? v > low : v >= low) && (open_high ? v < high : v <= high);
  }
  std::string text() const {
    const std::string from = (open_low ? "above " : "at least ") + nn::exact(low);
    if (high == infinite) return from;
    return from + (open_high ? " and below " : " and at most ") + nn::exact(high);
  }
};

std::uint64_t whole_number(const std::string& flag, const std::string& text, Span span) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const bool negative = text.size() > 1 && text[0] == '-' && text[1] >= '0' && text[1] <= '9';
  if (error == std::errc::result_out_of_range)
    wrong(flag, text, "out of range: must be a whole number " + span.text());
  if (!negative && (error != std::errc() || stop != end))
    wrong(flag, text, "must be a whole number, " + span.text());
  if (negative || !span.contains(static_cast<double>(value)))
    wrong(flag, text, "out of range: must be a whole number " + span.text());
  return value;
}

double real_number(const std::string& flag, const std::string& text, Span span) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::result_out_of_range)
    wrong(flag, text, "out of range: must be " + span.text());
  if (error != std::errc() || stop != end) wrong(flag, text, "must be a number, " + span.text());
  if (!std::isfinite(value) || !span.contains(value)) wrong(flag, text, "must be " + span.text());
  return value;
}

// The flags of one command, each with what its value is turned into once all are read.
class Flags {
 public:
  explicit Flags(CLI::App& app) : app_(app) { app_.allow_extras(); }

  // The one word without a flag.
  void word(const std::string& name, std::string& target, const std::string& help) {
    word_ = app_.add_option(name, target, help)->type_name("");
  }

  template <class T>
  void whole(const std::string& flag, T& target, Span span, const std::string& help) {
    add(flag, "N", std::to_string(target), help, [=, &target](const std::string& text) {
      target = static_cast<T>(whole_number(flag, text, span));
    });
  }
  void real(const std::string& flag, double& target, Span span, const std::string& help) {
    add(flag, "X", nn::exact(target), help,
        [=, &target](const std::string& text) { target = real_number(flag, text, span); });
  }
  void text(const std::string& flag, const std::string& type, const std::string& help,
            std::function<void(const std::string&)> set) {
    add(flag, type, "", help, std::move(set));
  }
  void threads(std::optional<int>& target) {
    add("--threads", "N", "", "threads to use; every core unless given",
        [&](const std::string& text) {
          target = static_cast<int>(whole_number("--threads", text, {1, 1024}));
        });
  }
  void yes(const std::string& flag, bool& target, const std::string& help) {
    names_.push_back(flag);
    app_.add_flag(flag, target, help)->group(group_);
  }
  void no(const std::string& flag, bool& target, const std::string& help) {
    names_.push_back(flag);
    app_.add_flag_callback(
            flag, [&target] { target = false; }, help)
        ->group(group_);
  }
  void group(const std::string& name) { group_ = name; }

  // "--lr=1" as "--lr" "1", since CLI11 takes the next word where nothing follows the "=".
  std::vector<std::string> separated(const std::vector<std::string>& words) const;

  // Turns texts into values; returns the flags that were written.
  std::set<std::string> convert() const {
    refuse_unknown();
    if (word_ != nullptr && word_->count() > 0 && word_->as<std::string>().empty())
      wrong(word_->get_name(), "", "needs the name of a file");
    std::set<std::string> given;
    for (const Entry& entry : entries_) {
      if (entry.texts.empty()) continue;
      if (entry.texts.size() > 1)
        throw UsageError(entry.flag + " is given twice (" + brief(entry.texts[0]) + " and " +
                         brief(entry.texts[1]) + "); give it once");
      entry.set(entry.texts[0]);
      given.insert(entry.flag);
    }
    return given;
  }

 private:
  struct Entry {
    std::string flag;
    std::vector<std::string> texts;
    std::function<void(const std::string&)> set;
  };

  void add(const std::string& flag, const std::string& type, const std::string& standard,
           const std::string& help, std::function<void(const std::string&)> set) {
    entries_.push_back({flag, {}, std::move(set)});
    names_.push_back(flag);
    CLI::Option* const option = app_.add_option(flag, entries_.back().texts, help);
    option->expected(1)->take_all()->allow_extra_args(false)->type_name(type)->group(group_);
    if (!standard.empty()) option->default_str(standard);
  }

  bool known(const std::string& flag) const {
    return std::find(names_.begin(), names_.end(), flag) != names_.end();
  }
  bool takes_value(const std::string& flag) const {
    return std::any_of(entries_.begin(), entries_.end(),
                       [&](const Entry& entry) { return entry.flag == flag; });
  }
  void refuse_unknown() const;
  std::string nearest(const std::string& flag) const;

  CLI::App& app_;
  CLI::Option* word_ = nullptr;
  std::list<Entry> entries_;  // CLI11 keeps pointers into them
  std::vector<std::string> names_{"--help"};
  std::string group_;
};

// How many letters must be changed, added or left out to get from a to b (Levenshtein 1966).
std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, changed});
    }
  }
  return row[b.size()];
}

std::string Flags::nearest(const std::string& flag) const {
  if (flag.size() > 40) return "";  // nothing is near, and finding that out takes long
  const auto closer = [&](const std::string& a, const std::string& b) {
    return edit_distance(flag, a) < edit_distance(flag, b);
  };
  const std::string best = *std::min_element(names_.begin(), names_.end(), closer);
  return edit_distance(flag, best) <= std::max<std::size_t>(2, flag.size() / 3) ? best : "";
}

std::string name_in(const std::string& word) { return word.substr(0, word.find('=')); }

std::vector<std::string> Flags::separated(const std::vector<std::string>& words) const {
  std::vector<std::string> result;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string flag = name_in(words[i]);
    const bool has_value = flag.size() < words[i].size();
    result.push_back(known(flag) ? flag : words[i]);
    if (!takes_value(flag)) {
      if (has_value && known(flag)) throw UsageError(flag + " takes no value; write it alone");
    } else if (has_value) {
      result.push_back(words[i].substr(flag.size() + 1));
    } else {
      if (i + 1 == words.size() || known(name_in(words[i + 1])))
        throw UsageError(flag + " needs a value");
      result.push_back(words[++i]);
    }
  }
  return result;
}

void Flags::refuse_unknown() const {
  std::vector<std::string> extras = app_.remaining();
  extras.erase(std::remove(extras.begin(), extras.end(), "--"), extras.end());
  if (extras.empty()) return;
  const std::string& extra = extras[0];
  const std::string flag = name_in(extra);
  if (extra.size() < 2 || extra[0] != '-' || known(flag))  // known: written after "--"
    throw UsageError("'" + brief(extra) + "' is one argument too many; see --help");
  const std::string guess = nearest(flag);
  throw UsageError("unknown option " + brief(flag) + "; " +
                   (guess.empty() ? "see --help" : "did you mean " + guess + "?"));
}

constexpr const char* trust_help =
    "load a checkpoint that has no checksum of heed's, as other programs write it";
constexpr double most = 1e9;  // for sizes: beyond it nothing fits anywhere

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

void check_heads(const nn::GptConfig& model) {
  if (model.embed_dim % model.heads != 0)
    throw UsageError("--heads " + std::to_string(model.heads) + " does not divide --embed-dim " +
                     std::to_string(model.embed_dim) + "; choose heads that divide the width");
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
    wrong("--min-lr", nn::exact(c.training.min_lr),
          "must be at most --lr " + nn::exact(c.training.lr));
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
  const auto number = [&](const char* flag, std::optional<std::size_t>& target, const char* help) {
    flags.text(flag, "N", help, [=, &target](const std::string& text) {
      target = static_cast<std::size_t>(whole_number(flag, text, {0, most}));
    });
  };
  flags.word("RUN", c.run, "a run's folder, such as runs/harbour, or a checkpoint");
  flags.yes("--trust", c.trust, trust_help);
  flags.text("--text", "TEXT",
             "what the model reads; the beginning of its validation text unless given",
             [&](const std::string& text) { c.text = text; });
  number("--layer", c.layer, "one layer, from 0; all unless given");
  number("--head", c.head, "one head of it, from 0; all unless given");
  flags.text("--out", "DIR", "folder for the pictures; the run's unless given",
             [&](const std::string& text) {
               if (text.empty()) wrong("--out", text, "needs the name of a folder");
               c.out = text;
             });
  flags.threads(c.threads);
  flags.group("Queries and keys in the plane");
  flags.yes("--tsne", c.tsne, "place the queries and keys of one head by t-SNE");
  flags.real("--perplexity", c.perplexity, {1, most}, "neighbours that count, about");
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
  flags.text("--kind", "KIND", "grammar or chain; grammar unless given",
             [&](const std::string& text) {
               if (text != "grammar" && text != "chain")
                 wrong("--kind", text, "must be grammar or chain");
               c.kind = text;
             });
  flags.whole("--size", c.size, {1, most}, "characters to write");
  flags.whole("--seed", c.seed, {0, 4294967295.0}, "of every choice");
}

const std::vector<std::pair<std::string, BenchPart>> bench_parts = {
    {"step", BenchPart::step},         {"threads", BenchPart::threads},
    {"context", BenchPart::context},   {"width", BenchPart::width},
    {"small", BenchPart::small},       {"operations", BenchPart::operations},
    {"generate", BenchPart::generate}, {"memory", BenchPart::memory},
    {"start", BenchPart::start},       {"run", BenchPart::run}};

BenchPart bench_part(const std::string& word) {
  std::string names;
  for (const auto& [name, part] : bench_parts) {
    if (name == word) return part;
    names += (names.empty() ? "" : name == "run" ? " or " : ", ") + name;
  }
  wrong("--only", word, "must be " + names);
}

void bench_model_flags(Flags& flags, Workload& w) {
  flags.group("Model");
  flags.whole("--block-size", w.model.block_size, {1, most}, "symbols the model looks at");
  flags.whole("--batch-size", w.batch_size, {1, most}, "windows in a step");
  flags.whole("--layers", w.model.layers, {1, most}, "blocks, one on the other");
  flags.whole("--heads", w.model.heads, {1, most}, "attention heads in a block");
  flags.whole("--embed-dim", w.model.embed_dim, {1, most}, "numbers that stand for a symbol");
  flags.whole("--threads", w.threads, {1, 1024}, "threads to use, but in the table over threads");
}

void bench_flags(Flags& flags, BenchCommand& c) {
  flags.word("TEXT", c.text, "a text file in UTF-8; the text that comes with heed unless given");
  flags.group("What");
  flags.text("--only", "PART",
             "one part of it: step, threads, context, width, small, operations, generate, memory, "
             "start; or run: nothing but steps",
             [&](const std::string& text) { c.only = bench_part(text); });
  const auto count = [&](const char* flag, std::int64_t& target, const char* help) {
    flags.text(flag, "N", help, [=, &target](const std::string& text) {
      target = static_cast<std::int64_t>(whole_number(flag, text, {1, most}));
    });
  };
  count("--rounds", c.rounds, "times to go over everything; 3, or 9 with --compare, unless given");
  count("--steps", c.steps, "steps of each kind in a round; 0.4 seconds' worth unless given");
  flags.yes("--json", c.json, "one JSON object instead of tables");
  flags.group("PyTorch");
  flags.text("--compare", "SCRIPT",
             "take turns with this PyTorch program, such as tests/bench/torch_peer.py",
             [&](const std::string& text) {
               if (text.empty()) wrong("--compare", text, "needs the name of a script");
               c.compare = text;
             });
  flags.text("--peer-blas", "DIR",
             "folder of its OpenBLAS for two threads and more; /usr/lib/*/openblas-openmp unless "
             "given",
             [&](const std::string& text) { c.peer_blas = text; });
  bench_model_flags(flags, c.workload);
}

// With --compare the parts are other ones: all of them, or the model that the options describe.
void check_together(const BenchCommand& c) {
  check_heads(c.workload.model);
  if (c.text == "-") throw UsageError("TEXT -: bench needs a file, which it reads several times");
  if (c.compare.empty() && !c.peer_blas.empty())
    throw UsageError("--peer-blas " + c.peer_blas + ": only with --compare");
  if (!c.compare.empty() && c.only != BenchPart::all && c.only != BenchPart::step)
    throw UsageError("--compare " + c.compare + ": goes with --only step, or without --only");
}

using Words = std::vector<std::string>;

// The text for --help or --version, if it was asked for.
std::optional<ShowText> parse(CLI::App& app, Words words) {
  std::reverse(words.begin(), words.end());  // as CLI11 wants them
  try {
    app.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    return ShowText{app.help()};
  } catch (const CLI::CallForVersion&) {
    return ShowText{std::string(version) + "\n"};
  } catch (const CLI::ParseError& error) {
    const std::string text = error.what();
    throw UsageError(text.substr(0, text.find('\n')) + "; see --help");
  }
  return {};
}

// Each command is an App of its own, not a CLI11 subcommand: among those, `heed sample train` would
// be two commands, and not a run called train.
constexpr const char* about_heed = "heed: learn attention by running, reading and debugging code";
constexpr const char* about_train = "teach a small GPT a text";
constexpr const char* about_sample = "let a trained model write";
constexpr const char* about_window =
    "The model sees between half a block and a whole one of what stands before: a full block\n"
    "loses its older half, and the newer one is read again, so each symbol is read twice.";
constexpr const char* about_look = "what the heads of a trained model look at, and which matter";
constexpr const char* about_corpus = "write a text whose entropy is known exactly";
constexpr const char* about_inspect = "names, types and shapes in a safetensors file";
constexpr const char* about_bench = "how fast this machine trains, and where the time goes";

Command train_command(const Words& words) {
  CLI::App app(about_train, "heed train");
  Flags flags(app);
  TrainCommand train;
  train_flags(flags, train);
  if (const auto help = parse(app, flags.separated(words))) return *help;
  train.given = flags.convert();
  if (train.bytes) train.given.insert("--bytes");
  if (!train.resume) check_together(train);  // else the checkpoint has what is not given
  return train;
}

Command sample_command(const Words& words) {
  CLI::App app(about_sample, "heed sample");
  app.footer(about_window);
  Flags flags(app);
  SampleCommand sample;
  sample_flags(flags, sample);
  if (const auto help = parse(app, flags.separated(words))) return *help;
  flags.convert();
  if (sample.run.empty()) throw UsageError("sample: give a run's folder, such as runs/harbour");
  return sample;
}

Command look_command(const Words& words) {
  CLI::App app(about_look, "heed look");
  Flags flags(app);
  LookCommand look;
  look_flags(flags, look);
  if (const auto help = parse(app, flags.separated(words))) return *help;
  check_together(look, flags.convert());
  return look;
}

Command corpus_command(const Words& words) {
  CLI::App app(about_corpus, "heed corpus");
  Flags flags(app);
  CorpusCommand corpus;
  corpus_flags(flags, corpus);
  if (const auto help = parse(app, flags.separated(words))) return *help;
  flags.convert();
  return corpus;
}

Command inspect_command(const Words& words) {
  CLI::App app(about_inspect, "heed inspect");
  Flags flags(app);
  InspectCommand inspect;
  flags.word("FILE", inspect.file, "a safetensors file, such as a checkpoint");
  if (const auto help = parse(app, flags.separated(words))) return *help;
  flags.convert();
  if (inspect.file.empty()) throw UsageError("inspect: give a safetensors file");
  return inspect;
}

Command bench_command(const Words& words) {
  CLI::App app(about_bench, "heed bench");
  Flags flags(app);
  BenchCommand bench;
  bench_flags(flags, bench);
  if (const auto help = parse(app, flags.separated(words))) return *help;
  flags.convert();
  check_together(bench);
  return bench;
}

// No command: --help, --version or a mistake.
Command no_command(const Words& words) {
  CLI::App app(about_heed, "heed");
  app.set_version_flag("--version", version);
  app.add_subcommand("train", about_train);
  app.add_subcommand("sample", about_sample);
  app.add_subcommand("look", about_look);
  app.add_subcommand("corpus", about_corpus);
  app.add_subcommand("inspect", about_inspect);
  app.add_subcommand("bench", about_bench);
  app.allow_extras();
  if (const auto help = parse(app, words)) return *help;
  throw UsageError((words.empty() ? "no command" : "unknown command '" + brief(words[0]) + "'") +
                   "; use train, sample, look, corpus, inspect or bench, or see --help");
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
  return no_command(words);
}

void check_saved_options(const std::string& file, const nn::GptConfig& model,
                         const TrainOptions& training) {
  Words words = {"--steps", std::to_string(training.steps)};
  for (const auto& [flag, value] : flag_values(model, training, false))
    if (flag != "--bytes" && flag != "--decay-steps") words.insert(words.end(), {flag, value});
  try {
    train_command(words);
  } catch (const UsageError& error) {
    refuse(file, ": its options are not those of a run: ", error.what());
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
