// compared_run.cpp: reads loss.csv, the options in the checkpoint and the sample of a run.

#include "commands/compare/compared_run.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "commands/train/options.hpp"
#include "heed/base/error.hpp"
#include "heed/base/file.hpp"
#include "heed/base/text.hpp"
#include "train/fields.hpp"

namespace heed::app {
namespace {

namespace fs = std::filesystem;

void read_losses(ComparedRun& run) {
  const std::string path = run.folder.loss_csv().string();
  LogRows read = read_log_rows(path);
  run.rows = std::move(read.rows);
  run.is_last_row_cut = read.is_last_row_cut;
  const auto is_finite = [](const LogRow& row) { return std::isfinite(row.train_loss); };
  const auto end = std::find_if_not(run.rows.begin(), run.rows.end(), is_finite);
  run.diverged = end != run.rows.end();
  run.rows.erase(end, run.rows.end());
  for (std::size_t i = 1; i < run.rows.size(); ++i)
    if (run.rows[i].step <= run.rows[i - 1].step)
      throw_error(path, ": step ", run.rows[i].step, " comes after step ", run.rows[i - 1].step,
                  "; ./heed train --resume writes the file again");
}

void read_checkpoint(ComparedRun& run) {
  const ModelFile file = ModelFile::open(run.folder.checkpoint());
  nn::GptConfig config = file.config();
  const TrainOptions options = file.options();
  const TextFingerprint text = file.text();
  const Unit unit = file.vocabulary().unit();
  check_saved_options(file.path(), config, options);
  run.options = flag_values(config, options, unit, text.vocab_size);
  run.options.erase("--bytes");                                      // --tokenizer says the same
  if (options.decay_steps == 0) run.options.erase("--decay-steps");  // it is that of --steps
  each_optional_size(config, [&](const Field& field, std::size_t size, std::size_t usual) {
    if (size == 0 || size == usual) run.options.erase(flag_of(field));  // it is that of the others
  });
  run.options["--steps"] = std::to_string(options.steps);
  run.options["TEXT"] = text.path.empty() ? "harbour.txt" : printable(text.path);
  run.tokens = std::to_string(text.hash) + " " + run.options["--tokenizer"] + " " +
               run.options["--vocab-size"];
  run.steps = options.steps;
  run.parameters = nn::parameter_count(config);
  run.block_size = config.block_size;
  run.tokens_per_step = options.batch_size * config.block_size;
}

std::string start_of_sample(const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return "";
  std::string text = start_of_file(path, 400);
  text.erase(std::min(text.find_last_of(" \n") + 1, text.size()));  // perhaps half of a character
  return text;
}

}  // namespace

std::string ComparedRun::value(const std::string& flag) const {
  const auto found = options.find(flag);
  return found != options.end() ? found->second : has_checkpoint() ? "default" : "?";
}

double ComparedRun::ms_per_step() const {
  std::vector<double> ms;
  for (const LogRow& row : rows)
    if (std::isfinite(row.ms)) ms.push_back(row.ms);
  if (ms.empty()) return NAN;
  const auto middle = ms.begin() + static_cast<std::ptrdiff_t>(ms.size() / 2);
  std::nth_element(ms.begin(), middle, ms.end());
  return *middle;
}

double ComparedRun::tokens_per_s() const {
  return has_checkpoint() ? 1000 * static_cast<double>(tokens_per_step) / ms_per_step() : NAN;
}

std::vector<double> ComparedRun::seconds() const {
  std::vector<double> result;
  double sum = 0;
  std::int64_t last = 0;
  for (const LogRow& row : rows) {
    if (std::isfinite(row.ms)) sum += row.ms * static_cast<double>(row.step - last) / 1000;
    last = row.step;
    result.push_back(sum);
  }
  return result;
}

std::vector<std::string> runs_of(const std::string& name) {
  const RunFolder folder = run_folder(name);
  std::error_code ignored;
  if (fs::exists(folder.loss_csv(), ignored)) return {name};
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder.path, ignored))
    if (entry.path().filename().string()[0] != '.' &&  // a run with --replace that saved nothing
        fs::exists(RunFolder{entry.path()}.loss_csv(), ignored))
      names.push_back(entry.path().string());
  std::sort(names.begin(), names.end());
  return names;
}

ComparedRun read_run(const std::string& name) {
  ComparedRun run;
  run.folder = run_folder(name);
  run.name = run.folder.path.string();
  while (run.name.size() > 1 && run.name.back() == '/') run.name.pop_back();
  read_losses(run);
  if (run.folder.has_checkpoint()) read_checkpoint(run);
  run.sample = start_of_sample(run.folder.sample());
  return run;
}

}  // namespace heed::app
