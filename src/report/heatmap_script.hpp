// heatmap_script.hpp: the parts of gnuplot's language that every heat map is made of.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "heed/array/array.hpp"
#include "heed/report/heatmap.hpp"

namespace heed::heatmap_script {

// Where a matrix's cells stand in a file, and how they look.
struct Cells {
  std::string file;         // a CSV file with a line of names, then a line for each cell
  std::size_t rows_column;  // the file's column that holds rows; columns and values follow it
  std::string lines;        // which of the file's cells, "every ::0::8"; empty: all
  double size;              // of a cell, in pixels
  bool values;              // written in the cells
  double value_size = 12;   // of their letters
};

// Sizes and places in pixels, from the top left corner.
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
std::size_t longest(const std::vector<std::string>& names);  // in columns of a terminal

// Light to dark, or two colours that part at white.
std::string palette(bool diverging);

// The names along an axis ("x2" or "y"), or its numbers when they are not shown.
struct Tics {
  bool names = false;
  bool downwards = false;  // names are turned by a quarter
  bool each_number = false;
  bool spaces_shown = false;  // a lone space as "␣"
  double nearer = 0;          // to the matrix, in heights of a letter
  double size = 12;           // of the letters
};
std::string tics(const char* axis, const std::vector<std::string>& names, const Tics& how);

// Rows from the top, as matrices are written; grey where no cell is drawn.
std::string ranges(std::size_t rows, std::size_t columns);
extern const char* const grey_behind;

// The plot command. Masked cells are left out; a cross marks what is not a number.
std::string plot(const Cells& cells, const Range& range, const Array& x, bool diverging);

// "0,1,0.25\n" for each cell, each line after `before`.
std::string csv_lines(const Array& x, const std::string& before = "");

}  // namespace heed::heatmap_script
