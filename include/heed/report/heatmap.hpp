// heatmap.hpp: matrices as pictures, such as who attends to whom.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "heed/array/array.hpp"
#include "heed/report/gnuplot.hpp"
#include "heed/report/series.hpp"

namespace heed {

enum class Shades {
  blocks,  // " ░▒▓█"
  ascii,   // " .:-=+*#%@"
  ansi     // 256-colour backgrounds, dark blue to yellow, for a terminal only
};

struct HeatmapOptions {
  std::string title = {};                      // printed with the shape: "head 2 (4, 4)"
  std::vector<std::string> row_names = {};     // one for each row, or none
  std::vector<std::string> column_names = {};  // one for each column, or none
  std::string row_title = {};                  // what rows and columns are: "query", "key"
  std::string column_title = {};
  std::optional<double> low = {}, high = {};  // the ends of the scale; the data's when not given
  bool diverging = false;                     // SVG: blue below zero, white at it, orange above
  Shades shades = Shades::blocks;             // text
  std::size_t width = 80;                     // text: columns of the terminal
};

// Two characters a cell (one when the width asks for it), a line a row, and the scale below. Cells
// that are -inf (masked) or NaN have signs of their own. A matrix wider than the terminal is shown
// coarser, each cell the largest of a square of values, without names. Throws Error when x is
// not a matrix with values, or names are too few or too many.
std::string heatmap_text(const Array& x, const HeatmapOptions& options = {});

// Draws folder/name.svg, and leaves beside it its data (name.csv) and the script (name.gp) that
// draws it again. Up to 12 x 12 cells have their values written in them; masked cells are grey.
// Throws Error as above; files that cannot be written or a missing gnuplot are told in the result.
Plot draw_heatmap(const std::string& folder, const std::string& name, const Array& x,
                  const HeatmapOptions& options = {});

// Draws several matrices of one shape in one folder/name.svg, with its data and script beside it as
// above, each under its title from `titles` and all with the names and on the one scale that the
// options give; options.title stands above them all. They are laid out row by row, `columns` side
// by side (0: about as many as there are rows), such as the heads of a layer. Names make spaces
// visible. Matrices of more than 128 rows or columns, or all together of more than about 512 x 512
// cells, are drawn coarser, each cell the largest of a square of values, without names. Throws
// Error as above, and when there is no matrix, or they differ in shape, or titles are too few or
// too many.
Plot draw_heatmap_sheet(const std::string& folder, const std::string& name,
                        const std::vector<Array>& panels, const std::vector<std::string>& titles,
                        const HeatmapOptions& options = {}, std::size_t columns = 0);

// The same as text: as many side by side as fit in options.width, no more than `columns`, each at
// least 12 characters wide and coarser where that is not enough; without names, the scale once at
// the end. Throws Error as above.
std::string heatmap_sheet_text(const std::vector<Array>& panels,
                               const std::vector<std::string>& titles,
                               const HeatmapOptions& options = {}, std::size_t columns = 0);

// What all begin with: the refusals, and the scale, from the least to the largest finite value, or
// as the options say; (0, 1) without any.
void check_heatmap(const Array& x, const HeatmapOptions& options);
Range heatmap_range(const Array& x, const HeatmapOptions& options);
void check_heatmaps(const std::vector<Array>& panels, const std::vector<std::string>& titles,
                    const HeatmapOptions& options);
Range heatmap_range(const std::vector<Array>& panels, const HeatmapOptions& options);

// What is too large to be shown: each cell of the result is the largest of side x side cells, NaN
// when one of them is.
Array max_pooled(const Array& x, std::size_t side);

}  // namespace heed
