// training_run.cpp: trains to the end, shows the progress, saves the results, plots the loss curve.

#include "commands/train/training_run.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <list>

#include "commands/terminal.hpp"
#include "heed/array/parallel.hpp"
#include "heed/base/atomic_file.hpp"
#include "heed/base/error.hpp"
#include "heed/base/file.hpp"
#include "heed/base/text.hpp"
#include "heed/train/generate.hpp"

namespace heed::app {
namespace {

// The sampling temperature of the texts that heed train prints. It is below 1, because small models
// misspell words at temperature 1.
constexpr double preview_temperature = 0.8;

bool on_terminal() { return stdout_is_terminal() && stderr_is_terminal(); }

[[noreturn]] void throw_unwritable(const std::filesystem::path& file) {
  throw_error(file.string(), ": ", write_error_text(errno), "; make it writable or remove it");
}

// A training run: stores the arguments of train_to_end(), prints progress and writes the files.
struct TrainingRun {
  Trainer& trainer;
  const DataParallel* parallel;  // the trainer if several processes train, otherwise null
  const Vocabulary& vocabulary;
  const TextFingerprint& text;
  const std::string& text_name;
  const RunFolder& folder;
  bool keep_history;
  bool replaces;  // the folder has another run, which stays until this one saves for the first time
  std::list<AtomicFile> models{};  // models of the history that commit_models() puts in place
  std::ofstream csv_file{};
  LiveLine live{};
  bool noted_closed = false;

  std::string folder_name() const { return folder.path.string(); }
  std::string steps_done() const { return std::to_string(trainer.steps_done()); }
  // The signal at which this run stops. Several processes must stop after the same step.
  int stop_signal() const {
    return parallel != nullptr ? parallel->stop_signal() : received_signal();
  }

  void save_history() {
    if (!keep_history) return;
    make_folder(folder.history());
    models.emplace_back(folder.history_file(trainer.steps_done()));
    save_model(models.back(), trainer.parameters(), trainer.model().config, vocabulary);
    if (!replaces) commit_models();
  }

  void commit_models() {
    for (AtomicFile& model : models) model.commit();
    models.clear();
  }

  // Saves the checkpoint. The first one replaces the old run, if there is one.
  void save() {
    AtomicFile checkpoint(folder.checkpoint());
    save_run(checkpoint, trainer, vocabulary, text);
    if (replaces)
      replace_old_run(checkpoint);
    else
      checkpoint.commit();
  }

  // Puts the models and the checkpoint of this run in place of the old run's. If that fails, the
  // old run is put back, so the folder never has a mixture of both. If the program is killed, the
  // next run does this (see RunFolder). loss.csv is empty meanwhile, because the checkpoint has its
  // rows; it is not removed, because the new one gets its permissions.
  void replace_old_run(AtomicFile& checkpoint) {
    checkpoint.sync();
    std::error_code missing;
    const bool had_losses = std::filesystem::exists(folder.loss_csv(), missing);
    const std::string losses = had_losses ? read_text(folder.loss_csv().string()) : "";
    try {
      write_file_atomically(folder.loss_csv(), "");
      folder.set_models_aside();
      commit_models();
      checkpoint.commit();
    } catch (const Error&) {
      if (folder.end_replacing()) write_file_atomically(folder.loss_csv(), losses);
      throw;
    }
    folder.end_replacing();
    replaces = false;
    open_csv();
  }

  // Writes loss.csv with all rows until now, and opens it for further ones.
  void open_csv() {
    write_file_atomically(folder.loss_csv(), csv(trainer.history()));
    errno = 0;
    csv_file.open(folder.loss_csv(), std::ios::app);
    if (!csv_file) throw_unwritable(folder.loss_csv());
  }

  std::string warmup_line() const {
    const TrainOptions& o = trainer.options();
    return "lr     reaches " + decimal(100 * schedule_of(o).at(o.steps - 1) / o.lr, 0) + " % of " +
           exact(o.lr) + ": the last step is within the warm-up of " + std::to_string(o.warmup) +
           " steps; give a smaller --warmup\n";
  }

  void print_header() const {
    const TrainOptions& o = trainer.options();
    const nn::GptConfig& c = trainer.model().config;
    const std::size_t V = vocabulary.size();
    const std::string token = vocabulary.unit() == Unit::byte         ? "distinct byte"
                              : vocabulary.unit() == Unit::code_point ? "distinct character"
                                                                      : "byte-pair token";
    std::ostream& out = on_terminal() ? std::cerr : std::cout;
    out << "text   " << text_name << ": " << counted(text.bytes, "byte") << ", "
        << counted(V, token) << "\n"
        << "model  " << counted(c.layers, "layer") << ", " << counted(c.heads, "head") << ", width "
        << c.embed_dim << ": " << counted(trainer.parameters().count(), "parameter") << "\n"
        << "steps  " << trainer.steps_done() << " to " << o.steps << ", each " << o.batch_size
        << " x " << c.block_size << " tokens, on "
        << (parallel != nullptr ? std::to_string(parallel->processes()) + " processes of " : "")
        << counted(static_cast<std::size_t>(num_threads()), "thread") << "\n"
        << (o.steps > o.warmup ? "" : warmup_line())
        << "loss   nats per token; a uniform guess has loss ln " << V << " = "
        << decimal(std::log(static_cast<double>(V)), 4) << "\n"
        << "run    " << printable(folder_name()) << (replaces ? ", replacing the old run" : "")
        << std::endl;
  }

