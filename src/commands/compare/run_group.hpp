// run_group.hpp: RunGroup, the runs that differ only in their seed, with the mean of their losses.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "commands/compare/compared_run.hpp"
#include "commands/compare/seed_mean.hpp"
#include "heed/draw/series.hpp"

namespace heed::app {

// A mean loss and the step at which it was measured.
struct MeanLoss {
  std::int64_t step;
  SeedMean loss;
};

// Runs of equal options but for the seed, and with different seeds. A run without a checkpoint,
// whose options are unknown, is a group of its own.
struct RunGroup {
  std::vector<ComparedRun> runs;
  std::string label;  // the name in plots: the options whose value is not the usual one
  std::vector<MeanLoss> validation;  // at each step at which all runs have a validation loss
  std::vector<MeanLoss> training;    // at each step at which all runs have a training loss
  std::optional<MeanLoss> best;      // the lowest of `validation`

  const ComparedRun& first() const { return runs.front(); }
  std::string name() const;  // the folder, or the common beginning of the folders and "*"
  const MeanLoss* final() const { return validation.empty() ? nullptr : &validation.back(); }
  // The validation loss over `by`: step, tokens or seconds. The band is the standard error.
  Series curve(const std::string& by) const;
  Series training_curve(const std::string& by) const;  // thin, without a band

 private:
  Series series_of(const std::vector<MeanLoss>& losses, const std::string& by) const;
};

// The groups of the runs, that of the lowest final validation loss first. Groups without a
// validation loss come last.
std::vector<RunGroup> grouped_runs(std::vector<ComparedRun> runs);

// The flags whose values differ between the groups. The seed is none of them.
std::vector<std::string> differing_flags(const std::vector<RunGroup>& groups);

// What the final loss of groups[index] says, compared with the lower ones of the same text and
// tokens: "lowest", "not distinguishable from 1, 3" if its interval overlaps theirs, "higher" if it
// overlaps none, or why it says nothing. Numbers of groups are counted from 1.
std::string verdict(std::size_t index, const std::vector<RunGroup>& groups);

}  // namespace heed::app
