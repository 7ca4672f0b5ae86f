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
  std::vector<HorizontalLine> levels = {};
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

// A CSV file that holds the data of several curves, and the columns to draw, counted from 0.
struct CurveFile {
  std::string name;  // in the folder of the picture
  std::size_t x_column;
  std::vector<std::size_t> y_columns;  // one for each series
};

// The same from a file that is already there: writes folder/name.gp, which reads that file, and
// folder/name.svg. The series hold the file's values.
Plot draw_curve_of_file(const std::string& folder, const std::string& name, const CurveFile& file,
                        const std::vector<Series>& series, const CurveOptions& options = {});

}  // namespace heed