  // Called if loss.csv cannot be written: saves the checkpoint, which contains the loss history,
  // and throws Error.
  [[noreturn]] void throw_csv_error(int error, const LogRow& row) {
    std::string saved = "; step " + steps_done() + " is saved";
    try {
      // The other ranks do not know of this save, so their parts of the moments cannot be gathered.
      if (parallel != nullptr && parallel->splits_optimizer()) throw_error("the moments are split");
      if (row.val_loss) save_history();
      save();
    } catch (const Error&) {
      saved = "; the last saved checkpoint is unchanged";
    }
    throw_error(folder.loss_csv().string(), ": ", write_error_text(error), saved);
  }

  void report(const LogRow& row) {
    errno = 0;
    if (!replaces) csv_file << csv(row) << std::flush;
    if (!csv_file) throw_csv_error(errno, row);
    const std::size_t digits = std::to_string(trainer.options().steps).size();
    std::string line = "step " + pad_left(std::to_string(row.step), digits) + "  train " +
                       decimal(row.train_loss, 4);
    if (row.val_loss) line += "  val " + decimal(*row.val_loss, 4);
    if (row.val_loss) {
      save_history();  // first: if the program is killed in between, --resume saves both again
      save();
      line += "   " + preview();
    }
    if (!on_terminal())
      std::cout << line << std::endl;
    else if (row.val_loss)
      live.print_above(truncated(line, terminal_width() - 1));
  }

  void show_progress() {
    const LogRow& last = trainer.history().back();
    const TrainOptions& o = trainer.options();
    const auto tokens = static_cast<double>(o.batch_size * trainer.model().config.block_size);
    const double seconds_left =
        static_cast<double>(o.steps - trainer.steps_done()) * last.ms / 1000;
    live.show(ProgressState{static_cast<std::size_t>(trainer.steps_done()),
                            static_cast<std::size_t>(o.steps), last.train_loss, /*val_loss=*/{},
                            tokens / last.ms * 1000, seconds_left});
  }

  // Prints a note, only once, if stdout cannot be written, for example on a full disk. Training
  // continues, because its results are written to files. (If the reader of a pipe has ended, as in
  // `heed train | head -1`, SIGPIPE stops the run instead.)
  void note_closed_output() {
    if (std::cout || noted_closed || received_signal() != 0) return;
    noted_closed = true;
    live.wipe();
    note("standard output cannot be written any more; training continues in " + folder_name() +
         "; Ctrl-C saves and stops it");
  }

  // Prints that the run was interrupted, and returns the exit code. `advice` ends with a command,
  // to which this function appends the run's folder as an argument.
  int interrupted(int signal, const std::string& advice) {
    const std::string reason =
        signal == SIGPIPE ? "nobody reads the output any more: stopped" : "interrupted";
    live.print_above("heed: " + reason + " after step " + steps_done() + advice +
                     shell_path(folder_name()));
    return 128 + signal;
  }

  // Generates text with the current weights of the model.
  std::string generated(std::size_t num_tokens) const {
    const GenerateOptions options{num_tokens, preview_temperature};
    Generator generator(trainer.options().seed);
    return vocabulary.decode(generate(trainer.model(), {vocabulary.first_token()}, options,
                                      generator,
                                      [](std::int64_t) { return received_signal() == 0; }));
  }

  // Returns 40 generated tokens on one line, with " / " for line breaks. Does not call printable()
  // for a line of one space, because printable() would change the space to "␣".
  std::string preview() const {
    std::string line;
    for (const std::string& part : lines_of(generated(40)))
      line += (line.empty() ? "" : " / ") + (part == " " ? part : printable(part));
    return line;
  }

  // A line about the lowest validation loss, if the last one is more than 1 % above it.
  std::string best_step() const {
    const std::vector<LogRow>& rows = trainer.history();
    const LogRow* best = nullptr;
    for (const LogRow& row : rows)
      if (row.val_loss && (best == nullptr || *row.val_loss < *best->val_loss)) best = &row;
    if (best == nullptr || *rows.back().val_loss <= 1.01 * *best->val_loss) return "";
    const std::filesystem::path model = folder.history_file(best->step);
    std::error_code ignored;
    return "the lowest was " + decimal(*best->val_loss, 4) + " after " +
           std::to_string(best->step) + " steps; " +
           (std::filesystem::exists(model, ignored)
                ? "to sample that model: ./heed sample " + shell_path(model.string())
                : "--keep-history keeps the model of each validation") +
           "\n";
  }

