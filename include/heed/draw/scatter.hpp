// scatter.hpp: scatter plots of labelled points, such as the queries and keys of a head.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "heed/array/array.hpp"
#include "heed/draw/plot_program.hpp"
#include "heed/draw/series.hpp"

namespace HEED_NAMESPACE {

// Options of scatter_text() and draw_scatter().
struct ScatterOptions {
  std::string title = {};                     // printed above the plot
  std::vector<std::string> labels = {};       // one label for each point, or no labels
  std::vector<std::size_t> groups = {};       // group index of each point, or empty
  std::vector<std::string> group_names = {};  // up to four groups, each with its own colour
  std::size_t width = 78;                     // width of the text plot, in characters
  std::size_t height = 26;                    // height of the text plot, in lines

  // The group of a point (an index into group_names), or 0 if there are no groups.
  std::size_t group(std::size_t point) const { return groups.empty() ? 0 : groups[point]; }
};

// scatter_text and draw_scatter plot points (n, 2) with the same scale on both axes. Each label is
// placed on the side of its point with the least overlap. A label that would still overlap (in the
// SVG, by more than 15 % of its area) is left out, and the plot says how many labels were left out.
// scatter_text and draw_scatter throw the same errors as check_scatter.

// The scatter plot as text. Each group has a symbol ("●", "▲", "■", "◆"). "@" marks a cell with
// points of two groups. Throws the errors of check_text_size().
std::string scatter_text(const Array& points, const ScatterOptions& options = {});

// Plots the points to folder/name.svg (900 x 720 pixels) and keeps the data (name.csv) and the
// gnuplot script (name.gp) in the same folder. Plot::message explains failures.
Plot draw_scatter(const std::string& folder, const std::string& name, const Array& points,
                  const ScatterOptions& options = {});

// Throws Error when points are not (n, 2), are not finite, or do not match the labels and groups.
void check_scatter(const Array& points, const ScatterOptions& options);
// The axis ranges with which a plot of this width and height has the points in its centre.
PlotView scatter_view(const Array& points, double width, double height);

}  // namespace HEED_NAMESPACE
