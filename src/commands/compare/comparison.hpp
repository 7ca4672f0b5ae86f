// comparison.hpp: RunComparison, the runs of heed compare and how they are shown.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "commands/compare/run_group.hpp"
#include "heed/draw/curve.hpp"

namespace heed::app {

// Groups of runs, and how they are shown. heed sweep ends with it too.
class RunComparison {
 public:
  // A folder without loss.csv is left out, with a note. Throws Error if all are, if a run is given
  // twice or cannot be read (see read_run()), and if `by` is tokens and a run has no checkpoint.
  RunComparison(const std::vector<std::string>& runs, std::string by);

  const std::vector<RunGroup>& groups() const { return groups_; }

  // Writes the page, if its name is not empty, and compare.svg, compare.csv and compare.gp into the
  // folder. Prints the curves (without gnuplot, a note), the tables, the samples and notes.
  void show(const std::string& folder, const std::string& page) const;

 private:
  std::string curves_text() const;
  std::string tables_text() const;
  std::string html() const;
  std::string title() const;
  // The first `shown` curves with their names, the others muted.
  std::vector<Series> curves(std::size_t shown) const;
  // The curves of curves(), with the training losses of few groups.
  std::vector<Series> picture_curves() const;
  CurveOptions curve_options() const;

  std::string by_;
  std::vector<RunGroup> groups_;
  std::vector<HorizontalLine> bounds_;  // the lower bound on the loss, if it is known
};

}  // namespace heed::app