  int finish() {
    const char* const advice = ", the last step, all saved; to generate text: ./heed sample ";
    const std::string sample = generated(500) + "\n";
    if (received_signal() != 0) return interrupted(received_signal(), advice);
    CurveOptions curve;
    curve.y_title = "loss (nats per token)";
    curve.title = "training on " + std::filesystem::path(text_name).filename().string();
    const Plot plot = draw_loss_curve(folder_name(), curve);
    write_file_atomically(folder.sample(), sample);  // last: --resume takes it for the run's end
    if (received_signal() != 0) return interrupted(received_signal(), advice);
    if (!plot.ok) live.print_above("heed: note: " + plot.message);
    live.wipe();
    std::cout << '\n';
    if (stdout_is_terminal())
      std::cout << curve_text(loss_series(read_loss_csv(folder.loss_csv().string())), curve)
                << '\n';
    const LogRow& last = trainer.history().back();
    TextWriter().write(sample);
    std::cout << "\nvalidation loss " << decimal(last.val_loss.value_or(NAN), 4) << " after "
              << last.step << " steps\n"
              << best_step() << printable(folder_name())
              << "/ has checkpoint.safetensors, loss.csv, "
              << (plot.ok ? "loss.svg, loss.gp, " : "") << "sample.txt\n"
              << "to generate more: ./heed sample " << shell_path(folder_name())
              << " --temperature 0.8" << std::endl;
    return 0;
  }

  int train() {
    print_header();
    if (!replaces)
      folder.remove_history_after(trainer.steps_done() == 0 ? -1 : trainer.steps_done());
    if (trainer.steps_done() == 0) save_history();
    while (!trainer.done()) {
      if (const auto row = trainer.step()) report(*row);
      show_progress();
      note_closed_output();
      if (const int signal = stop_signal(); signal != 0 && !trainer.done()) {
        save();
        const std::string path = text.path.empty() ? "" : shell_path(text.path) + " ";
        return interrupted(signal, std::string(", all saved; to resume") +
                                       (text.path == "-" ? ", pipe the same text again to" : ":") +
                                       " ./heed train " + path + "--resume --out ");
      }
    }
    return finish();
  }
};

}  // namespace

int train_to_end(Trainer& trainer, const DataParallel* parallel, const Vocabulary& vocabulary,
                 const TextFingerprint& text, const std::string& text_name, const RunFolder& folder,
                 bool keep_history) {
  const bool replaces = trainer.steps_done() == 0 && std::filesystem::exists(folder.checkpoint());
  TrainingRun run{trainer, parallel, vocabulary, text, text_name, folder, keep_history, replaces};
  check_run(folder.checkpoint(), trainer, vocabulary, text);
  for (const auto& file : {folder.sample(), folder.loss_csv()})
    static_cast<void>(AtomicFile(file));  // throws if the file cannot be written
  if (::access(folder.loss_csv().c_str(), W_OK) != 0 && errno != ENOENT)
    throw_unwritable(folder.loss_csv());
  if (!replaces) run.open_csv();
  try {
    return run.train();
  } catch (const Diverged& error) {
    std::error_code ignored;
    const bool saved = std::filesystem::exists(folder.checkpoint(), ignored);
    throw_error(error.what(),
                saved ? "; the last saved checkpoint is unchanged" : "; nothing was saved yet",
                "; try a smaller --lr than ", trainer.options().lr);
  }
}

// With ZeRO, Trainer::state() is collective: it is called here whenever rank 0 saves or checks.
void follow_to_end(DataParallel& trainer) {
  const auto join_save = [&] {
    if (trainer.splits_optimizer()) trainer.state();
  };
  try {
    join_save();  // check_run() of train_to_end()
    while (!trainer.done()) {
      const auto row = trainer.step();
      if (row && row->val_loss) join_save();
      if (trainer.stop_signal() != 0 && !trainer.done()) return join_save();
    }
  } catch (const Diverged&) {  // all ranks throw it together: rank 0 reports it
  }
}

std::vector<Series> loss_series(const LossCsv& losses) {
  return {{"training", losses.training.steps, losses.training.values},
          {"validation", losses.validation.steps, losses.validation.values, true}};
}

Plot draw_loss_curve(const std::string& folder, const CurveOptions& options) {
  try {
    const LossCsv losses = read_loss_csv(path_in(folder, "loss.csv"));
    return draw_curve_of_file(
        folder, "loss", {"loss.csv", losses.step_column, {losses.train_column, losses.val_column}},
        loss_series(losses), options);
  } catch (const Error& error) {
    return {false, error.what()};
  }
}

}  // namespace heed::app
