// train.cpp: heed train, which trains a model on a text or resumes a run.

#include "commands/train/train.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

#include "commands/gemm_setting.hpp"
#include "commands/ranks.hpp"
#include "commands/run_folder.hpp"
#include "commands/run_writer.hpp"
#include "commands/terminal.hpp"
#include "commands/thread_check.hpp"
#include "commands/train/facts.hpp"
#include "commands/train/loss_curve.hpp"
#include "commands/train/memory_check.hpp"
#include "commands/train/record.hpp"
#include "commands/train/resume.hpp"
#include "commands/train/run_output.hpp"
#include "commands/train/training_text.hpp"
#include "commands/train/watch.hpp"
#include "heed/base/atomic_file.hpp"
#include "heed/base/error.hpp"
#include "heed/base/file.hpp"
#include "heed/base/text.hpp"
#include "heed/train/data_parallel.hpp"

namespace heed::app {
namespace {

std::string default_folder(const std::string& text_path) {
  const std::string name = std::filesystem::path(text_path).stem().string();
  if (name.empty() || name == "." || name == "..") {
    read_text(text_path);  // throws a better error for a folder
    throw UsageError("TEXT " + in_quotes(text_path) +
                     ": its name gives no name for the run's folder; give --out");
  }
  return "runs/" + (text_path == "-" ? "stdin" : name);
}

// A training run. Call open(), read(), build() and train() in this order. The first three check all
// options and files before train() creates the folder, so that a failed check writes no file. Each
// rank of several processes has its own Run; only that of rank 0 writes files and prints.
struct Run {
  TrainCommand command;
  Communicator& communicator;
  int ranks_on_cores;
  TrainingText text{command.text.empty() ? default_text() : command.text};
  RunFolder folder{command.out.empty() ? default_folder(text.path) : command.out};
  RunWriter writer{folder,
                   command.resume    ? OldRun::resume
                   : command.replace ? OldRun::replace
                                     : OldRun::reject,
                   "--resume continues that run, another --out keeps both"};
  std::optional<ModelFile> checkpoint = {}, initial = {};
  std::unique_ptr<Trainer> trainer = {};
  DataParallel* parallel = nullptr;  // the trainer if several processes train, otherwise null
  bool keep_history = false;
  std::ofstream loss_csv = {};
  std::int64_t begun = 0;  // the step that was begun last
  std::optional<RunOutput> output = {};
  std::optional<Watch> watch = {};  // with --watch

  bool is_first() const { return communicator.rank() == 0; }
  const RunFolder& files() const { return writer.files(); }

  // ---- the checks before the first step

  Facts open() {
    if (command.threads || communicator.size() > 1)
      set_rank_threads(ranks_on_cores, command.threads ? &*command.threads : nullptr);
    if (is_first()) {
      if (!command.text.empty()) check_not_of_run(folder, command.text);
      writer.open();
    }
    if (command.resume) checkpoint = open_checkpoint(folder, command, text.path);
    if (!command.init.empty()) initial = open_initial(command);
    check_processes(communicator.size(), command.training,
                    command.processes > 1 ? "--processes" : "the number of processes,");
    command.model.vocab_size = 1;  // before the text is read, the smallest vocabulary is assumed
    check_memory(command, communicator.local_size());
    return communicator.size() == 1 ? Facts() : facts_of(command, text);
  }

  // Standard input belongs to rank 0, which sends the text to the others.
  Facts read() {
    try {
      if (text.path != "-" || is_first()) text.read();
    } catch (const Error& error) {
      if (!checkpoint || !command.text.empty()) throw;
      const std::string run = folder.path.string();
      throw_error(error.what(), "; the run in ", run, " was trained on this text: give its new ",
                  "path, as in ./heed train PATH --resume --out ", shell_path(run));
    }
    return {};
  }

  Facts build() {
    const std::string of_run = "the text of the run in " + folder.path.string();
    text.identify(!checkpoint        ? "give a text to train on"
                  : text.path == "-" ? "pipe " + of_run + " again"
                                     : "give " + of_run);
    text.encode(vocabulary());
    command.model.vocab_size = text.vocabulary->size();
    if (has_merges(text.vocabulary->unit()))
      text.fingerprint.vocab_size = initial ? text.vocabulary->size() : command.vocab_size;
    check_memory(command, communicator.local_size());
    text.check_length(command.model.block_size);
    if (checkpoint) check_same_text(*checkpoint, text);
    make_trainer();
    return communicator.size() == 1 ? Facts() : facts_of(text, trainer->parameters());
  }

