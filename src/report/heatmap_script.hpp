// heatmap_script.hpp: parts of gnuplot scripts that single heat maps and sheets have in common.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "heed/array/array.hpp"
#include "heed/report/heatmap.hpp"

namespace HEED_NAMESPACE::heatmap_script {

// The cells of a matrix in a CSV file, and how to draw them.
struct Cells {
  std::string file;         // a CSV file: a header line, then one line for each cell
  std::size_t rows_column;  // the file's column with the row index; column index and value follow
  std::string every;        // selects lines of the file, "every ::0::8"; empty: all lines
  double size;              // of a cell, in pixels
  bool show_values;         // write the values in the cells
  double value_size = 12;   // font size of the values
};

// Sizes and positions in pixels, from the top left corner.
struct Canvas {
  double width, height;
};
struct Rectangle {
  double left, top, width, height;
};

std::string head(const std::string& name, const Canvas& canvas);
std::string margins(const Rectangle& panel, const Canvas& canvas);
std::string at_pixel(const Canvas& canvas, double x, double y);
std::string color_box(const Rectangle& box, const Canvas& canvas);

std::string font(double size);
std::size_t longest(const std::vector<std::string>& names);  // the longest name's display width

// From light to dark or, if diverging, from blue over white to orange.
std::string palette(bool diverging);

struct TicStyle {
  bool show_names = false;   // otherwise the axis shows indices
  bool rotated = false;      // names are rotated by 90 degrees
  bool all_numbers = false;  // every index has a tic
  bool show_spaces = false;  // a single space is shown as "␣"
  double shift = 0;          // towards the matrix, in character heights
  double font_size = 12;
};

// The names or indices along an axis ("x2" or "y").
std::string tics(const char* axis, const std::vector<std::string>& names, const TicStyle& style);

// The axis ranges, with row 0 at the top, and a grey background for masked cells.
std::string ranges(std::size_t rows, std::size_t columns);
extern const char* const grey_background;

// The plot command. Masked cells are not drawn; a cross marks NaN.
std::string plot(const Cells& cells, const Range& range, const Array& x, bool diverging);

// A line "0,1,0.25" (row, column, value) for each cell, each line after `prefix`.
std::string csv_lines(const Array& x, const std::string& prefix = "");

}  // namespace HEED_NAMESPACE::heatmap_script
