// loss_curve.hpp: the loss curve of a training run, from its loss.csv.
#pragma once

#include <string>
#include <vector>

#include "heed/report/curve.hpp"
#include "heed/train/loss_csv.hpp"

namespace heed::app {

// Training losses as a line, validation losses as points.
std::vector<Series> loss_series(const LossCsv& losses);

// Draws a run's folder/loss.csv: writes folder/loss.gp and folder/loss.svg. Never throws, so that a
// run is not lost over its picture.
Plot draw_loss_curve(const std::string& folder, const CurveOptions& options = {});

}  // namespace heed::app
