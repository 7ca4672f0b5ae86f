// train.cpp: heed train, which trains a model on a text or resumes a run.

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>

#include "base/hash.hpp"
#include "base/machine.hpp"
#include "commands/gemm_setting.hpp"
#include "commands/options.hpp"
#include "commands/ranks.hpp"
#include "commands/run_folder.hpp"
#include "commands/terminal.hpp"
#include "commands/train/memory_check.hpp"
#include "commands/train/text_notes.hpp"
#include "commands/train/training_run.hpp"
#include "heed/base/error.hpp"
#include "heed/base/file.hpp"
#include "heed/base/text.hpp"
#include "heed/files/model_file.hpp"
#include "heed/text/corpus.hpp"

namespace heed::app {
namespace {

// ---- the text

std::string name_of(const std::string& path) {
  return path == "-" ? "standard input" : path == default_text() ? "harbour.txt" : printable(path);
}

Vocabulary checked_vocabulary(std::string_view text, const TrainCommand& c,
                              const std::string& name) {
  try {
    if (c.tokenizer != Unit::byte_pair) return Vocabulary::of_text(text, c.tokenizer);
    // The merges may not know the validation data.
    return Vocabulary(BytePairs::trained_on(text.substr(0, training_bytes(text)), c.vocab_size));
  } catch (const Error& error) {
    throw_error(name, ": ", error.what());
  }
}

// Throws Error for a file that does not fit into memory. The text and its tokens take more.
void check_fits_in_memory(const std::string& path) {
  std::error_code other;  // a file that read_text() refuses, or standard input
  const auto bytes = std::filesystem::file_size(path, other);
  if (!other && bytes > usable_memory())
    throw_error(path, ": has ", grouped(static_cast<double>(bytes)), " bytes, but only ",
                grouped(static_cast<double>(usable_memory())),
                " bytes of memory are available; give a smaller text");
}

void check_length(const Corpus& corpus, const TrainCommand& c, const std::string& name) {
  const std::size_t n = corpus.size(), validation_size = corpus.validation().size;
  if (validation_size > c.model.block_size && corpus.training().size > c.model.block_size) return;
  const bool is_character = c.tokenizer == Unit::code_point || c.tokenizer == Unit::byte;
  const std::string unit = is_character ? " character" : " token";
  throw_error(name, ": ", n, unit, n == 1 ? " leaves " : "s leave ", validation_size,
              " for validation, which must be more than --block-size ", c.model.block_size,
              "; give a longer text or a smaller --block-size");
}

void note_small_vocabulary(const Vocabulary& vocabulary, const std::string& name,
                           std::size_t vocab_size) {
  if (vocabulary.unit() == Unit::byte_pair && vocabulary.size() < vocab_size)
    note(name + " gives a vocabulary of " + std::to_string(vocabulary.size()) + " tokens, not " +
         std::to_string(vocab_size) +
         ": in its first nine tenths, no other pair of tokens with at most 128 bytes occurs twice "
         "within runs of letters, digits or other characters");
}

// ---- resuming a run

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
  if ((tokenizer == Unit::byte_pair || tokenizer == Unit::byte_level_bpe) && vocab_size == 0)
    throw_error(file.path(),
                ": an older heed divided its tokens into training and validation data otherwise; "
                "start a new run from its weights with --init ",
                run);
  const std::string conflicts = differences(c, model, training, tokenizer, vocab_size);
  const bool of_model = std::any_of(
      flags_of_model.begin(), flags_of_model.end(),
      [&](const std::string& flag) { return conflicts.find(flag + " ") != conflicts.npos; });
  if (!conflicts.empty())
    throw UsageError(conflicts + " in " + file.path() + "; leave " +
                     (conflicts.find(", ") == conflicts.npos ? "it" : "them") +
                     " out to resume, or leave out --resume to start a new run" +
                     (of_model ? "" : ", with --init " + run + " from these weights"));
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

// Opens the checkpoint in the folder and sets the options of `command` from it. If the command
// names no text, sets `path` to the path of the run's training text.
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

// Sets the model of the command to that of the run in --init.
ModelFile open_initial(TrainCommand& command) {
  ModelFile file = ModelFile::open(checkpoint_in(command.init));
  check_trusted(file, command.trust);
  command.model = file.config_for(file.vocabulary());
  command.tokenizer = file.vocabulary().unit();
  if (!command.model.causal)
    throw_error(file.path(), ": its model is not causal, so heed train cannot train it");
  return file;
}

void check_same_text(const ModelFile& file, const TextFingerprint& text, const std::string& name,
                     const Vocabulary& vocabulary) {
  if (file.vocabulary() != vocabulary)
    throw_error(name, ": its vocabulary is not the one in ", file.path(),
                "; resume with the text of that run");
  const TextFingerprint saved = file.text();
  if (saved.bytes != text.bytes || saved.hash != text.hash)
    throw_error(name, ": differs from the text of the run in ", file.path(),
                ", though its vocabulary is the same; resume with the text of that run");
}

// Whether a resumed run keeps the vocabulary of its checkpoint. Byte pairs are not learned again: a
// later heed may learn others from the same text. A run that began with --init may have a
// vocabulary with characters that its text does not have.
bool keeps_vocabulary(const ModelFile& file, const TrainCommand& command,
                      const TextFingerprint& text) {
  if (command.tokenizer != Unit::code_point && command.tokenizer != Unit::byte) return true;
  const TextFingerprint saved = file.text();
  return saved.bytes == text.bytes && saved.hash == text.hash;
}

// The corpus of the text. Throws Error for a text with tokens that the vocabulary lacks.
Corpus corpus_of(std::string text, const Vocabulary& vocabulary, const std::string& name) {
  try {
    return Corpus(std::move(text), vocabulary);
  } catch (const Error& error) {
    throw_error(name, ": ", error.what());
  }
}

// Whether sample.txt, the last file that a run writes, belongs to the checkpoint. If heed was
// killed after the last step, sample.txt is missing, or older if it is from before an earlier
// --resume. If heed was killed when it replaced a run, its models are aside or loss.csv is empty.
// (In a copy of a run with other times, heed only writes sample.txt and the curve again.)
bool has_last_file(const RunFolder& folder) {
  if (folder.is_being_replaced()) return false;
  std::error_code missing, ignored;
  const auto time_of_sample = std::filesystem::last_write_time(folder.sample(), missing);
  const auto size_of_losses = std::filesystem::file_size(folder.loss_csv(), ignored);
  if (ignored || size_of_losses == 0) return false;
  return !missing &&
         time_of_sample >= std::filesystem::last_write_time(folder.checkpoint(), ignored);
}

void restore(const ModelFile& file, const RunFolder& folder, Trainer& trainer) {
  file.restore(trainer);
  if (trainer.done() && has_last_file(folder))
    throw UsageError("--steps " + std::to_string(trainer.options().steps) + ": the run in " +
                     folder.path.string() + " has done them already; give a larger --steps");
}

// Prints a note if the current options change the learning rate of a step that is already done.
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

std::string default_folder(const std::string& text_path) {
  const std::string name = std::filesystem::path(text_path).stem().string();
  if (name.empty() || name == "." || name == "..") {
    read_text(text_path);  // throws a better error for a folder
    throw UsageError("TEXT " + in_quotes(text_path) +
                     ": its name gives no name for the run's folder; give --out");
  }
  return "runs/" + (text_path == "-" ? "stdin" : name);
}

std::string hash_text(std::string_view bytes) { return hexadecimal("%016llx", hash64(bytes)); }

// ---- a run: the checks, the files and the trainer, before the first step

// Checks all options and files before creating the folder, so that a failed check writes no file.
// Each rank of several processes has its own Run; only that of rank 0 uses the folder.
struct Run {
  TrainCommand command;
  Communicator& communicator;
  int ranks_on_cores;
  std::string path = command.text.empty() ? default_text() : command.text;
  RunFolder folder{command.out.empty() ? default_folder(path) : command.out};
  RunLock lock{folder.path};
  std::optional<ModelFile> checkpoint = {}, initial = {};
  std::string name = {}, text = {};
  bool had_byte_order_mark = false;
  std::optional<Vocabulary> vocabulary = {};
  std::optional<Corpus> corpus = {};
  TextFingerprint fingerprint = {};
  std::unique_ptr<Trainer> trainer = {};
  DataParallel* parallel = nullptr;  // the trainer if several processes train, otherwise null

