// heatmap_script.hpp: the parts of gnuplot scripts that plot heat maps.
#pragma once

#include <string>
#include <vector>

#include "draw/gnuplot.hpp"
#include "heed/array/array.hpp"
#include "heed/draw/series.hpp"

namespace HEED_NAMESPACE {

std::size_t longer_side(const Array& x);  // the number of rows or columns
// True if each cell has space for its value as text and the axes have space for all indices.
bool is_small(const Array& x);

std::string font(double size);

// The display width of the longest name in characters, at most 24: longer names are truncated.
double characters_of(const std::vector<std::string>& names);

// Returns the commands that set the palette: from light to dark or, if diverging, from blue through
// white to orange. Colour-blind readers can distinguish the colours of both palettes.
std::string palette(const Range& range, bool diverging);

// Returns the commands that set the axis ranges, row 0 at the top, and a grey background, which is
// visible in masked cells.
std::string cell_ranges(const Array& x);

std::string color_box(const Canvas& canvas, double left, double top, double height);

// The tic labels of an axis ("x2" or "y"): names or, if there are none, all or every n-th index.
std::string tics(const std::string& axis, const std::vector<std::string>& names, double name_size,
                 bool all_indices, const std::string& style = "");

// Where a CSV file contains the cells of a matrix, and how large the cells are drawn.
struct Cells {
  std::string file;         // the file name and the lines to read, in gnuplot's syntax
  std::size_t rows_column;  // CSV column of row indices; the next two: column indices, values
  double size;              // the side of a cell, in pixels
  double value_size;        // font size of the values in the cells, or 0 to hide the values
};

// Returns the plot command of a matrix. Masked cells stay empty, a cross marks each NaN and a
// triangle each inf.
std::string plot_command(const Cells& cells, const Range& range, const Array& x, bool diverging);

// Returns a CSV line for each cell: `prefix`, then row, column and value, such as "0,1,0.25".
std::string csv_lines(const Array& x, const std::string& prefix);

}  // namespace HEED_NAMESPACE
