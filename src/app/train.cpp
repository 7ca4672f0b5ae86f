// train.cpp: heed train: a text in, a model, its curve and its first writing out.

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
#include "heed/text/corpus.hpp"
#include "heed/train/model_file.hpp"

namespace heed::app {
namespace {

// ---- before any work is done: does everything fit?

std::string name_of(const std::string& path) {
  return path == "-" ? "standard input" : path == default_text() ? "harbour.txt" : path;
}

// Makes it the text that will be learnt: without a byte order mark, if it had one.
bool drop_mark(std::string& text, const std::string& path) {
  const bool had_mark = has_byte_order_mark(text);
  if (had_mark) text.erase(0, 3);
  if (text.empty()) throw_error(name_of(path), ": is empty; give a text to learn");
  return had_mark;
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
  const std::size_t n = corpus.size(), last = corpus.validation().size;
  if (last > c.model.block_size && corpus.training().size > c.model.block_size) return;
  throw_error(name_of(path), ": ", n, n == 1 ? " character leaves " : " characters leave ", last,
              " for validation, which must be more than --block-size ", c.model.block_size,
              "; give a longer text or a smaller --block-size");
}

void note_oddities(std::string_view text, const Vocabulary& vocabulary, const std::string& path,
                   bool had_mark) {
  if (had_mark) note(name_of(path) + " begins with a byte order mark, which is left out");
  if (has_crlf(text))
    note(name_of(path) + " has CRLF line ends: the model will learn them as two characters");
  if (vocabulary.size() == 1)
    note(name_of(path) + " has one distinct character: there is nothing to learn but to repeat it");
  if (vocabulary.size() > 2000)
    note(name_of(path) + " has a vocabulary of " + std::to_string(vocabulary.size()) +
         " characters: steps are slow; --bytes needs 256 at most");
}

// ---- going on with an earlier run

// "--lr 0.5 differs from the checkpoint's 0.001, --heads 4 from its 2", or nothing.
std::string differences(const std::map<std::string, std::string>& saved,
                        const std::map<std::string, std::string>& wanted,
                        const std::set<std::string>& flags) {
  std::string text;
  for (const std::string& flag : flags) {
    if (saved.at(flag) == wanted.at(flag)) continue;
    text += (text.empty() ? "" : ", ") + flag + " " + wanted.at(flag) +
            (text.empty() ? " differs from the checkpoint's " : " from its ") + saved.at(flag);
  }
  return text;
}

// What was given must be as it was, but for these. The learning rate may fall until another step
// when the run began without saying until which: --steps moves that step as well.
std::set<std::string> flags_to_compare(const TrainCommand& c, const TrainOptions& saved) {
  std::set<std::string> flags = c.given;
  for (const char* free : {"--steps", "--threads", "--out"}) flags.erase(free);
  if (saved.decay_steps == 0) flags.erase("--decay-steps");
  return flags;
}

void take_decay_steps(const TrainCommand& c, TrainOptions& training) {
  training.decay_steps = c.training.decay_steps;
  if (training.decay_steps <= training.warmup)
    throw UsageError("--decay-steps " + std::to_string(training.decay_steps) +
                     " must be above the run's --warmup " + std::to_string(training.warmup));
}

// Takes everything that was not given from the checkpoint; refuses what was given otherwise.
void take_options_from(const ModelFile& file, TrainCommand& c) {
  const bool bytes = file.vocabulary().unit() == Unit::byte;
  const nn::GptConfig model = file.config();
  TrainOptions training = file.options();
  const std::string different =
      differences(flag_values(model, training, bytes), flag_values(c.model, c.training, c.bytes),
                  flags_to_compare(c, training));
  if (!different.empty())
    throw UsageError(different + " in " + file.path() + "; leave " +
                     (different.find(", ") == different.npos ? "it" : "them") +
                     " out to resume, or leave out --resume to begin anew");
  if (c.given.count("--steps") != 0) training.steps = c.training.steps;
  if (c.given.count("--decay-steps") != 0) take_decay_steps(c, training);
  check_saved_options(file.path(), model, training);
  c.model = model;
  c.training = training;
  c.bytes = bytes;
}

// Whether the steps that were done had other learning rates than these options would give them.
bool rates_differ(const TrainOptions& a, const TrainOptions& b, std::int64_t steps) {
  const optim::WarmupCosine one = schedule_of(a), other = schedule_of(b);
  if (one.decay_steps == other.decay_steps) return false;
  for (std::int64_t step = a.warmup; step < steps; ++step)
    if (one.at(step) != other.at(step)) return true;
  return false;
}

void note_schedule(const TrainOptions& before, const Trainer& trainer) {
  const TrainOptions& now = trainer.options();
  if (!rates_differ(before, now, trainer.steps_done())) return;
  const std::string from = std::to_string(schedule_of(before).decay_steps);
  const std::string to = std::to_string(schedule_of(now).decay_steps);
  note("the learning rate was to fall until step " + from + " and now falls until step " + to +
       ", so this is not the run that would have done so from its start; --decay-steps " + from +
       " leaves it as it was");
}

void check_same_text(const ModelFile& file, const TextFingerprint& text, const std::string& path,
                     const Vocabulary& vocabulary) {
  if (file.vocabulary() != vocabulary)
    throw_error(name_of(path), ": its vocabulary is not the one in ", file.path(),
                "; resume with the text the run began with");
  const TextFingerprint before = file.text();
  if (before.bytes != text.bytes || before.hash != text.hash)
    throw_error(name_of(path), ": is not the text the run in ", file.path(),
                " began with, though its vocabulary is the same; resume with that one");
}

std::string default_folder(const std::string& text_path) {
  const std::string name = std::filesystem::path(text_path).stem().string();
  return "runs/" + (text_path == "-" ? "stdin" : name.empty() ? "text" : name);
}

}  // namespace

int train(const TrainCommand& given) {
  TrainCommand command = given;
  if (command.threads) set_num_threads(*command.threads);
  std::string path = command.text.empty() ? default_text() : command.text;
  const RunFolder folder(command.out.empty() ? default_folder(path) : command.out);
  RunLock lock(folder.path());
  lock.take_if_possible();  // before anything is read that another trainer may be writing
  std::optional<ModelFile> earlier;
  if (command.resume) {
    earlier = ModelFile::open(folder.checkpoint());
    take_options_from(*earlier, command);
    const std::string before = earlier->text().path;
    if (command.text.empty() && !before.empty()) path = before;
  }
  command.model.vocab_size = 1;  // there may be room for no text at all
  check_memory(command);

  std::string text = read_text(path);
  const bool had_mark = drop_mark(text, path);
  const Vocabulary vocabulary = checked_vocabulary(text, command, path);
  const Corpus corpus(std::move(text), vocabulary);
  check_length(corpus, command, path);
  const TextFingerprint identity =
      fingerprint_of(path == default_text() ? "" : path, corpus.text());
  if (earlier) check_same_text(*earlier, identity, path, vocabulary);

  command.model.vocab_size = vocabulary.size();
  check_memory(command);
  Trainer trainer(corpus, command.model, command.training);
  if (earlier) {
    earlier->restore(trainer);
    check_trusted(*earlier, command.trust);
  }
  if (trainer.done())
    throw UsageError("--steps " + std::to_string(command.training.steps) + ": the run in " +
                     folder.path().string() + " has done that many already; give more to go on");
  remember_signals();
  folder.create();
  lock.take();
  note_oddities(corpus.text(), vocabulary, path, had_mark);
  if (earlier) note_schedule(earlier->options(), trainer);
  earlier.reset();  // three times the weights
  return TrainingRun(trainer, vocabulary, identity, name_of(path), folder).train();
}

}  // namespace heed::app
