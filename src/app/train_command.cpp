// train_command.cpp: heed train: a text in, a model, its curve and its first writing out.

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>

#include "heed/app/commands.hpp"
#include "heed/app/run_folder.hpp"
#include "heed/app/terminal.hpp"
#include "heed/array/error.hpp"
#include "heed/array/parallel.hpp"
#include "heed/nn/atomic_file.hpp"
#include "heed/nn/checkpoint.hpp"
#include "heed/report/curve.hpp"
#include "heed/report/format.hpp"
#include "heed/report/loss_csv.hpp"
#include "heed/text/corpus.hpp"
#include "heed/text/file.hpp"
#include "heed/text/utf8.hpp"
#include "heed/train/generate.hpp"

namespace heed::app {
namespace {

const char* const default_text = HEED_DATA_DIR "/harbour.txt";

// ---- before any work is done: does everything fit?
// ------------------------------------------------

std::string name_of(const std::string& path) { return path == "-" ? "standard input" : path; }

// Weights, gradients and moments, and what a forward pass keeps for backward: some 24 vectors of
// embed_dim for each symbol and layer.
void check_memory(const TrainCommand& c) {
  nn::GptConfig model = c.model;
  model.vocab_size = 1;
  const auto sizes = [](std::size_t n) { return static_cast<double>(n); };
  const double width = sizes(model.embed_dim), layers = sizes(model.layers);
  const double weights = layers * 12 * width * width + (sizes(model.block_size) + 1) * width;
  const double symbols = sizes(c.training.batch_size) * sizes(model.block_size);
  const double need = sizeof(Real) * (4 * weights + symbols * width * (24 * layers + 8));
  const double have =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (need <= have) return;
  refuse("--block-size ", model.block_size, ", --batch-size ", c.training.batch_size, ", --layers ",
         model.layers, " and --embed-dim ", model.embed_dim, " need about ",
         grouped(std::ceil(need / 1e9)), " GB of memory, this machine has ",
         grouped(std::floor(have / 1e9)), " GB; make one of them smaller");
}

// The text as it will be learnt: without a byte order mark.
std::string_view checked_text(const TextFile& file, const std::string& path) {
  std::string_view text = file.text();
  if (has_byte_order_mark(text)) {
    text.remove_prefix(3);
    note(name_of(path) + " begins with a byte order mark, which is left out");
  }
  if (text.empty()) refuse(name_of(path), ": is empty; give a text to learn");
  if (has_crlf(text))
    note(name_of(path) + " has CRLF line ends: the model will learn them as two characters");
  return text;
}

Vocabulary checked_vocabulary(std::string_view text, const TrainCommand& c,
                              const std::string& path) {
  try {
    const Vocabulary vocabulary =
        Vocabulary::of_text(text, c.bytes ? Unit::byte : Unit::code_point);
    if (vocabulary.size() == 1)
      note(name_of(path) +
           " has one distinct character: there is nothing to learn but to repeat it");
    if (vocabulary.size() > 2000)
      note(name_of(path) + " has a vocabulary of " + std::to_string(vocabulary.size()) +
           " characters: steps are slow; --bytes needs 256 at most");
    return vocabulary;
  } catch (const Error& error) {
    refuse(name_of(path), ": ", error.what());
  }
}

void check_length(const Corpus& corpus, const TrainCommand& c, const std::string& path) {
  const std::size_t n = corpus.size(), last = corpus.validation().size;
  if (last > c.model.block_size && corpus.training().size > c.model.block_size) return;
  refuse(name_of(path), ": ", n, n == 1 ? " character leaves " : " characters leave ", last,
         " for validation, which must be more than --block-size ", c.model.block_size,
         "; give a longer text or a smaller --block-size");
}

// ---- going on with an earlier run
// -----------------------------------------------------------------

const std::set<std::string> free_to_change = {"--steps", "--threads", "--out"};

// Takes everything that was not given from the checkpoint; refuses what was given otherwise.
void take_options_from(const SafetensorsFile& file, TrainCommand& c) {
  const bool bytes = vocabulary_from(file).unit() == Unit::byte;
  const nn::GptConfig model = nn::config_from(file);
  TrainOptions training = options_from(file);
  const auto saved = flag_values(model, training, bytes);
  const auto wanted = flag_values(c.model, c.training, c.bytes);
  for (const std::string& flag : c.given)
    if (free_to_change.count(flag) == 0 && saved.at(flag) != wanted.at(flag))
      throw UsageError(flag + " " + wanted.at(flag) + " differs from the checkpoint's " +
                       saved.at(flag) + " in " + file.path +
                       "; leave it out to resume, or leave out --resume to begin anew");
  if (c.given.count("--steps") != 0) training.steps = c.training.steps;
  c.model = model;
  c.training = training;
  c.bytes = bytes;
}

void check_same_text(const SafetensorsFile& file, const TextIdentity& text, const std::string& path,
                     const Vocabulary& vocabulary) {
  if (vocabulary_from(file) != vocabulary)
    refuse(name_of(path), ": its vocabulary is not the one in ", file.path,
           "; resume with the text the run began with");
  const TextIdentity before = text_from(file);
  if (before.bytes != text.bytes || before.hash != text.hash)
    refuse(name_of(path), ": is not the text the run in ", file.path,
           " began with, though its vocabulary is the same; resume with that one");
}

// ---- training
// -------------------------------------------------------------------------------------

// A line of the model's writing, for the eye: "Nell: / I shall the"
std::string glimpse(const Trainer& trainer, const Vocabulary& vocabulary, std::size_t symbols) {
  GenerateOptions options;
  options.tokens = symbols;
  options.temperature = 0.8;
  Generator generator(trainer.options().seed);
  const std::int64_t line_end = vocabulary.find('\n');
  const std::string text = vocabulary.decode(
      generate(trainer.model(), {std::max<std::int64_t>(line_end, 0)}, options, generator));
  std::string line;
  for (const char c : text) line += c == '\n' ? std::string(" / ") : std::string(1, c);
  return line;
}

std::string row_line(const LogRow& row, std::int64_t steps) {
  std::ostringstream line;
  line << "step " << pad_left(std::to_string(row.step), std::to_string(steps).size()) << "  train "
       << decimal(row.train_loss, 4);
  if (row.val_loss) line << "  val " << decimal(*row.val_loss, 4);
  return line.str();
}

class Run {
 public:
  Run(const TrainCommand& command, std::string text_path, TextIdentity identity,
      const Vocabulary& vocabulary, const Corpus& corpus, RunFolder folder)
      : command_(command),
        text_path_(std::move(text_path)),
        identity_(std::move(identity)),
        vocabulary_(vocabulary),
        folder_(std::move(folder)),
        trainer_(corpus, model_for(command, vocabulary), command.training) {}

