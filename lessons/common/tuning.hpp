// tuning.hpp: chooses the learning rates of a lesson by a sweep, which a reader can repeat.
#pragma once

#include <string>
#include <vector>

#include "heed/base/source_location.hpp"

namespace heed {

// The loss of one variant of a model after training with one learning rate: the mean of several
// seeds and its standard error, on data that the lesson reports nothing about.
struct TuningRow {
  std::string variant;  // such as "linear attention"
  double rate;
  double loss, standard_error;
};

// The learning rate with which a lesson trains a variant.
struct ChosenRate {
  std::string variant;
  double rate;
  bool open_edge = false;  // whether it is the largest or the smallest rate of the sweep
};

// Whether the lesson is to run its sweep, because the environment variable HEED_TUNE is set:
//   if (tuning()) return write_tuning("loss on the tuning windows, seeds 11 to 13", sweep());
bool tuning();

// Prints the rows, and writes them into the file tuning.txt of the lesson's folder. `measured` says
// what was measured. Returns 0, the exit code of the lesson.
int write_tuning(const std::string& measured, const std::vector<TuningRow>& rows,
                 SourceLocation location = SourceLocation::current());

// Prints the file tuning.txt of the lesson's folder as a matrix of variants by rates, the best rate
// of each variant in brackets. Claims that the chosen rates are the best, and that each has a worse
// one on both sides, or is at the edge of the sweep if it has an open edge. Throws an Error if the
// file does not have a chosen variant.
void show_tuning(const std::vector<ChosenRate>& chosen,
                 SourceLocation location = SourceLocation::current());

}  // namespace heed
