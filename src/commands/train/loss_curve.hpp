// loss_curve.hpp: plots the losses of a run and its loss.csv.
#pragma once

#include <string>
#include <vector>

#include "heed/draw/curve.hpp"
#include "heed/train/loss_csv.hpp"

namespace heed::app {

// Two series for a plot: the training loss as a line, and the validation loss as points.
std::vector<Series> loss_series(const LossCsv& losses);

// Plots folder/loss.csv: writes folder/loss.gp and folder/loss.svg. Reports errors in the returned
// Plot instead of throwing, because a failed plot must not end a training run.
Plot draw_loss_curve(const std::string& folder, const CurveOptions& options = {});

}  // namespace heed::app