  bool is_first() const { return communicator.rank() == 0; }

  Facts open() {
    if (command.threads || communicator.size() > 1)
      set_rank_threads(ranks_on_cores, command.threads ? &*command.threads : nullptr);
    if (is_first()) {
      if (!command.text.empty()) check_not_of_run(folder, command.text);
      lock.acquire_if_possible();  // locks the folder before reading it: others may be writing
      if (!command.resume && !command.replace)
        check_no_run(folder, "--resume continues that run, another --out keeps both");
    }
    if (command.resume) checkpoint = open_checkpoint(folder, command, path);
    if (!command.init.empty()) initial = open_initial(command);
    check_processes(communicator.size(), command.training,
                    command.processes > 1 ? "--processes" : "the number of processes,");
    command.model.vocab_size = 1;  // the first memory check assumes the smallest vocabulary
    check_memory(command, communicator.local_size());
    name = name_of(path);
    return communicator.size() == 1 ? Facts() : options();
  }

  Facts options() const {
    Facts facts = flag_values(command.model, command.training, command.tokenizer,
                              command.tokenizer == Unit::byte_pair ? command.vocab_size : 0);
    facts["--steps"] = std::to_string(command.training.steps);
    facts["--resume"] = command.resume ? "given" : "not given";
    facts["--zero"] = command.zero ? "given" : "not given";
    facts["TEXT"] = name;
    facts["program"] = std::string(version) + " with hash " + hash_text(contents_of_program());
    return facts;
  }

