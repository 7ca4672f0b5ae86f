// heatmap.cpp: draw_heatmap writes a gnuplot script that draws a matrix as an SVG file.

#include "heed/report/heatmap.hpp"

#include <algorithm>
#include <cmath>

#include "heed/array/shape.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "report/heatmap_script.hpp"

namespace HEED_NAMESPACE {
namespace {

using namespace heatmap_script;

// Sizes in pixels, for a font with characters about 8 pixels wide.
struct Layout {
  double cell, left, top, right, bottom, width, height;
  std::size_t rows, columns;
  bool row_names, column_names, values;
};

Layout layout_of(const Array& x, const HeatmapOptions& options) {
  Layout l{};
  l.rows = x.shape()[0], l.columns = x.shape()[1];
  const std::size_t longer_side = std::max(l.rows, l.columns);
  l.row_names = !options.row_names.empty() && longer_side <= 80;
  l.column_names = !options.column_names.empty() && longer_side <= 80;
  const double min_cell = l.row_names || l.column_names ? 12 : 2;  // 12 pixels: a name's height
  l.cell = std::min(56.0, std::max(min_cell, std::floor(560.0 / static_cast<double>(longer_side))));
  l.values = longer_side <= 12;
  const auto name_length = [](bool shown, const std::vector<std::string>& names) {
    return shown ? 8.0 * static_cast<double>(std::min<std::size_t>(24, longest(names))) : 30.0;
  };
  l.left = 34 + name_length(l.row_names, options.row_names) + (options.row_title.empty() ? 0 : 24);
  l.top = 34 + (options.title.empty() ? 0 : 34) + (options.column_title.empty() ? 0 : 24) +
          (l.column_names ? name_length(true, options.column_names) : 16);
  l.right = 110, l.bottom = 24;
  l.width = std::max(l.left + l.right + l.cell * static_cast<double>(l.columns),
                     10.0 * static_cast<double>(display_width(options.title) + 12));
  l.height = l.top + l.bottom + std::max(120.0, l.cell * static_cast<double>(l.rows));
  return l;
}

double name_size(const Layout& l) { return std::min(14.0, l.cell - 1); }

Canvas canvas_of(const Layout& l) { return {l.width, l.height}; }

Rectangle panel_of(const Layout& l) {
  return {l.left, l.top, l.cell * static_cast<double>(l.columns),
          l.cell * static_cast<double>(l.rows)};
}

std::string titles(const Layout& l, const HeatmapOptions& options, const Shape& shape) {
  const double center_x = l.left + l.cell * static_cast<double>(l.columns) / 2;
  const double center_y = l.top + l.cell * static_cast<double>(l.rows) / 2;
  std::string text;
  if (!options.title.empty())
    text += "set label " + gnuplot_string(options.title + " " + str(shape)) +
            at_pixel(canvas_of(l), l.width / 2, 24) + " center" + font(17) + "\n";
  if (!options.column_title.empty())
    text += "set label " + gnuplot_string(options.column_title) +
            at_pixel(canvas_of(l), center_x, options.title.empty() ? 20 : 54) + " center\n";
  if (!options.row_title.empty())
    text += "set label " + gnuplot_string(options.row_title) +
            at_pixel(canvas_of(l), 20, center_y) + " center rotate by 90\n";
  return text;
}

std::string axis_tics(const char* axis, const std::vector<std::string>& names, const Layout& l,
                      bool shown) {
  TicStyle style;
  style.show_names = shown, style.all_numbers = l.values, style.font_size = name_size(l);
  style.rotated = axis[0] == 'x' && longest(names) > 3;
  return tics(axis, names, style);
}

// The colour scale to the right of the matrix, at least 120 pixels high.
std::string color_scale(const Layout& l) {
  const Rectangle panel = panel_of(l);
  return color_box({panel.left + panel.width + 18, l.top, 18, std::max(120.0, panel.height)},
                   canvas_of(l));
}

std::string frame(const Layout& l, const HeatmapOptions& options) {
  return ranges(l.rows, l.columns) + color_scale(l) +
         axis_tics("x2", options.column_names, l, l.column_names) +
         axis_tics("y", options.row_names, l, l.row_names);
}

}  // namespace

void check_heatmap(const Array& x, const HeatmapOptions& options) {
  const Shape shape = shape_of(x);
  if (shape.size() != 2 || x.size() == 0)
    throw_error("heatmap: needs a matrix with values, got x ", str(shape));
  if (!options.row_names.empty() && options.row_names.size() != shape[0])
    throw_error("heatmap: ", options.row_names.size(), " row names for x ", str(shape));
  if (!options.column_names.empty() && options.column_names.size() != shape[1])
    throw_error("heatmap: ", options.column_names.size(), " column names for x ", str(shape));
}

Range heatmap_range(const Array& x, const HeatmapOptions& options) {
  Range range;
  for (std::size_t i = 0; i < x.size(); ++i) range.include(static_cast<double>(x.data()[i]));
  if (range.empty()) range = {0, 1};
  if (options.diverging) {
    range.include(-range.low);
    range.include(-range.high);
  }
  range.low = options.low.value_or(range.low);
  range.high = options.high.value_or(range.high);
  if (range.low >= range.high)  // relative, because 1e20 + 1 rounds to 1e20
    range.high = range.low + std::max(1.0, 1e-6 * std::abs(range.low));
  return range;
}

Plot draw_heatmap(const std::string& folder, const std::string& name, const Array& x,
                  const HeatmapOptions& options) {
  check_heatmap(x, options);
  const std::string failure =
      write_text(path_in(folder, name + ".csv"), "row,column,value\n" + csv_lines(x));
  if (!failure.empty()) return {false, failure};
  const Layout l = layout_of(x, options);
  const Range range = heatmap_range(x, options);
  return draw_with_gnuplot(
      folder, name,
      head(name, canvas_of(l)) + margins(panel_of(l), canvas_of(l)) +
          titles(l, options, shape_of(x)) + palette(options.diverging) + "set cbrange " +
          gnuplot_range(range.low, range.high) + "\n" + frame(l, options) +
          plot({name + ".csv", 1, "", l.cell, l.values}, range, x, options.diverging));
}

}  // namespace HEED_NAMESPACE
