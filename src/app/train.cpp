// train.cpp: heed train, which trains a model on a text or resumes a run.

#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "heed/app/commands.hpp"
#include "heed/app/memory_check.hpp"
#include "heed/app/run_folder.hpp"
#include "heed/app/run_lock.hpp"
#include "heed/app/terminal.hpp"
#include "heed/app/training_run.hpp"
#include "heed/array/parallel.hpp"
#include "heed/base/error.hpp"
#include "heed/base/file.hpp"
#include "heed/base/text.hpp"
#include "heed/text/corpus.hpp"
#include "heed/train/model_file.hpp"

namespace heed::app {
namespace {

// ---- the text

std::string name_of(const std::string& path) {
  return path == "-" ? "standard input" : path == default_text() ? "harbour.txt" : path;
}

// Removes a byte order mark; returns whether there was one. Throws Error if the text is empty.
bool remove_byte_order_mark(std::string& text, const std::string& path) {
  const bool had_byte_order_mark = has_byte_order_mark(text);
  if (had_byte_order_mark) text.erase(0, 3);
  if (text.empty()) throw_error(name_of(path), ": is empty; give a text to train on");
  return had_byte_order_mark;
}

Vocabulary checked_vocabulary(std::string_view text, const TrainCommand& c,
                              const std::string& path) {
  try {
    return Vocabulary::of_text(text, c.bytes ? Unit::byte : Unit::code_point);
  } catch (const Error& error) {
    throw_error(name_of(path), ": ", error.what());
  }
}

void check_length(const Corpus& corpus, const TrainCommand& c, const std::string& path) {
  const std::size_t n = corpus.size(), validation_size = corpus.validation().size;
  if (validation_size > c.model.block_size && corpus.training().size > c.model.block_size) return;
  throw_error(name_of(path), ": ", n, n == 1 ? " character leaves " : " characters leave ",
              validation_size, " for validation, which must be more than --block-size ",
              c.model.block_size, "; give a longer text or a smaller --block-size");
}

void note_text_problems(std::string_view text, const Vocabulary& vocabulary,
                        const std::string& path, bool had_byte_order_mark) {
  if (had_byte_order_mark)
    note(name_of(path) + " begins with a byte order mark, which heed removes");
  if (has_crlf(text))
    note(name_of(path) + " has CRLF line ends: the model will learn them as two characters");
  if (vocabulary.size() == 1)
    note(name_of(path) + " has one distinct character: the model can only learn to repeat it");
  if (vocabulary.size() > 2000)
    note(name_of(path) + " has a vocabulary of " + std::to_string(vocabulary.size()) +
         " characters: steps are slow; with --bytes it has 256 at most");
}

// ---- resuming a run

// "--lr 0.5 differs from the checkpoint's 0.001, --heads 4 from its 2", or an empty string.
std::string differences(const std::map<std::string, std::string>& saved,
                        const std::map<std::string, std::string>& requested,
                        const std::set<std::string>& flags) {
  std::string text;
  for (const std::string& flag : flags) {
    if (saved.at(flag) == requested.at(flag)) continue;
    text += (text.empty() ? "" : ", ") + flag + " " + requested.at(flag) +
            (text.empty() ? " differs from the checkpoint's " : " from its ") + saved.at(flag);
  }
  return text;
}

// The flags on the command line whose values must equal the saved ones. --decay-steps may differ if
// the run was started without it, because a larger --steps then changes the decay too.
std::set<std::string> flags_to_compare(const TrainCommand& c, const TrainOptions& saved) {
  std::set<std::string> flags = c.given;
  for (const char* flag : {"--steps", "--threads", "--out"}) flags.erase(flag);
  if (saved.decay_steps == 0) flags.erase("--decay-steps");
  return flags;
}

void set_decay_steps(const TrainCommand& c, TrainOptions& training) {
  training.decay_steps = c.training.decay_steps;
  if (training.decay_steps <= training.warmup)
    throw UsageError("--decay-steps " + std::to_string(training.decay_steps) +
                     " must be above the run's --warmup " + std::to_string(training.warmup));
}

// Sets all options from the checkpoint. Throws UsageError for a flag with another value.
void load_options(const ModelFile& file, TrainCommand& c) {
  const bool bytes = file.vocabulary().unit() == Unit::byte;
  const nn::GptConfig model = file.config();
  TrainOptions training = file.options();
  const std::string conflicts =
      differences(flag_values(model, training, bytes), flag_values(c.model, c.training, c.bytes),
                  flags_to_compare(c, training));
  if (!conflicts.empty())
    throw UsageError(conflicts + " in " + file.path() + "; leave " +
                     (conflicts.find(", ") == conflicts.npos ? "it" : "them") +
                     " out to resume, or leave out --resume to start a new run");
  if (c.given.count("--steps") != 0) training.steps = c.training.steps;
  if (c.given.count("--decay-steps") != 0) set_decay_steps(c, training);
  check_saved_options(file.path(), model, training);
  c.model = model;
  c.training = training;
  c.bytes = bytes;
}

// Whether the two schedules differ in the learning rate of one of the first `steps` steps.
bool rates_differ(const TrainOptions& a, const TrainOptions& b, std::int64_t steps) {
  const optim::WarmupCosine first = schedule_of(a), second = schedule_of(b);
  if (first.decay_steps == second.decay_steps) return false;
  for (std::int64_t step = a.warmup; step < steps; ++step)
    if (first.at(step) != second.at(step)) return true;
  return false;
}

void note_schedule(const TrainOptions& saved, const Trainer& trainer) {
  const TrainOptions& current = trainer.options();
  if (!rates_differ(saved, current, trainer.steps_done())) return;
  const std::string from = std::to_string(schedule_of(saved).decay_steps);
  const std::string to = std::to_string(schedule_of(current).decay_steps);
  note("the learning rate decayed until step " + from + " and now decays until step " + to +
       ", so the result differs from an uninterrupted run; --decay-steps " + from +
       " keeps the saved schedule");
}

void check_same_text(const ModelFile& file, const TextFingerprint& text, const std::string& path,
                     const Vocabulary& vocabulary) {
  if (file.vocabulary() != vocabulary)
    throw_error(name_of(path), ": its vocabulary is not the one in ", file.path(),
                "; resume with the text of that run");
  const TextFingerprint saved = file.text();
  if (saved.bytes != text.bytes || saved.hash != text.hash)
    throw_error(name_of(path), ": differs from the text of the run in ", file.path(),
                ", though its vocabulary is the same; resume with the text of that run");
}

std::string default_folder(const std::string& text_path) {
  const std::string name = std::filesystem::path(text_path).stem().string();
  return "runs/" + (text_path == "-" ? "stdin" : name.empty() ? "text" : name);
}

// Opens the checkpoint in the folder, and sets the options and the text's path from it.
ModelFile open_checkpoint(const RunFolder& folder, TrainCommand& command, std::string& path) {
  ModelFile file = ModelFile::open(folder.checkpoint());
  load_options(file, command);
  const std::string saved_path = file.text().path;
  if (command.text.empty() && !saved_path.empty()) path = saved_path;
  return file;
}

void restore(const ModelFile& file, bool trust, const RunFolder& folder, Trainer& trainer) {
  file.restore(trainer);
  check_trusted(file, trust);
  if (trainer.done())
    throw UsageError("--steps " + std::to_string(trainer.options().steps) + ": the run in " +
                     folder.path().string() + " has done them already; give a larger --steps");
}

}  // namespace

// Checks everything before it creates the folder, so that a refused command writes nothing.
int train(const TrainCommand& given) {
  TrainCommand command = given;
  if (command.threads) set_num_threads(*command.threads);
  std::string path = command.text.empty() ? default_text() : command.text;
  const RunFolder folder(command.out.empty() ? default_folder(path) : command.out);
  RunLock lock(folder.path());
  lock.acquire_if_possible();  // before reading files that another trainer may be writing
  std::optional<ModelFile> checkpoint;
  if (command.resume) checkpoint = open_checkpoint(folder, command, path);
  command.model.vocab_size = 1;  // a model too large for any text need not wait for the text
  check_memory(command);

  std::string text = read_text(path);
  const bool had_byte_order_mark = remove_byte_order_mark(text, path);
  const Vocabulary vocabulary = checked_vocabulary(text, command, path);
  const Corpus corpus(std::move(text), vocabulary);
  check_length(corpus, command, path);
  const TextFingerprint fingerprint =
      fingerprint_of(path == default_text() ? "" : path, corpus.text());
  if (checkpoint) check_same_text(*checkpoint, fingerprint, path, vocabulary);

  command.model.vocab_size = vocabulary.size();
  check_memory(command);
  Trainer trainer(corpus, command.model, command.training);
  if (checkpoint) restore(*checkpoint, command.trust, folder, trainer);
  catch_stop_signals();
  folder.create();
  lock.acquire();
  note_text_problems(corpus.text(), vocabulary, path, had_byte_order_mark);
  if (checkpoint) note_schedule(checkpoint->options(), trainer);
  checkpoint.reset();  // frees three times the memory of the weights
  return TrainingRun(trainer, vocabulary, fingerprint, name_of(path), folder).train();
}

}  // namespace heed::app