  // The bytes of this program: another build may compute other bits.
  static std::string contents_of_program() {
    std::ifstream file("/proc/self/exe", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  // Standard input belongs to rank 0, which sends the text to the others.
  Facts read() {
    try {
      check_fits_in_memory(path);
      if (path != "-" || is_first()) text = read_text(path);
    } catch (const Error& error) {
      if (!checkpoint || !command.text.empty()) throw;
      const std::string run = folder.path.string();
      throw_error(error.what(), "; the run in ", run, " was trained on this text: give its new ",
                  "path, as in ./heed train PATH --resume --out ", shell_path(run));
    }
    return {};
  }

  Facts build() {
    had_byte_order_mark = has_byte_order_mark(text);
    if (had_byte_order_mark) text.erase(0, 3);
    if (text.empty())
      throw_error(name, ": is empty; ",
                  !checkpoint   ? "give a text to train on"
                  : path == "-" ? "pipe the text of the run in " + folder.path.string() + " again"
                                : "give the text of the run in " + folder.path.string());
    fingerprint = fingerprint_of(path == default_text() ? "" : path, text);
    vocabulary = initial ? initial->vocabulary()
                 : checkpoint && keeps_vocabulary(*checkpoint, command, fingerprint)
                     ? checkpoint->vocabulary()
                     : checked_vocabulary(text, command, name);
    if (vocabulary->unit() == Unit::byte_pair || vocabulary->unit() == Unit::byte_level_bpe)
      fingerprint.vocab_size = initial ? vocabulary->size() : command.vocab_size;
    corpus.emplace(corpus_of(std::move(text), *vocabulary, name));
    check_length(*corpus, command, name);
    if (checkpoint) check_same_text(*checkpoint, fingerprint, name, *vocabulary);
    make_trainer();
    return communicator.size() == 1 ? Facts() : numbers();
  }

  void make_trainer() {
    command.model.vocab_size = vocabulary->size();
    check_memory(command, communicator.local_size());
    check_blas_buffers();
    check_threads();
    if (checkpoint)
      set_gemm_of_run(checkpoint->gemm());
    else
      set_gemm_from_environment();
    if (communicator.size() == 1) {
      trainer = heed::make_trainer(*corpus, command.model, command.training);
    } else {
      Distribution distribution{&communicator, {}, command.zero, received_signal};
      distribution.exchange.overlap = command.overlap;
      parallel = new DataParallel(*corpus, command.model, command.training, distribution);
      trainer.reset(parallel);
    }
    if (checkpoint) restore(*checkpoint, folder, *trainer);
    if (initial) initial->load_parameters(trainer->parameters());
    initial.reset();
  }

  Facts numbers() const {
    std::string weights;
    for (const Tensor& parameter : trainer->parameters())
      weights.append(reinterpret_cast<const char*>(parameter.value().data()),
                     parameter.value().size() * sizeof(Real));
    return {{"text (its hash)", hexadecimal("%016llx", fingerprint.hash)},
            {"first weights (their hash)", hash_text(weights)},
            {"HEED_GEMM (the library of matrix products)", gemm_choice().text()}};
  }

  int train() {
    catch_stop_signals();
    if (!is_first()) {
      checkpoint.reset();
      follow_to_end(*parallel);
      return 0;
    }
    folder.create();
    lock.acquire();
    if (had_byte_order_mark) note(name + " begins with a byte order mark, which heed removes");
    if (command.init.empty()) note_small_vocabulary(*vocabulary, name, command.vocab_size);
    note_text_problems(*corpus, *vocabulary, name);
    if (checkpoint) note_schedule(checkpoint->options(), *trainer);
    const bool keep_history =
        command.keep_history || (checkpoint && !folder.history_steps().empty());
    checkpoint.reset();  // frees the checkpoint's copy of the weights and of AdamW's moments
    return train_to_end(*trainer, parallel, *vocabulary, fingerprint, name, folder, keep_history);
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
  if (run->path == "-" && communicator.size() > 1)
    run->text = broadcast_text(communicator, run->text);
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