  Vocabulary vocabulary() const {
    if (initial) return initial->vocabulary();
    if (checkpoint && keeps_vocabulary(*checkpoint, text.fingerprint))
      return checkpoint->vocabulary();
    return text.learned_vocabulary(command.tokenizer, command.vocab_size);
  }

  void make_trainer() {
    check_blas_buffers();
    check_threads();
    checkpoint ? set_gemm_of_run(checkpoint->gemm()) : set_gemm_from_environment();
    const std::future<void> libraries = start_gemm_libraries();  // while the parameters are drawn
    Distribution distribution{&communicator, {}, command.zero, received_signal};
    distribution.exchange.overlap = command.overlap;
    trainer = heed::make_trainer(*text.corpus, command.model, command.training, distribution);
    if (communicator.size() > 1) parallel = dynamic_cast<DataParallel*>(trainer.get());
    if (checkpoint) restore(*checkpoint, folder, *trainer);
    if (initial) initial->load_parameters(trainer->parameters());
    initial.reset();
  }

  // ---- training

  int train() {
    catch_stop_signals();
    if (is_first()) open_folder();
    checkpoint.reset();  // closes the file, which the first save replaces
    if (is_first()) open_files();
    try {
      if (!is_first()) save();  // the counterpart of check_run() in open_files()
      if (command.record > 0) record();
      return train_to_end();
    } catch (const Diverged& error) {
      if (!is_first()) return 0;  // all ranks throw it together: rank 0 reports it
      // For heed doctor. A resumed run begins loss.csv again, without this row.
      loss_csv << csv(LogRow{begun, NAN, {}, trainer->lr(), NAN, 0}) << std::flush;
      if (watch) watch->end(files().watch(), "diverged");
      throw_error(error.what(),
                  folder.has_checkpoint() ? "; the last saved checkpoint is unchanged"
                                          : "; nothing was saved yet",
                  "; try a smaller --lr than ", trainer->options().lr);
    }
  }

  void open_folder() {
    writer.create();
    keep_history = command.keep_history || (checkpoint && !folder.history().steps().empty());
    if (text.had_byte_order_mark)
      note(text.name() + " begins with a byte order mark, which heed removes");
    if (command.init.empty()) text.note_small_vocabulary(command.vocab_size);
    text.note_problems();
    if (checkpoint) note_schedule(checkpoint->options(), *trainer);
  }

  // Checks that all files can be written, and begins loss.csv with the rows of the checkpoint.
  void open_files() {
    check_run(folder.checkpoint(), *trainer, *text.vocabulary, text.fingerprint);
    AtomicFile(folder.sample());  // throws if the file cannot be written
    AtomicFile(folder.loss_csv());
    write_file_atomically(files().loss_csv(), csv(trainer->history()));
    errno = 0;
    loss_csv.open(files().loss_csv(), std::ios::app);
    if (!loss_csv)
      throw_error(files().loss_csv().string(), ": ", write_error_text(errno),
                  "; make it writable or remove it");
    output.emplace(*trainer, text, folder);
    if (command.watch)
      watch.emplace("train: " + folder.path.string(), *trainer,
                    loss_bounds(text, command.model.block_size));
    output->print_header(communicator.size(), writer.replaces_run(), command.record);
    if (watch) output->print_watch(folder.watch());
    for (const StepFolder& states : {files().history(), files().record()})
      states.remove_after(trainer->steps_done());
    if (trainer->steps_done() == 0) save_history();
  }

  int train_to_end() {
    while (!trainer->done()) {
      begun = trainer->steps_done() + 1;
      if (const auto row = trainer->step()) report(*row);
      if (is_recorded(command.record, trainer->steps_done())) record();
      if (is_first()) output->show_progress();
      if (const int signal = stop_signal(); signal != 0 && !trainer->done()) {
        save();
        return is_first() ? interrupted(signal) : 0;
      }
    }
    return is_first() ? finish() : 0;
  }

  // The signal at which this run stops. Several processes must stop after the same step.
  int stop_signal() const {
    return parallel != nullptr ? parallel->stop_signal() : received_signal();
  }

