// training_run.cpp: a trainer at work, with what is shown of it and what is kept.

#include "heed/app/training_run.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <sstream>

#include "heed/app/loss_curve.hpp"
#include "heed/array/parallel.hpp"
#include "heed/base/atomic_file.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/train/generate.hpp"

namespace heed::app {
namespace {

constexpr double calm = 0.8;  // temperature of what is shown: a small model at 1 spells worse

bool on_terminal() { return stdout_is_terminal() && stderr_is_terminal(); }

std::string row_line(const LogRow& row, std::int64_t steps) {
  std::string line = "step " + pad_left(std::to_string(row.step), std::to_string(steps).size()) +
                     "  train " + decimal(row.train_loss, 4);
  if (row.val_loss) line += "  val " + decimal(*row.val_loss, 4);
  return line;
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
    throw_diverged_run(error.what());
  }
}

int TrainingRun::train_and_show() {
  introduce();
  while (!trainer_.done()) {
    if (const auto row = trainer_.step()) report(*row);
    show_live();
    note_closed_output();
    if (remembered_signal() != 0 && !trainer_.done()) return interrupted(remembered_signal());
  }
  return finish();
}

void TrainingRun::introduce() const {
  const TrainOptions& o = trainer_.options();
  const nn::GptConfig& c = trainer_.model().config;
  const auto V = static_cast<double>(vocabulary_.size());
  const bool replaces = trainer_.steps_done() == 0 && std::filesystem::exists(folder_.checkpoint());
  std::ostream& out = on_terminal() ? std::cerr : std::cout;
  out << "text   " << text_name_ << ": " << counted(text_.bytes, "byte") << ", "
      << counted(vocabulary_.size(), "distinct symbol") << "\n"
      << "model  " << counted(c.layers, "layer") << ", " << counted(c.heads, "head") << ", width "
      << c.embed_dim << ": " << counted(trainer_.parameters().count(), "parameter") << "\n"
      << "steps  " << trainer_.steps_done() << " to " << o.steps << ", each " << o.batch_size
      << " x " << c.block_size << " symbols, on "
      << counted(static_cast<std::size_t>(num_threads()), "thread") << "\n"
      << "loss   nats per symbol; a blind guess costs ln " << vocabulary_.size() << " = "
      << decimal(std::log(V), 4) << "\n"
      << "run    " << folder_.path().string()
      << (replaces ? ", in place of the one that is there (--out keeps both)" : "") << std::endl;
}

void TrainingRun::throw_diverged_run(const std::string& what) const {
  std::error_code unknown;
  const bool saved = std::filesystem::exists(folder_.checkpoint(), unknown);
  throw_error(what, saved ? "; the last checkpoint is as it was" : "; nothing was saved yet",
              "; try a smaller --lr than ", trainer_.options().lr);
}

// The table is made again from the checkpoint's history, so that much must be kept.
void TrainingRun::throw_without_losses(int error) const {
  std::string kept = "; step " + std::to_string(trainer_.steps_done()) + " is saved";
  try {
    save();
  } catch (const Error&) {
    kept = "; the last checkpoint is as it was";
  }
  throw_error(folder_.loss_csv().string(), ": ", write_failure(error), kept);
}

void TrainingRun::report(const LogRow& row) {
  errno = 0;
  csv_ << csv(row) << std::flush;
  if (!csv_) throw_without_losses(errno);
  std::string line = row_line(row, trainer_.options().steps);
  if (row.val_loss) {
    save();
    line += "   " + glimpse();
  }
  if (!on_terminal())
    std::cout << line << std::endl;
  else if (row.val_loss)
    live_.print_above(truncated(line, terminal_width() - 1));
}

void TrainingRun::show_live() {
  const LogRow& last = trainer_.history().back();
  const TrainOptions& o = trainer_.options();
  const auto window = static_cast<double>(o.batch_size * trainer_.model().config.block_size);
  ProgressState state;
  state.step = static_cast<std::size_t>(trainer_.steps_done());
  state.total_steps = static_cast<std::size_t>(o.steps);
  state.train_loss = last.train_loss;
  state.tokens_per_second = window / last.ms * 1000;
  state.seconds_left = static_cast<double>(o.steps - trainer_.steps_done()) * last.ms / 1000;
  live_.show(state);
}

// `heed train | head -1`: who reads no more has not asked for an end, and the files have it all.
void TrainingRun::note_closed_output() {
  if (std::cout || noted_closed_) return;
  noted_closed_ = true;
  live_.wipe();
  note("standard output cannot be written any more; training goes on in " +
       folder_.path().string() + ", an interrupt saves and stops");
}

int TrainingRun::interrupted(int signal) {
  save();
  const std::string text = text_.path.empty() ? "" : shell_word(text_.path) + " ";
  live_.print_above("heed: interrupted after step " + std::to_string(trainer_.steps_done()) +
                    ", all saved; to resume: ./heed train " + text + "--resume --out " +
                    shell_word(folder_.path().string()));
  return 128 + signal;
}

// Everything was saved after the last step.
int TrainingRun::stopped_at_end(int signal) {
  live_.print_above("heed: interrupted after step " + std::to_string(trainer_.steps_done()) +
                    ", the last one, all saved; to let it write: ./heed sample " +
                    shell_word(folder_.path().string()));
  return 128 + signal;
}

std::string TrainingRun::written(std::size_t symbols) const {
  GenerateOptions options;
  options.tokens = symbols;
  options.temperature = calm;
  Generator generator(trainer_.options().seed);
  const std::int64_t start = std::max<std::int64_t>(vocabulary_.find('\n'), 0);
  return vocabulary_.decode(generate(trainer_.model(), {start}, options, generator,
                                     [](std::int64_t) { return remembered_signal() == 0; }));
}

std::string TrainingRun::glimpse() const {
  std::istringstream lines(written(40));
  std::string glimpse;
  for (std::string line; std::getline(lines, line);)  // control characters are spelled out
    glimpse += (glimpse.empty() ? "" : " / ") + (line == " " ? line : printable(line));
  return glimpse;
}

int TrainingRun::finish() {
  const std::string text = written(500) + "\n";
  if (remembered_signal() != 0) return stopped_at_end(remembered_signal());
  write_file_atomically(folder_.sample(), text);
  CurveOptions curve;
  curve.y_title = "loss (nats per symbol)";
  curve.title = "learning " + std::filesystem::path(text_name_).filename().string();
  const Plot plot = draw_loss_curve(folder_.path().string(), curve);
  if (remembered_signal() != 0) return stopped_at_end(remembered_signal());
  if (!plot.ok) live_.print_above("heed: note: " + plot.message);
  live_.wipe();
  std::cout << '\n';
  if (stdout_is_terminal()) {
    std::cout << curve_text(loss_series(read_loss_csv(folder_.loss_csv().string())), curve) << '\n';
  }
  const LogRow& last = trainer_.history().back();
  const std::string folder = folder_.path().string();
  std::cout << text << "\nvalidation loss " << decimal(last.val_loss.value_or(NAN), 4) << " after "
            << last.step << " steps\n"
            << folder << "/ has checkpoint.safetensors, loss.csv, "
            << (plot.ok ? "loss.svg, loss.gp, " : "") << "sample.txt\n"
            << "more of its writing: ./heed sample " << shell_word(folder) << " --temperature 0.8"
            << std::endl;
  return 0;
}

}  // namespace heed::app
