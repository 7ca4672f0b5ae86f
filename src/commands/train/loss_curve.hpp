// loss_curve.hpp: plots the losses of a run and its loss.csv.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "commands/train/training_text.hpp"
#include "heed/draw/curve.hpp"
#include "heed/train/loss_csv.hpp"

namespace heed::app {

// Two series for a plot: the training loss as a line, and the validation loss as points.
std::vector<Series> loss_series(const LossCsv& losses);

// The lower bound on the loss of a model with this context length, in nats per token; no line for a
// text whose entropy is not known, that is, for any but those of heed corpus.
std::vector<HorizontalLine> loss_bounds(const TrainingText& text, std::size_t block_size);
// The same for the text of a checkpoint; no line if the text has changed or cannot be read.
std::vector<HorizontalLine> loss_bounds(const ModelFile& checkpoint, std::size_t block_size);

// A mark at the lowest loss, or none if there is no loss.
std::vector<MarkedPoint> lowest_loss(const LossCsv::Losses& validation);

// Plots folder/loss.csv, with a mark at the lowest validation loss: writes folder/loss.gp and
// folder/loss.svg. Reports errors in the returned Plot instead of throwing, because a failed plot
// must not end a training run.
Plot draw_loss_curve(const std::string& folder, CurveOptions options = {});

}  // namespace heed::app
