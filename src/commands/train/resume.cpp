// resume.cpp: the checkpoint from which a run is resumed, and the model from which a run starts.

#include "commands/train/resume.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "commands/terminal.hpp"
#include "heed/base/error.hpp"

namespace heed::app {
namespace {

// Lists the command line flags that differ from the checkpoint's options: "--lr 0.5 differs from
// the checkpoint's 0.001, --heads 4 from its 2". Returns an empty string if no flag differs.
// --steps may differ, and so may --decay-steps if the saved run used the default of --decay-steps.
std::string differences(const TrainCommand& c, const nn::GptConfig& model,
                        const TrainOptions& training, Unit tokenizer, std::size_t vocab_size) {
  const auto saved = flag_values(model, training, tokenizer, vocab_size);
  auto requested = flag_values(c.model, c.training, c.tokenizer, c.vocab_size);
  requested["--vocab-size"] = std::to_string(c.vocab_size);
  std::string text;
  for (const std::string& flag : c.given) {
    const auto value = saved.find(flag);  // --steps, --threads and --out are not in `saved`
    if (value == saved.end() || value->second == requested.at(flag)) continue;
    if (flag == "--decay-steps" && training.decay_steps == 0) continue;
    text += (text.empty() ? "" : ", ") + flag + " " + requested.at(flag) +
            (text.empty() ? " differs from the checkpoint's " : " from its ") + value->second;
  }
  return text;
}

[[noreturn]] void throw_conflicts(const std::string& conflicts, const std::string& checkpoint,
                                  const std::string& run) {
  const bool of_model = std::any_of(
      flags_of_model.begin(), flags_of_model.end(),
      [&](const std::string& flag) { return conflicts.find(flag + " ") != conflicts.npos; });
  throw UsageError(conflicts + " in " + checkpoint + "; leave " +
                   (conflicts.find(", ") == conflicts.npos ? "it" : "them") +
                   " out to resume, or leave out --resume to start a new run" +
                   (of_model ? "" : ", with --init " + run + " from these weights"));
}

// Sets the options of the command from the checkpoint, except --steps and --decay-steps if they are
// given. Throws UsageError for the command line flags that differences() lists.
void load_options(const ModelFile& file, const std::string& run, TrainCommand& c) {
  const Unit tokenizer = file.vocabulary().unit();
  if (tokenizer == Unit::word)
    throw_error(file.path(),
                ": its vocabulary is word-level; heed train can only resume models of ",
                "characters, bytes or byte pairs");
  const nn::GptConfig model = file.config();
  TrainOptions training = file.options();
  const std::size_t vocab_size = file.text().vocab_size;
  if (has_merges(tokenizer) && vocab_size == 0)
    throw_error(file.path(),
                ": an older heed divided its tokens into training and validation data otherwise; "
                "start a new run from its weights with --init ",
                run);
  const std::string conflicts = differences(c, model, training, tokenizer, vocab_size);
  if (!conflicts.empty()) throw_conflicts(conflicts, file.path(), run);
  if (c.given.count("--steps") != 0) training.steps = c.training.steps;
  if (c.given.count("--decay-steps") != 0) {
    training.decay_steps = c.training.decay_steps;
    if (training.decay_steps <= training.warmup)
      throw UsageError("--decay-steps " + std::to_string(training.decay_steps) +
                       " must be above the run's --warmup " + std::to_string(training.warmup));
  }
  check_saved_options(file.path(), model, training);
  c.model = model;
  c.training = training;
  c.tokenizer = tokenizer;
  c.vocab_size = vocab_size;
}

}  // namespace

// If heed was killed after the last step, sample.txt is missing, or older if it is from before an
// earlier
// --resume. (In a copy of a run with other times, heed only writes sample.txt and the curve again.)
bool has_last_file(const RunFolder& folder) {
  std::error_code missing, ignored;
  const auto time_of_sample = std::filesystem::last_write_time(folder.sample(), missing);
  const auto size_of_losses = std::filesystem::file_size(folder.loss_csv(), ignored);
  if (ignored || size_of_losses == 0) return false;
  return !missing &&
         time_of_sample >= std::filesystem::last_write_time(folder.checkpoint(), ignored);
}

ModelFile open_checkpoint(const RunFolder& folder, TrainCommand& command, std::string& path) {
  ModelFile file = ModelFile::open(folder.checkpoint());
  check_trusted(file, command.trust);
  const std::string run = shell_path(folder.path.string());
  load_options(file, run, command);
  const std::string saved_path = file.text().path;
  if (command.text.empty() && !saved_path.empty()) path = saved_path;
  if (command.text.empty() && path == "-" && ::isatty(STDIN_FILENO) != 0)
    throw_error(file.path(),
                ": was trained on a text from standard input; pipe the same text "
                "again to ./heed train - --resume --out ",
                run);
  return file;
}

ModelFile open_initial(TrainCommand& command) {
  ModelFile file = ModelFile::open(checkpoint_in(command.init));
  check_trusted(file, command.trust);
  command.model = file.config_for(file.vocabulary());
  command.tokenizer = file.vocabulary().unit();
  if (!command.model.causal)
    throw_error(file.path(), ": its model is not causal, so heed train cannot train it");
  return file;
}

bool keeps_vocabulary(const ModelFile& checkpoint, const TextFingerprint& text) {
  const Unit unit = checkpoint.vocabulary().unit();
  if (unit != Unit::code_point && unit != Unit::byte) return true;
  const TextFingerprint saved = checkpoint.text();
  return saved.bytes == text.bytes && saved.hash == text.hash;
}

void check_same_text(const ModelFile& checkpoint, const TrainingText& text) {
  if (checkpoint.vocabulary() != text.vocabulary)
    throw_error(text.name(), ": its vocabulary is not the one in ", checkpoint.path(),
                "; resume with the text of that run");
  const TextFingerprint saved = checkpoint.text();
  if (saved.bytes != text.fingerprint.bytes || saved.hash != text.fingerprint.hash)
    throw_error(text.name(), ": differs from the text of the run in ", checkpoint.path(),
                ", though its vocabulary is the same; resume with the text of that run");
}

void restore(const ModelFile& checkpoint, const RunFolder& folder, Trainer& trainer) {
  checkpoint.restore(trainer);
  if (trainer.done() && has_last_file(folder))
    throw UsageError("--steps " + std::to_string(trainer.options().steps) + ": the run in " +
                     folder.path.string() + " has done them already; give a larger --steps");
}

void note_schedule(const TrainOptions& saved_options, const Trainer& trainer) {
  const optim::WarmupCosine saved = schedule_of(saved_options);
  const optim::WarmupCosine current = schedule_of(trainer.options());
  if (saved.decay_steps == current.decay_steps) return;
  std::int64_t step = saved_options.warmup;
  while (step < trainer.steps_done() && saved.at(step) == current.at(step)) ++step;
  if (step >= trainer.steps_done()) return;
  const std::string from = std::to_string(saved.decay_steps);
  note("the learning rate decayed until step " + from + " and now decays until step " +
       std::to_string(current.decay_steps) +
       ", so the result differs from an uninterrupted run; --decay-steps " + from +
       " keeps the saved schedule");
}

}  // namespace heed::app
