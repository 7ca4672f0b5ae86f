// run_group.cpp: groups runs by their options, and averages their losses over seeds.

#include "commands/compare/run_group.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/base/text.hpp"

namespace heed::app {
namespace {

// The options that runs of a group have in common; "" if they are unknown.
std::map<std::string, std::string> common_options(const ComparedRun& run) {
  std::map<std::string, std::string> options = run.options;
  options.erase("--seed");
  if (run.has_checkpoint()) options["text and tokens"] = run.tokens;
  return options;
}

bool belongs(const ComparedRun& run, const RunGroup& group) {
  if (!run.has_checkpoint() || common_options(run) != common_options(group.first())) return false;
  // Two runs of one seed have the same losses, so they are one measurement.
  return std::none_of(group.runs.begin(), group.runs.end(), [&](const ComparedRun& other) {
    return other.value("--seed") == run.value("--seed");
  });
}

// The means of what `number_of` a row is in all runs, at each step at which they have a finite one.
template <class NumberOf>
std::vector<MeanLoss> means(const std::vector<ComparedRun>& runs, const NumberOf& number_of) {
  std::map<std::int64_t, std::vector<double>> numbers;
  for (const ComparedRun& run : runs)
    for (const LogRow& row : run.rows)
      if (const double number = number_of(row); std::isfinite(number))
        numbers[row.step].push_back(number);
  std::vector<MeanLoss> result;
  for (const auto& [step, values] : numbers)
    if (values.size() == runs.size()) result.push_back({step, mean_of(values)});
  return result;
}

void average(RunGroup& group) {
  group.training = means(group.runs, [](const LogRow& row) { return row.train_loss; });
  group.validation =
      means(group.runs, [](const LogRow& row) { return row.val_loss.value_or(NAN); });
  for (const MeanLoss& each : group.validation)
    if (!group.best || each.loss.mean < group.best->loss.mean) group.best = each;
}

// The mean of the seconds that the runs took until each step.
std::map<std::int64_t, double> mean_seconds(const std::vector<ComparedRun>& runs) {
  std::map<std::int64_t, double> result;
  for (const ComparedRun& run : runs) {
    const std::vector<double> seconds = run.seconds();
    for (std::size_t i = 0; i < seconds.size(); ++i)
      result[run.rows[i].step] += seconds[i] / static_cast<double>(runs.size());
  }
  return result;  // too small at steps that not all runs have
}

double final_loss(const RunGroup& group) {
  return group.final() != nullptr ? group.final()->loss.mean
                                  : std::numeric_limits<double>::infinity();
}

// The value that more than half of the groups have for a flag, or "".
std::string usual_value(const std::string& flag, const std::vector<RunGroup>& groups) {
  std::map<std::string, std::size_t> counts;
  for (const RunGroup& group : groups)
    if (2 * ++counts[group.first().value(flag)] > groups.size()) return group.first().value(flag);
  return "";
}

std::string label_of(const RunGroup& group, const std::vector<std::string>& flags) {
  if (!group.first().has_checkpoint() || flags.empty() || flags.size() > 3) return group.name();
  std::vector<std::string> parts;
  for (const std::string& flag : flags)
    parts.push_back((flag == "TEXT" ? "" : flag.substr(2) + " ") + group.first().value(flag));
  return joined(parts, ", ");
}

// A label has the options whose value is not the usual one; that of a group with the usual values
// has all options that differ.
void set_labels(std::vector<RunGroup>& groups) {
  const std::vector<std::string> flags = differing_flags(groups);
  std::set<std::string> labels;
  for (RunGroup& group : groups) {
    std::vector<std::string> own;
    for (const std::string& flag : flags)
      if (usual_value(flag, groups) != group.first().value(flag)) own.push_back(flag);
    group.label = label_of(group, own.empty() ? flags : own);
    if (!labels.insert(group.label).second) group.label = group.name();  // one seed, trained twice
  }
}

// Whether both runs have the same text and tokens. Those of a run without a checkpoint are unknown.
bool are_comparable(const ComparedRun& a, const ComparedRun& b) {
  return !a.has_checkpoint() || !b.has_checkpoint() || a.tokens == b.tokens;
}

// The numbers of groups, counted from 1: "1, 2, 3", and of more than five "1, 2, 3, 4 and 7 more".
std::string numbers_of(const std::vector<std::size_t>& groups) {
  const std::size_t shown = groups.size() > 5 ? 4 : groups.size();
  std::string text;
  for (std::size_t i = 0; i < shown; ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(groups[i] + 1);
  return text +
         (shown < groups.size() ? " and " + std::to_string(groups.size() - shown) + " more" : "");
}

}  // namespace

std::string RunGroup::name() const {
  std::string common = first().name;
  for (const ComparedRun& run : runs) {
    const std::string& other = run.name;
    common.erase(std::mismatch(common.begin(), common.end(), other.begin(), other.end()).first,
                 common.end());
  }
  if (runs.size() == 1) return common;
  return common.erase(common.find_last_not_of("0123456789") + 1) + "*";  // seed-*, not seed-133*
}

Series RunGroup::series_of(const std::vector<MeanLoss>& losses, const std::string& by) const {
  const auto seconds = by == "seconds" ? mean_seconds(runs) : std::map<std::int64_t, double>();
  Series series{label, {}, {}};
  for (const auto& [step, loss] : losses) {
    double x = static_cast<double>(step);
    if (by == "tokens") x *= static_cast<double>(first().tokens_per_step);
    if (by == "seconds") x = seconds.at(step);
    series.append(x, loss.mean);
  }
  return series;
}

Series RunGroup::curve(const std::string& by) const {
  Series series = series_of(validation, by);
  series.points = true;
  if (runs.size() > 1)
    for (const MeanLoss& each : validation) series.error.push_back(each.loss.standard_error);
  return series;
}

Series RunGroup::training_curve(const std::string& by) const {
  Series series = series_of(training, by);
  series.name += " training";
  series.thin = true;
  return series;
}

std::vector<RunGroup> grouped_runs(std::vector<ComparedRun> runs) {
  std::vector<RunGroup> groups;
  for (ComparedRun& run : runs) {
    auto group = std::find_if(groups.begin(), groups.end(),
                              [&](const RunGroup& g) { return belongs(run, g); });
    if (group == groups.end()) group = groups.emplace(groups.end());
    group->runs.push_back(std::move(run));
  }
  for (RunGroup& group : groups) average(group);
  std::stable_sort(groups.begin(), groups.end(), [](const RunGroup& a, const RunGroup& b) {
    return final_loss(a) < final_loss(b);
  });
  set_labels(groups);
  return groups;
}

std::vector<std::string> differing_flags(const std::vector<RunGroup>& groups) {
  std::set<std::string> all;
  for (const RunGroup& group : groups)
    for (const auto& option : group.first().options) all.insert(option.first);
  all.erase("--seed");
  std::vector<std::string> flags;
  for (const std::string& flag : all) {
    std::set<std::string> values;
    for (const RunGroup& group : groups)
      if (group.first().has_checkpoint()) values.insert(group.first().value(flag));
    if (values.size() > 1) flags.push_back(flag);
  }
  return flags;
}

std::string verdict(std::size_t index, const std::vector<RunGroup>& groups) {
  const RunGroup& group = groups[index];
  if (group.final() == nullptr) return "no validation loss yet";
  if (index == 0) return "lowest";
  std::vector<std::size_t> lower, with_interval, overlapping;
  for (std::size_t i = 0; i < index; ++i) {
    if (!are_comparable(groups[i].first(), group.first())) continue;
    lower.push_back(i);
    if (groups[i].final()->loss.count > 1) with_interval.push_back(i);
  }
  if (lower.empty()) return "lowest of its text and tokens";
  const SeedMean& loss = group.final()->loss;
  if (loss.count < 2) return "one seed: no interval";
  if (with_interval.empty())
    return numbers_of(lower) + (lower.size() == 1 ? " has" : " have") + " no interval";
  for (const std::size_t i : with_interval) {
    const SeedMean& other = groups[i].final()->loss;
    if (loss.mean - loss.half_interval() <= other.mean + other.half_interval())
      overlapping.push_back(i);
  }
  if (!overlapping.empty()) return "not distinguishable from " + numbers_of(overlapping);
  return "higher" + (with_interval.size() == index ? "" : " than " + numbers_of(with_interval));
}

}  // namespace heed::app
