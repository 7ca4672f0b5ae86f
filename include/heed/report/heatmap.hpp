// heatmap.hpp: heat maps of matrices, such as attention weights, as text and as SVG files.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "heed/array/array.hpp"
#include "heed/report/plot_program.hpp"
#include "heed/report/series.hpp"

namespace HEED_NAMESPACE {

enum class Shades {
  blocks,  // " ░▒▓█"
  ascii,   // " .:-=+*#%@"
  ansi     // 256-colour backgrounds, dark blue to yellow, for a terminal only
};

struct HeatmapOptions {
  std::string title = {};                      // printed with the shape: "head 2 (4, 4)"
  std::vector<std::string> row_names = {};     // one for each row, or none
  std::vector<std::string> column_names = {};  // one for each column, or none
  std::string row_title = {};                  // of the vertical axis, such as "query position"
  std::string column_title = {};               // of the horizontal axis, such as "key position"
  std::optional<double> low = {}, high = {};   // limits of the colour scale; default: from the data
  bool diverging = false;                      // SVG: blue below 0, white at 0, orange above 0;
                                               // text: "≡=-" below 0, blank at 0, "░▒█" above 0
  Shades shades = Shades::blocks;              // for text
  std::size_t width = 80;                      // for text: columns of the terminal
};

// The heat map as text: one line per row, two characters per cell (one when space is short), then
// the colour scale. Cells that are -inf (masked) or NaN have their own symbols. A matrix wider than
// the terminal is reduced by max pooling and shown without names. Throws Error when x is not a
// matrix, is empty, or the number of names does not match.
std::string heatmap_text(const Array& x, const HeatmapOptions& options = {});

// Draws folder/name.svg and keeps its data (name.csv) and its gnuplot script (name.gp) beside it.
// Matrices up to 12 x 12 have their values written in the cells; masked cells are grey. Throws
// Error as heatmap_text does. If a file cannot be written or gnuplot is missing, the Plot says so.
Plot draw_heatmap(const std::string& folder, const std::string& name, const Array& x,
                  const HeatmapOptions& options = {});

// Draws several matrices of one shape, such as the heads of a layer, in one folder/name.svg, each
// under its title from `titles` and on one colour scale. They are laid out row by row, `columns`
// side by side (0: about as many as there are rows). The name " " is shown as "␣". Matrices of
// more than 128 rows or columns, or sheets of more than about 512 x 512 cells, are reduced by max
// pooling and drawn without names. Throws Error as heatmap_text does, and when there is no matrix,
// the shapes differ, or the number of titles does not match.
Plot draw_heatmap_sheet(const std::string& folder, const std::string& name,
                        const std::vector<Array>& panels, const std::vector<std::string>& titles,
                        const HeatmapOptions& options = {}, std::size_t columns = 0);

// The sheet of draw_heatmap_sheet as text, without names: at most `columns` matrices side by side,
// fewer if a matrix would get less than 12 characters. Matrices that are still too wide are reduced
// by max pooling. The colour scale is printed once, at the end. Throws the same errors.
std::string heatmap_sheet_text(const std::vector<Array>& panels,
                               const std::vector<std::string>& titles,
                               const HeatmapOptions& options = {}, std::size_t columns = 0);

// Throws the errors of the functions above. A single matrix is checked like a sheet of one matrix.
void check_heatmaps(const std::vector<Array>& panels, const std::vector<std::string>& titles,
                    const HeatmapOptions& options);

// The range of the colour scale: from the smallest to the largest finite value, unless the options
// set other limits. The range is (0, 1) when no value is finite.
Range heatmap_range(const std::vector<Array>& panels, const HeatmapOptions& options);

// The number of matrices that are side by side in a sheet: `columns`, but at most `panels`.
std::size_t sheet_columns(std::size_t columns, std::size_t panels);

// Max pooling over squares of side x side cells. The result is NaN where a square contains NaN.
Array max_pooled(const Array& x, std::size_t side);

}  // namespace HEED_NAMESPACE
