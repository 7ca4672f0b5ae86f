// training_run.hpp: trains a model, shows the progress, saves the results, plots the loss curve.
#pragma once

#include <string>
#include <vector>

#include "commands/run_folder.hpp"
#include "heed/draw/curve.hpp"
#include "heed/text/vocabulary.hpp"
#include "heed/train/data_parallel.hpp"
#include "heed/train/loss_csv.hpp"

namespace heed::app {

// Trains to the end. On a terminal, shows a live progress line and, each time the validation loss
// is measured, prints the losses and a preview of generated text. If stdout is a pipe, prints a
// line for each row of loss.csv. Saves the checkpoint each time the validation loss is measured, at
// the end, and after a signal. The folder must exist. `text_name` is used in plot titles.
//
// Returns the exit code: 0, or, if a signal stopped the training, 128 + the number of the signal.
// Throws Error if a file cannot be written, or if a loss or gradient is not finite; the previously
// saved checkpoint is kept. If the reader of stdout ends, as in `heed train | head`, saves and
// stops; if stdout cannot be written for another reason, prints one note and continues to train.
//
// `parallel` is the trainer if several processes train, otherwise null.
int train_to_end(Trainer& trainer, const DataParallel* parallel, const Vocabulary& vocabulary,
                 const TextFingerprint& text, const std::string& text_name, const RunFolder& folder,
                 bool keep_history = false);

// The counterpart of train_to_end() on the other ranks: trains until the last step or the step at
// which all ranks stop, and writes nothing. Throws the errors of Trainer::step(), but not
// Diverged, which rank 0 reports.
void follow_to_end(DataParallel& trainer);

// Two series for a plot: the training loss as a line, and the validation loss as points.
std::vector<Series> loss_series(const LossCsv& losses);

// Plots folder/loss.csv: writes folder/loss.gp and folder/loss.svg. Reports errors in the returned
// Plot instead of throwing, because a failed plot must not end a training run.
Plot draw_loss_curve(const std::string& folder, const CurveOptions& options = {});

}  // namespace heed::app