  void restore(const SafetensorsFile& file) { trainer_.restore(file); }
  bool done() const { return trainer_.done(); }
  void introduce() const;
  int train();

 private:
  static nn::GptConfig model_for(const TrainCommand& command, const Vocabulary& vocabulary) {
    nn::GptConfig model = command.model;
    model.vocab_size = vocabulary.size();
    return model;
  }
  void save() { save_checkpoint(folder_, trainer_, vocabulary_, identity_); }
  void report(const LogRow& row);
  void show_live();
  int interrupted(int signal);
  void finish();

  const TrainCommand& command_;
  std::string text_path_;
  TextIdentity identity_;
  const Vocabulary& vocabulary_;
  RunFolder folder_;
  Trainer trainer_;
  std::ofstream csv_;
  LiveLine live_;
};

void Run::introduce() const {
  const TrainOptions& o = trainer_.options();
  std::ostringstream text;
  text << name_of(text_path_) << ": " << grouped(static_cast<double>(identity_.bytes)) << " bytes, "
       << vocabulary_.size() << " distinct symbols\n"
       << "model: " << trainer_.model().config.layers << " layers, "
       << trainer_.model().config.heads << " heads, width " << trainer_.model().config.embed_dim
       << ": " << grouped(static_cast<double>(trainer_.parameters().count())) << " parameters\n"
       << (trainer_.steps_done() == 0 ? "training" : "going on") << " for "
       << o.steps - trainer_.steps_done() << " steps of " << o.batch_size << " x "
       << trainer_.model().config.block_size << " symbols on " << num_threads()
       << (num_threads() == 1 ? " thread" : " threads") << "; guessing blindly costs ln "
       << vocabulary_.size() << " = "
       << decimal(std::log(static_cast<double>(vocabulary_.size())), 4);
  std::cerr << text.str() << std::endl;
}

int Run::train() {
  folder_.create();
  write_file_atomically(folder_.loss_csv(), csv(trainer_.history()));
  csv_.open(folder_.loss_csv(), std::ios::app);
  remember_signals();
  introduce();
  while (!trainer_.done()) {
    if (const auto row = trainer_.step()) report(*row);
    show_live();
    if (remembered_signal() != 0) return interrupted(remembered_signal());
  }
  finish();
  return 0;
}

void Run::report(const LogRow& row) {
  csv_ << csv(row) << std::flush;
  if (!csv_) refuse(folder_.loss_csv().string(), ": cannot be written; is the disk full?");
  std::string line = row_line(row, trainer_.options().steps);
  if (row.val_loss) {
    save();
    line += "   " + glimpse(trainer_, vocabulary_, 40);
  }
  if (row.val_loss || !stderr_is_terminal()) live_.print_above(line);
}

void Run::show_live() {
  const LogRow& last = trainer_.history().back();
  const auto left = static_cast<double>(trainer_.options().steps - trainer_.steps_done());
  ProgressState state;
  state.step = static_cast<std::size_t>(trainer_.steps_done());
  state.total_steps = static_cast<std::size_t>(trainer_.options().steps);
  state.train_loss = last.train_loss;
  state.tokens_per_second =
      static_cast<double>(trainer_.options().batch_size * trainer_.model().config.block_size) /
      last.ms * 1000;
  state.seconds_left = left * last.ms / 1000;
  live_.show(state);
}

int Run::interrupted(int signal) {
  save();
  live_.print_above("heed: interrupted after step " + std::to_string(trainer_.steps_done()) +
                    ", and saved; resume with: ./heed train " +
                    (command_.text.empty() ? "" : command_.text + " ") + "--resume --out " +
                    folder_.path().string());
  return 128 + signal;
}

void Run::finish() {
  GenerateOptions options;
  options.temperature = 0.8;
  Generator generator(trainer_.options().seed);
  const std::int64_t start = std::max<std::int64_t>(vocabulary_.find('\n'), 0);
  const std::string written =
      vocabulary_.decode(generate(trainer_.model(), {start}, options, generator)) + "\n";
  write_file_atomically(folder_.sample(), written);
  const std::string title = "learning " + std::filesystem::path(text_path_).filename().string();
  CurveOptions curve;
  curve.title = title;
  const Plot plot = draw_loss_curve(folder_.path().string(), curve);
  if (!plot.ok) live_.print_above("heed: note: " + plot.message);
  if (stdout_is_terminal()) {
    const LossCsv losses = read_loss_csv(folder_.loss_csv().string());
    std::cout << '\n' << curve_text({losses.training, losses.validation}, curve) << '\n';
  }
  const LogRow& last = trainer_.history().back();
  std::cout << "\n"
            << written << "\nvalidation loss " << decimal(*last.val_loss, 4) << " after "
            << last.step << " steps; in " << folder_.path().string()
            << ": checkpoint.safetensors, loss.csv, " << (plot.ok ? "loss.svg, " : "")
            << "sample.txt\n"
            << "more of it: ./heed sample " << folder_.path().string() << " --temperature 0.8"
            << std::endl;
}

std::string default_folder(const std::string& text_path) {
  const std::string name = std::filesystem::path(text_path).stem().string();
  return "runs/" + (text_path == "-" ? "stdin" : name.empty() ? "text" : name);
}

}  // namespace

int train(const TrainCommand& given) {
  TrainCommand command = given;
  if (command.threads) set_num_threads(*command.threads);
  std::string path = command.text.empty() ? default_text : command.text;
  const RunFolder folder(command.out.empty() ? default_folder(path) : command.out);
  std::optional<SafetensorsFile> earlier;
  if (command.resume) {
    earlier = open_checkpoint(folder.checkpoint());
    take_options_from(*earlier, command);
    const std::string before = text_from(*earlier).path;
    if (command.text.empty() && !before.empty()) path = before;
  }
  check_memory(command);

  const TextFile file = TextFile::open(path);
  const std::string_view text = checked_text(file, path);
  const Vocabulary vocabulary = checked_vocabulary(text, command, path);
  const Corpus corpus(text, vocabulary);
  check_length(corpus, command, path);
  TextIdentity identity = identity_of(path == default_text ? "" : path, text);
  if (earlier) check_same_text(*earlier, identity, path, vocabulary);

  Run run(command, path, identity, vocabulary, corpus, folder);
  if (earlier) run.restore(*earlier);
  if (run.done())
    throw UsageError("--steps " + std::to_string(command.training.steps) + ": the run in " +
                     folder.path().string() + " has done that many already; give more to go on");
  return run.train();
}

}  // namespace heed::app
