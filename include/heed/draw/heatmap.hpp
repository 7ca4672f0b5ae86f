// heatmap.hpp: heat maps of matrices, such as attention weights, as text and as SVG files.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "heed/array/array.hpp"
#include "heed/draw/plot_program.hpp"
#include "heed/draw/series.hpp"

namespace HEED_NAMESPACE {

// The characters or colours of the cells of a text heat map, from the lowest value to the highest.
enum class Shades {
  blocks,  // characters " ░▒▓█"
  ascii,   // characters " .:-=+*#%@"
  ansi     // 256-colour backgrounds, dark blue to yellow, for a terminal only
};

// Options of the heat map functions below.
struct HeatmapOptions {
  std::string title = {};                      // printed with the matrix shape: "head 2 (4, 4)"
  std::vector<std::string> row_names = {};     // one name for each row, or no names
  std::vector<std::string> column_names = {};  // one name for each column, or no names
  std::string row_title = {};                  // vertical axis title, such as "query position"
  std::string column_title = {};               // horizontal axis title, such as "key position"
  std::optional<double> low = {}, high = {};   // limits of the colour scale; default: of the data
  bool diverging = false;                      // two colours: blue below 0, orange above 0
                                               // blocks: 0 is blank; "-", "=" and "≡" are below 0
  Shades shades = Shades::blocks;              // the characters of the text plot
  std::size_t width = 80;                      // width of the text plot, in characters
};

// The heat map as text: one line per row, two characters per cell (or one, to fit the terminal),
// then the colour scale. Cells that are -inf (masked), inf or NaN have their own symbols. A matrix
// wider than the terminal is reduced by max pooling and shown without row and column names. Throws
// Error when x is not a matrix, is empty, or does not match the number of names.
std::string heatmap_text(const Array& x, const HeatmapOptions& options = {});

// Plots the matrix to folder/name.svg and keeps the data (name.csv) and the gnuplot script
// (name.gp) in the same folder. Matrices up to 12 x 12 have their values written in the cells;
// masked cells are grey, a cross marks NaN, a triangle inf. Throws the same errors as heatmap_text.
// If a file cannot be written or gnuplot is missing, Plot::message says so.
Plot draw_heatmap(const std::string& folder, const std::string& name, const Array& x,
                  const HeatmapOptions& options = {});

// Plots several matrices of one shape, such as the attention weights of a layer's heads, to one
// file, folder/name.svg, each under its title from `titles`, with one colour scale. The figure (a
// sheet) is a grid with `columns` matrices per row (0: a roughly square grid). A name that is one
// space is shown as "␣". Matrices of more than 128 rows or columns, or sheets of more than about
// 512 x 512 cells, are reduced by max pooling and drawn without names. Throws the same errors as
// heatmap_text, and Error unless all shapes are equal and each matrix has a title.
Plot draw_heatmap_sheet(const std::string& folder, const std::string& name,
                        const std::vector<Array>& panels, const std::vector<std::string>& titles,
                        const HeatmapOptions& options = {}, std::size_t columns = 0);

// The matrices as heat maps in text, without row and column names. At most `columns` heat maps
// stand side by side, and fewer if each would be narrower than 12 characters. Matrices too wide for
// options.width are reduced by max pooling. The colour scale is printed once, at the end. Throws
// the errors of draw_heatmap_sheet.
std::string heatmap_sheet_text(const std::vector<Array>& panels,
                               const std::vector<std::string>& titles,
                               const HeatmapOptions& options = {}, std::size_t columns = 0);

// Checks the arguments of a heat map function, and throws the errors of draw_heatmap_sheet.
void check_heatmaps(const std::vector<Array>& panels, const std::vector<std::string>& titles,
                    const HeatmapOptions& options);

// The range of the colour scale: from the smallest to the largest finite value, unless the options
// set other limits. If all values are equal, they are in the middle of a range of length 1 (2 if
// diverging). The range is (0, 1), or (-1, 1) if diverging, when no value is finite.
Range heatmap_range(const std::vector<Array>& panels, const HeatmapOptions& options);

// The number of heat maps that stand side by side in a sheet of `panels` heat maps: `columns`, or a
// default number if `columns` is 0, but at most `panels`.
std::size_t sheet_columns(std::size_t columns, std::size_t panels);

// Max pooling: returns the maximum of each square block of `side` rows and columns of the matrix x.
// The maximum of a block with NaN is NaN.
Array max_pooled(const Array& x, std::size_t side);

}  // namespace HEED_NAMESPACE
