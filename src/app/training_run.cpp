// training_run.cpp: runs a trainer to the end, shows its progress and saves its results.

#include "heed/app/training_run.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <iostream>

#include "heed/app/loss_curve.hpp"
#include "heed/array/parallel.hpp"
#include "heed/base/atomic_file.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/train/generate.hpp"

namespace heed::app {
namespace {

// Below 1, because small models misspell words at temperature 1.
constexpr double preview_temperature = 0.8;

bool on_terminal() { return stdout_is_terminal() && stderr_is_terminal(); }

std::string row_line(const LogRow& row, std::int64_t steps) {
  std::string line = "step " + pad_left(std::to_string(row.step), std::to_string(steps).size()) +
                     "  train " + decimal(row.train_loss, 4);
  if (row.val_loss) line += "  val " + decimal(*row.val_loss, 4);
  return line;
}

std::string unit_name(const Vocabulary& vocabulary) {
  return vocabulary.unit() == Unit::byte ? "byte" : "character";
}

}  // namespace

TrainingRun::TrainingRun(Trainer& trainer, const Vocabulary& vocabulary,
                         const TextFingerprint& text, std::string text_name,
                         const RunFolder& folder)
    : trainer_(trainer),
      vocabulary_(vocabulary),
      text_(text),
      text_name_(std::move(text_name)),
      folder_(folder) {}

int TrainingRun::train() {
  write_file_atomically(folder_.loss_csv(), csv(trainer_.history()));
  csv_.open(folder_.loss_csv(), std::ios::app);
  try {
    return train_and_show();
  } catch (const Diverged& error) {
    throw_diverged(error.what());
  }
}

int TrainingRun::train_and_show() {
  print_header();
  while (!trainer_.done()) {
    if (const auto row = trainer_.step()) report(*row);
    show_progress();
    note_closed_output();
    if (received_signal() != 0 && !trainer_.done()) return interrupted(received_signal());
  }
  return finish();
}

void TrainingRun::print_header() const {
  const TrainOptions& o = trainer_.options();
  const nn::GptConfig& c = trainer_.model().config;
  const std::size_t V = vocabulary_.size();
  const bool replaces = trainer_.steps_done() == 0 && std::filesystem::exists(folder_.checkpoint());
  std::ostream& out = on_terminal() ? std::cerr : std::cout;
  out << "text   " << text_name_ << ": " << counted(text_.bytes, "byte") << ", "
      << counted(V, "distinct " + unit_name(vocabulary_)) << "\n"
      << "model  " << counted(c.layers, "layer") << ", " << counted(c.heads, "head") << ", width "
      << c.embed_dim << ": " << counted(trainer_.parameters().count(), "parameter") << "\n"
      << "steps  " << trainer_.steps_done() << " to " << o.steps << ", each " << o.batch_size
      << " x " << c.block_size << " tokens, on "
      << counted(static_cast<std::size_t>(num_threads()), "thread") << "\n"
      << "loss   nats per token; a uniform guess has loss ln " << V << " = "
      << decimal(std::log(static_cast<double>(V)), 4) << "\n"
      << "run    " << folder_.path().string()
      << (replaces ? ", replacing the run in it (another --out keeps both)" : "") << std::endl;
}

void TrainingRun::throw_diverged(const std::string& reason) const {
  std::error_code ignored;
  const bool saved = std::filesystem::exists(folder_.checkpoint(), ignored);
  throw_error(reason, saved ? "; the last checkpoint is unchanged" : "; nothing was saved yet",
              "; try a smaller --lr than ", trainer_.options().lr);
}

// loss.csv can be written again from the history in the checkpoint, so this saves the checkpoint.
void TrainingRun::throw_csv_error(int error) const {
  std::string saved = "; step " + std::to_string(trainer_.steps_done()) + " is saved";
  try {
    save();
  } catch (const Error&) {
    saved = "; the last checkpoint is unchanged";
  }
  throw_error(folder_.loss_csv().string(), ": ", write_error_text(error), saved);
}

void TrainingRun::report(const LogRow& row) {
  errno = 0;
  csv_ << csv(row) << std::flush;
  if (!csv_) throw_csv_error(errno);
  std::string line = row_line(row, trainer_.options().steps);
  if (row.val_loss) {
    save();
    line += "   " + preview();
  }
  if (!on_terminal())
    std::cout << line << std::endl;
  else if (row.val_loss)
    live_.print_above(truncated(line, terminal_width() - 1));
}

void TrainingRun::show_progress() {
  const LogRow& last = trainer_.history().back();
  const TrainOptions& o = trainer_.options();
  const auto tokens = static_cast<double>(o.batch_size * trainer_.model().config.block_size);
  ProgressState state;
  state.step = static_cast<std::size_t>(trainer_.steps_done());
  state.total_steps = static_cast<std::size_t>(o.steps);
  state.train_loss = last.train_loss;
  state.tokens_per_second = tokens / last.ms * 1000;
  state.seconds_left = static_cast<double>(o.steps - trainer_.steps_done()) * last.ms / 1000;
  live_.show(state);
}

// Training continues after `heed train | head -1`: its results are in files.
void TrainingRun::note_closed_output() {
  if (std::cout || noted_closed_) return;
  noted_closed_ = true;
  live_.wipe();
  note("standard output cannot be written any more; training continues in " +
       folder_.path().string() + "; Ctrl-C saves and stops it");
}

int TrainingRun::interrupted(int signal) {
  save();
  const std::string text = text_.path.empty() ? "" : shell_word(text_.path) + " ";
  live_.print_above("heed: interrupted after step " + std::to_string(trainer_.steps_done()) +
                    ", all saved; to resume: ./heed train " + text + "--resume --out " +
                    shell_word(folder_.path().string()));
  return 128 + signal;
}

// A signal after the last step, whose results are saved already.
int TrainingRun::interrupted_after_training(int signal) {
  live_.print_above("heed: interrupted after step " + std::to_string(trainer_.steps_done()) +
                    ", the last one, all saved; to generate text: ./heed sample " +
                    shell_word(folder_.path().string()));
  return 128 + signal;
}

std::string TrainingRun::generated(std::size_t num_tokens) const {
  GenerateOptions options;
  options.tokens = num_tokens;
  options.temperature = preview_temperature;
  Generator generator(trainer_.options().seed);
  const std::int64_t start = std::max<std::int64_t>(vocabulary_.find('\n'), 0);
  return vocabulary_.decode(generate(trainer_.model(), {start}, options, generator,
                                     [](std::int64_t) { return received_signal() == 0; }));
}

std::string TrainingRun::preview() const {
  std::string text;
  for (const std::string& line : lines_of(generated(40)))  // printable() would replace a lone space
    text += (text.empty() ? "" : " / ") + (line == " " ? line : printable(line));
  return text;
}

int TrainingRun::finish() {
  const std::string text = generated(500) + "\n";
  if (received_signal() != 0) return interrupted_after_training(received_signal());
  write_file_atomically(folder_.sample(), text);
  CurveOptions curve;
  curve.y_title = "loss (nats per token)";
  curve.title = "training on " + std::filesystem::path(text_name_).filename().string();
  const Plot plot = draw_loss_curve(folder_.path().string(), curve);
  if (received_signal() != 0) return interrupted_after_training(received_signal());
  if (!plot.ok) live_.print_above("heed: note: " + plot.message);
  live_.wipe();
  std::cout << '\n';
  if (stdout_is_terminal())
    std::cout << curve_text(loss_series(read_loss_csv(folder_.loss_csv().string())), curve) << '\n';
  print_results(plot.ok, text);
  return 0;
}

void TrainingRun::print_results(bool plotted, const std::string& text) const {
  const LogRow& last = trainer_.history().back();
  const std::string folder = folder_.path().string();
  std::cout << text << "\nvalidation loss " << decimal(last.val_loss.value_or(NAN), 4) << " after "
            << last.step << " steps\n"
            << folder << "/ has checkpoint.safetensors, loss.csv, "
            << (plotted ? "loss.svg, loss.gp, " : "") << "sample.txt\n"
            << "to generate more: ./heed sample " << shell_word(folder) << " --temperature 0.8"
            << std::endl;
}

}  // namespace heed::app
