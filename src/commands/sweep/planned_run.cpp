// planned_run.cpp: the runs of a sweep: their options, their folders, and how far they have come.

#include "commands/sweep/planned_run.hpp"

#include <set>
#include <utility>

#include "commands/compare/compared_run.hpp"
#include "commands/train/options.hpp"
#include "commands/train/resume.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"

namespace heed::app {
namespace {

using Values = std::map<std::string, std::string>;

// The options that determine a run's result, as heed train understands them.
Values values_of(const TrainCommand& c) {
  Values values = flag_values(c.model, c.training, c.tokenizer,
                              c.tokenizer == Unit::byte_pair ? c.vocab_size : 0);
  values["--steps"] = std::to_string(c.training.steps);
  return values;
}

Values values_of(const ModelFile& file) {
  Values values =
      flag_values(file.config(), file.options(), file.vocabulary().unit(), file.text().vocab_size);
  values["--steps"] = std::to_string(file.options().steps);
  return values;
}

// All combinations of a value from each list.
std::vector<Values> combinations(const std::map<std::string, std::string>& lists) {
  std::vector<Values> result = {{}};
  for (const auto& [flag, list] : lists) {
    if (list.empty()) continue;
    std::vector<Values> longer;
    for (const Values& values : result)
      for (const std::string& value : split(list, ',')) {
        if (value.empty()) throw_usage_error(flag, list, "has an empty value; give 1,2,3");
        longer.push_back(values);
        longer.back()[flag] = value;
      }
    result = std::move(longer);
  }
  return result;
}

// Throws Error if the run in the folder is not the one that the sweep would make.
void check_same_run(const ModelFile& file, const Values& wanted, const TextFingerprint& text) {
  const std::string advice = "; give another --out, or remove this folder";
  const Values saved = values_of(file);
  for (const auto& [flag, value] : wanted)
    if (const auto found = saved.find(flag); found != saved.end() && found->second != value)
      throw_error(file.path(), ": is a run with ", flag, " ", found->second, ", not ", value,
                  advice);
  if (file.text().hash != text.hash || file.text().bytes != text.bytes)
    throw_error(file.path(), ": is a run on another text", advice);
}

PlannedRun::State state_of(const RunFolder& folder, const Values& wanted,
                           const TextFingerprint& text) {
  using State = PlannedRun::State;
  std::error_code ignored;
  if (folder.has_checkpoint()) {
    const ModelFile file = ModelFile::open(folder.checkpoint());
    check_same_run(file, wanted, text);
    if (file.steps() >= file.options().steps && has_last_file(folder)) return State::finished;
  }
  if (std::filesystem::exists(folder.loss_csv(), ignored) &&
      read_run(folder.path.string()).diverged)
    return State::diverged;
  return folder.has_checkpoint() ? State::begun : State::none;
}

}  // namespace

Arguments PlannedRun::training(const std::string& text) const {
  Arguments words = {"train", "--threads", "1", "--out", folder.path.string()};
  if (state == State::begun) words.push_back("--resume");
  if (state == State::none) words.insert(words.end(), options.begin(), options.end());
  if (!text.empty()) words.insert(words.end(), {"--", text});
  return words;
}

std::vector<PlannedRun> planned_runs(const SweepCommand& command, const std::string& folder) {
  TrainingText text{command.text.empty() ? default_text() : command.text};
  text.read();
  text.identify("give a text to train on");
  std::vector<PlannedRun> runs;
  std::set<std::string> names;
  for (const Values& values : combinations(command.lists))
    for (std::size_t k = 0; k < command.seeds; ++k) {
      const std::string seed = std::to_string(command.seed + k);
      Arguments options = {"--seed", seed};
      for (const auto& [flag, value] : values) options.insert(options.end(), {flag, value});
      const Values wanted = values_of(std::get<TrainCommand>(parsed<TrainCommand>(options)));
      std::string name;
      for (const auto& [flag, value] : values)
        if (command.lists.at(flag).find(',') != std::string::npos)
          name += flag.substr(2) + "-" + wanted.at(flag) + "-";
      name += "seed-" + seed;
      if (!names.insert(name).second)
        throw UsageError("the run " + name + " is asked for twice; give each value once");
      const RunFolder run{std::filesystem::path(folder) / name};
      runs.push_back({name, run, options, state_of(run, wanted, text.fingerprint)});
    }
  return runs;
}

}  // namespace heed::app
