// tuning.hpp: the learning rates of a lesson are chosen by a sweep that a reader can run.
#pragma once

#include <string>
#include <vector>

#include "heed/base/source_location.hpp"

namespace heed {

// The loss of one variant of a model after training with one learning rate: the mean of several
// seeds and its standard error, on data that the lesson reports nothing about.
struct TuningRow {
  std::string variant;  // "linear attention"
  double rate;
  double loss, standard_error;
};

// The learning rate with which a lesson trains a variant.
struct ChosenRate {
  std::string variant;
  double rate;
};

// Whether the lesson is to run its sweep, because the environment variable HEED_TUNE is set:
//   if (tuning()) return write_tuning("loss on the tuning windows, seeds 11 to 13", sweep());
bool tuning();

// Prints the rows, and writes them into the file tuning.txt of the lesson's folder. `measured` says
// what was measured. Returns 0, the exit code of the lesson.
int write_tuning(const std::string& measured, const std::vector<TuningRow>& rows,
                 SourceLocation location = SourceLocation::current());

// Prints the file tuning.txt of the lesson's folder as quoted lines, draws the losses over the
// rates in the picture "tuning", and claims that the rate of each variant is the best of its sweep.
// Throws an Error if the file has other variants than `chosen`.
void show_tuning(const std::string& y_title, const std::vector<ChosenRate>& chosen,
                 SourceLocation location = SourceLocation::current());

}  // namespace heed
