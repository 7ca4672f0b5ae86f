// examined_run.cpp: ExaminedRun, all that heed doctor reads of a run.

#include "commands/doctor/examined_run.hpp"

#include <cmath>
#include <filesystem>
#include <numeric>

#include "commands/doctor/ngrams.hpp"
#include "commands/terminal.hpp"
#include "commands/train/options.hpp"
#include "commands/train/resume.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "train/fields.hpp"

namespace heed::app {
namespace {

constexpr std::size_t most_training = 300'000, most_validation = 50'000;  // tokens that are read

std::vector<std::int64_t> tokens_of(const Split& split, std::size_t begin, std::size_t count) {
  std::vector<std::int64_t> tokens(count);
  split.corpus->copy_ids(split.begin + begin, count, tokens.data());
  return tokens;
}

// The command `./heed train` with the flags of a run that are not the default.
struct TrainAgain {
  std::string text, run;
  Curve::Values flags;

  TrainAgain(std::string text_path, std::string folder, const ModelFile& checkpoint)
      : text(std::move(text_path)), run(std::move(folder)) {
    const TrainOptions options = checkpoint.options();
    const Unit unit = checkpoint.vocabulary().unit();
    nn::GptConfig usual = checkpoint.config();
    usual.kv_heads = usual.head_dim = usual.intermediate_size = usual.rotary_dim = 0;
    Curve::Values defaults = flag_values(usual, {}, Unit::code_point, 0);
    const nn::GptConfig standard;
    each_size(standard, [&](const Field& field, std::size_t size) {
      defaults[flag_of(field)] = std::to_string(size);
    });
    each_variant(standard, [&](const Variant& variant, auto) {
      defaults[flag_of(variant.name)] = variant.values[0];
    });
    for (const auto& [flag, value] :
         flag_values(checkpoint.config(), options, unit, checkpoint.text().vocab_size))
      if (const auto same = defaults.find(flag); same == defaults.end() || same->second != value)
        flags[flag] = value;
    if (options.decay_steps == 0) flags.erase("--decay-steps");
    flags.erase("--bytes");  // --tokenizer says the same
    if (unit != Unit::byte_pair) flags.erase("--vocab-size");
    flags["--steps"] = std::to_string(options.steps);
  }

  std::string operator()(const Curve::Values& changed) const {
    Curve::Values all = flags;
    std::string name = run;
    for (const auto& [flag, value] : changed) {
      all[flag] = value;
      name += flag.substr(1) + "-" + value;
    }
    std::string command = "./heed train" + (text.empty() ? "" : " " + shell_path(text));
    for (const auto& [flag, value] : all) command += " " + flag + " " + value;
    return command + " --out " + shell_path(name);
  }
};

}  // namespace

ExaminedRun::ExaminedRun(const DoctorCommand& command) : folder(run_folder(command.run)) {
  read_losses();
  if (folder.has_checkpoint())
    read_checkpoint(command);
  else
    missing.push_back("no checkpoint: the run has saved nothing yet");
  if (!curve && !file)
    throw_error(folder.path.string(),
                ": has no losses and no checkpoint; give the folder of a run, such as "
                "runs/harbour");
}

void ExaminedRun::read_losses() {
  std::error_code ignored;
  if (!std::filesystem::exists(folder.loss_csv(), ignored)) return missing.push_back("no loss.csv");
  Curve read;
  LogRows losses = read_log_rows(folder.loss_csv().string());
  read.rows = std::move(losses.rows);
  if (losses.is_last_row_cut) missing.push_back("the last row of loss.csv: it is not complete");
  read.run = shell_path(folder.path.string());
  if (read.rows.empty())
    missing.push_back("no row in loss.csv: the run has done no step");
  else
    curve = std::move(read);
}

void ExaminedRun::read_checkpoint(const DoctorCommand& command) {
  const ModelFile checkpoint = ModelFile::open(folder.checkpoint());
  check_trusted(checkpoint, command.trust);
  model.emplace(checkpoint);
  file = read_safetensors(folder.checkpoint());
  if (!checkpoint.has_text()) return missing.push_back("no training text: heed did not train it");
  read_text(command, checkpoint);
  if (!curve) return;
  curve->options = checkpoint.options();
  curve->uniform = std::log(static_cast<double>(model->vocabulary.size()));
  curve->again = TrainAgain(command.text.empty() ? checkpoint.text().path : command.text,
                            folder.path.string(), checkpoint);
  if (!text) return;
  if (!part_losses.empty())
    curve->bigram_training = std::accumulate(part_losses.begin(), part_losses.end(), 0.0) /
                             static_cast<double>(part_losses.size());
  curve->unigram = NGrams(training, 0, model->vocabulary.size()).cross_entropy(validation);
  curve->bigram = NGrams(training, 1, model->vocabulary.size()).cross_entropy(validation);
}

void ExaminedRun::read_text(const DoctorCommand& command, const ModelFile& checkpoint) {
  const std::string saved = checkpoint.text().path;
  TrainingText read{!command.text.empty() ? command.text : saved.empty() ? default_text() : saved};
  try {
    if (read.path == "-") throw_error("the text of the run came from standard input; give --text");
    read.read();
    read.identify("give the text of the run with --text");
    read.encode(model->vocabulary);
    check_same_text(checkpoint, read);
  } catch (const Error& error) {
    if (!command.text.empty()) throw;
    return missing.push_back(std::string("no training text: ") + error.what());
  }
  text = std::move(read);
  const Split all = text->corpus->training(), rest = text->corpus->validation();
  const std::size_t last = std::min(all.size, most_training);
  training = tokens_of(all, all.size - last, last);
  validation = tokens_of(rest, 0, std::min(rest.size, most_validation));
  part_losses = bigram_losses_of_parts(training, validation.size(), model->vocabulary.size());
}

const StoredTensor* ExaminedRun::second_moment(const std::string& parameter) const {
  return file->find("optimizer." + parameter + ".exp_avg_sq");
}

Parameters ExaminedRun::initial_parameters() const {
  Parameters parameters;
  Generator generator(curve->options->seed);
  const nn::Gpt drawn(Scope(parameters, generator), model->model.config);
  return parameters;
}

}  // namespace heed::app