  void report(const LogRow& row) {
    if (is_first()) {
      errno = 0;
      loss_csv << csv(row) << std::flush;
      if (!loss_csv) throw_csv_error(errno, row);
    }
    if (row.val_loss) {
      save_history();  // first: if the program is killed in between, --resume saves both again
      save();
    }
    if (!is_first()) return;
    const std::string preview = output->print_row(row);
    if (watch) watch->show(files().watch(), row, preview);
  }

  bool splits_optimizer() const { return parallel != nullptr && parallel->splits_optimizer(); }

  void save_history() {
    if (!keep_history) return;
    make_folder(files().history().path);
    save_model(files().history().file(trainer->steps_done()), trainer->parameters(),
               trainer->model().config, *text.vocabulary);
  }

  // Keeps the state in record/. As with save(), other ranks only give their part of it.
  void record() {
    if (!is_first()) {
      if (splits_optimizer()) trainer->state();
      return;
    }
    const StepFolder states = files().record();
    make_folder(states.path);
    save_run(states.file(trainer->steps_done()), *trainer, *text.vocabulary, text.fingerprint);
    thin_record(states, command.record, trainer->steps_done());
  }

  // Saves the checkpoint. The first one puts this run in the place of the old run, if there is one.
  // With ZeRO, Trainer::state() is collective: the other ranks call it whenever rank 0 saves.
  void save() {
    if (!is_first()) {
      if (splits_optimizer()) trainer->state();
      return;
    }
    save_run(files().checkpoint(), *trainer, *text.vocabulary, text.fingerprint);
    writer.commit();
  }

  // Called if loss.csv cannot be written: saves the checkpoint, which contains the loss history,
  // and throws Error.
  [[noreturn]] void throw_csv_error(int error, const LogRow& row) {
    std::string saved = "; step " + std::to_string(trainer->steps_done()) + " is saved";
    try {
      // The other ranks do not know of this save, so their parts of the moments cannot be gathered.
      if (splits_optimizer()) throw_error("the moments are split");
      if (row.val_loss) save_history();
      save();
    } catch (const Error&) {
      saved = "; the last saved checkpoint is unchanged";
    }
    throw_error(files().loss_csv().string(), ": ", write_error_text(error), saved);
  }

  int interrupted(int signal) {
    if (watch) watch->end(files().watch(), "stopped");
    const std::string path =
        text.fingerprint.path.empty() ? "" : shell_path(text.fingerprint.path) + " ";
    const std::string pipe = path == "- " ? ", pipe the same text again to" : ":";
    return output->print_interrupted(
        signal, ", all saved; to resume" + pipe + " ./heed train " + path + "--resume --out ");
  }

  // Writes the sample and the plot of the losses. Throws nothing if the plot fails.
  int finish() {
    const char* const advice = ", the last step, all saved; to generate text: ./heed sample ";
    const std::string sample = output->generated(500) + "\n";
    if (watch) watch->end(files().watch(), "finished");
    if (received_signal() != 0) return output->print_interrupted(received_signal(), advice);
    CurveOptions curve;
    curve.y_title = "loss (nats per token)";
    curve.title = "training on " + std::filesystem::path(text.name()).filename().string();
    curve.lines = loss_bounds(text, command.model.block_size);
    const Plot plot = draw_loss_curve(folder.path.string(), curve);
    write_file_atomically(folder.sample(), sample);  // last: --resume takes it for the run's end
    writer.finish();
    if (received_signal() != 0) return output->print_interrupted(received_signal(), advice);
    output->print_result(plot, curve, sample);
    return 0;
  }
};

}  // namespace

int train(const TrainCommand& command, Communicator& communicator) {
  if (communicator.rank() != 0) mute_notes();
  std::unique_ptr<Run> run;
  const int ranks_on_cores = ranks_on_these_cores(communicator);
  agree(communicator, [&] {
    run.reset(new Run{command, communicator, ranks_on_cores});
    return run->open();
  });
  agree(communicator, [&] { return run->read(); });
  if (run->text.path == "-" && communicator.size() > 1)
    run->text.content = broadcast_text(communicator, run->text.content);
  agree(communicator, [&] { return run->build(); });
  return run->train();
}

int run(const TrainCommand& command) {
  if (command.processes > 1)
    return run_processes(command.processes,
                         [&](Communicator& communicator) { return train(command, communicator); });
  SingleProcess alone;
  return train(command, alone);
}

}  // namespace heed::app
