// curve.hpp: plots of loss curves, as text for the terminal and as SVG files by gnuplot.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "heed/draw/plot_program.hpp"
#include "heed/draw/series.hpp"

namespace HEED_NAMESPACE {

// Options of curve_text() and draw_curve().
struct CurveOptions {
  std::string title = {};                             // printed above the plot
  std::string x_title = "step";                       // title of the horizontal axis
  std::string y_title = "loss (nats per character)";  // title of the vertical axis
  std::vector<HorizontalLine> lines = {};             // horizontal lines, such as an entropy rate
  std::vector<MarkedPoint> marks = {};                // circled in the picture; not in text plots
  std::size_t width = 72;                             // width of the text plot, in characters
  std::size_t height = 18;                            // height of the text plot, in lines
};

// Returns the loss curves as a text plot. Series whose `points` is false are smoothed by averaging
// neighbouring values. If gnuplot is not installed, returns one line that says what to install.
// Throws Error unless each series has as many x values as y values, and the errors of
// check_text_size().
std::string curve_text(const std::vector<Series>& series, const CurveOptions& options = {});

// Plots curves to folder/name.svg (900 x 540 pixels) and keeps the data (name.csv) and the gnuplot
// script (name.gp) in the same folder. If a file cannot be written or gnuplot is missing,
// Plot::message says so. Throws Error unless each series has as many x values as y values.
Plot draw_curve(const std::string& folder, const std::string& name,
                const std::vector<Series>& series, const CurveOptions& options = {});

// A CSV file with the data of several curves, and the columns to plot, counted from 0.
struct CurveFile {
  std::string name;                    // the file name, without a folder
  std::size_t x_column;                // the column of the x values
  std::vector<std::size_t> y_columns;  // one column for each series
};

// Like draw_curve, but for data in an existing CSV file: writes folder/name.gp, which reads that
// file, and folder/name.svg. `series` must contain the same values as the CSV file.
Plot draw_curve_of_file(const std::string& folder, const std::string& name, const CurveFile& file,
                        const std::vector<Series>& series, const CurveOptions& options = {});

}  // namespace HEED_NAMESPACE
