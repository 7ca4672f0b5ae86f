// scatter.hpp: scatter plots of labelled points, such as the queries and keys of a head.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "heed/array/array.hpp"
#include "heed/report/plot_program.hpp"
#include "heed/report/series.hpp"

namespace HEED_NAMESPACE {

struct ScatterOptions {
  std::string title = {};
  std::vector<std::string> labels = {};       // one for each point, or none
  std::vector<std::size_t> groups = {};       // one index into group_names per point, or none
  std::vector<std::string> group_names = {};  // up to four; each has its own colour and shape
  std::size_t width = 78;                     // of the text plot, in characters
  std::size_t height = 26;                    // of the text plot, in lines

  std::size_t group(std::size_t point) const { return groups.empty() ? 0 : groups[point]; }
};

// Both functions plot points (n, 2) with the same scale on both axes. Each label is put on the side
// of its point where the label overlaps least. Labels that would still overlap (in the SVG by more
// than 15 % of their area) are left out, and the plot says how many. Both throw Error when points
// are not (n, 2), are not finite, or do not match the labels and groups.

// The plot as text. Each group has a symbol ("●", "▲", "■", "◆"). "@" replaces the symbols of two
// groups at one position. Also throws Error when the plot would be smaller than 40 x 10 characters.
std::string scatter_text(const Array& points, const ScatterOptions& options = {});

// Draws folder/name.svg (900 x 720 pixels) and keeps its data (name.csv) and its gnuplot script
// (name.gp) beside it. If a file cannot be written or gnuplot is missing, the Plot says so.
Plot draw_scatter(const std::string& folder, const std::string& name, const Array& points,
                  const ScatterOptions& options = {});

// Throws Error when the points, labels or groups are invalid.
void check_scatter(const Array& points, const ScatterOptions& options);
// The axis ranges for a plot of this width and height, with the points in its centre.
PlotView scatter_view(const Array& points, double width, double height);

}  // namespace HEED_NAMESPACE
