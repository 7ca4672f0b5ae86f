// curve.hpp: loss curves, as text for the terminal and as SVG files drawn by gnuplot.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "heed/report/gnuplot.hpp"
#include "heed/report/series.hpp"

namespace heed {

struct CurveOptions {
  std::string title = {};
  std::string x_title = "step";
  std::string y_title = "loss (nats per character)";
  std::vector<Level> levels = {};
  std::size_t width = 72;   // of the text form, in characters
  std::size_t height = 18;  // of the text form, in lines
};

// The curves as lines of text: lines are averaged until they can be followed, points stay. Without
// gnuplot, one line that says what to install. Throws Error when a series has not as many x as y,
// or the text would be smaller than 40 x 10 characters.
std::string curve_text(const std::vector<Series>& series, const CurveOptions& options = {});

// Draws folder/name.svg (900 x 540), and leaves beside it its data (name.csv) and the script
// (name.gp) that draws it again. Throws Error when a series has not as many x as y; files that
// cannot be written or a missing gnuplot are told in the result.
Plot draw_curve(const std::string& folder, const std::string& name,
                const std::vector<Series>& series, const CurveOptions& options = {});

// The same from a run's folder/loss.csv (see read_loss_csv): writes folder/loss.gp and
// folder/loss.svg. Never throws: a run is not lost over its picture.
Plot draw_loss_curve(const std::string& folder, const CurveOptions& options = {});

}  // namespace heed
