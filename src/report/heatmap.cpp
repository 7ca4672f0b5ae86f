// heatmap.cpp: matrices as scripts for gnuplot, which draws them as SVG.

#include "heed/report/heatmap.hpp"

#include <algorithm>
#include <cmath>

#include "heed/array/error.hpp"
#include "heed/array/shape.hpp"
#include "heed/report/format.hpp"

namespace heed {
namespace {

// Sizes in pixels, for a font whose letters are about 8 wide.
struct Layout {
  double cell, left, top, right, bottom, width, height;
  std::size_t rows, columns;
  bool row_names, column_names, values;
};

std::size_t longest(const std::vector<std::string>& names) {
  std::size_t length = 0;
  for (const std::string& name : names) length = std::max(length, display_width(visible(name)));
  return length;
}

Layout layout_of(const Array& x, const HeatmapOptions& options) {
  Layout l{};
  l.rows = x.shape()[0], l.columns = x.shape()[1];
  const std::size_t most = std::max(l.rows, l.columns);
  l.row_names = !options.row_names.empty() && most <= 80;
  l.column_names = !options.column_names.empty() && most <= 80;
  const double least = l.row_names || l.column_names ? 12 : 2;  // room for a name's letters
  l.cell = std::min(56.0, std::max(least, std::floor(560.0 / static_cast<double>(most))));
  l.values = most <= 12;
  const auto letters = [](bool shown, const std::vector<std::string>& names) {
    return shown ? 8.0 * static_cast<double>(std::min<std::size_t>(24, longest(names))) : 30.0;
  };
  l.left = 34 + letters(l.row_names, options.row_names) + (options.row_title.empty() ? 0 : 24);
  l.top = 34 + (options.title.empty() ? 0 : 34) + (options.column_title.empty() ? 0 : 24) +
          (l.column_names ? letters(true, options.column_names) : 16);
  l.right = 110, l.bottom = 24;
  l.width = std::max(l.left + l.right + l.cell * static_cast<double>(l.columns),
                     10.0 * static_cast<double>(display_width(options.title) + 12));
  l.height = l.top + l.bottom + std::max(120.0, l.cell * static_cast<double>(l.rows));
  return l;
}

std::string font(double size) { return " font '," + gnuplot_number(size) + "'"; }

double name_size(const Layout& l) { return std::min(14.0, l.cell - 1); }

// A tic's name is a format for its number: a percent sign is written twice.
std::string tic_name(const std::string& name) {
  std::string text;
  for (const char c : shortened(visible(name), 24)) text += c == '%' ? "%%" : std::string(1, c);
  return name == " " ? "' '" : gnuplot_string(text);
}

std::string tics(const char* axis, const std::vector<std::string>& names, const Layout& l,
                 bool shown) {
  std::string text = std::string("set ") + axis + "tics scale 0 textcolor rgb '#333333'" +
                     font(shown ? name_size(l) : 12);
  if (!shown) return text + (l.values ? " 1\n" : "\n");
  text += axis[0] == 'x' && longest(names) > 3 ? " rotate by 90 left (" : " (";
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : ", ") + tic_name(names[i]) + " " + std::to_string(i);
  return text + ")\n";
}

std::string margins(const Layout& l) {
  const double w = l.width, h = l.height;
  const double right = l.left + l.cell * static_cast<double>(l.columns);
  const double bottom = l.top + l.cell * static_cast<double>(l.rows);
  return "set lmargin at screen " + gnuplot_number(l.left / w) + "\nset rmargin at screen " +
         gnuplot_number(right / w) + "\nset tmargin at screen " + gnuplot_number(1 - l.top / h) +
         "\nset bmargin at screen " + gnuplot_number(1 - bottom / h) + "\n";
}

std::string at_pixel(const Layout& l, double x, double y) {
  return " at screen " + gnuplot_number(x / l.width) + ", screen " +
         gnuplot_number(1 - y / l.height);
}

std::string titles(const Layout& l, const HeatmapOptions& options, const Shape& shape) {
  const double middle_x = l.left + l.cell * static_cast<double>(l.columns) / 2;
  const double middle_y = l.top + l.cell * static_cast<double>(l.rows) / 2;
  std::string text;
  if (!options.title.empty())
    text += "set label " + gnuplot_string(options.title + " " + str(shape)) +
            at_pixel(l, l.width / 2, 24) + " center" + font(17) + "\n";
  if (!options.column_title.empty())
    text += "set label " + gnuplot_string(options.column_title) +
            at_pixel(l, middle_x, options.title.empty() ? 20 : 54) + " center\n";
  if (!options.row_title.empty())
    text += "set label " + gnuplot_string(options.row_title) + at_pixel(l, 20, middle_y) +
            " center rotate by 90\n";
  return text;
}

// Light to dark, so that nothing is paper; both are told apart by colour-blind readers too.
std::string palette(const HeatmapOptions& options) {
  if (options.diverging)
    return "set palette defined (0 '#2166AC', 1 '#92C5DE', 2 '#F7F7F7', 3 '#F4A582', 4 "
           "'#B2500B')\n";
  return "set palette defined (0 '#F7FBFF', 1 '#C6DBEF', 2 '#6BAED6', 3 '#2171B5', 4 '#08306B')\n";
}

// Where the cell is dark its value is written in white.
std::string value_color(const Range& range, bool diverging) {
  const std::string part =
      "(($3 - " + gnuplot_number(range.low) + ") / " + gnuplot_number(range.span()) + ")";
  const std::string dark = diverging ? "abs(" + part + " - 0.5) > 0.38" : part + " > 0.55";
  return "(" + dark + " ? 0xFFFFFF : 0x222222)";
}

bool has_nan(const Array& x) {
  return std::any_of(x.data(), x.data() + x.size(), [](Real value) { return std::isnan(value); });
}

// Masked cells are left out and show the grey behind; a cross marks what is not a number.
std::string plot_command(const std::string& file, const Layout& l, const Range& range,
                         const Array& x, const HeatmapOptions& options) {
  const std::string data = gnuplot_string(file) + " skip 1 using 2:";
  const std::string border = l.cell >= 16 ? "border linecolor rgb 'white'" : "noborder";
  std::string text = "finite(s) = s ne 'nan' && s ne 'inf' && s ne '-inf'\nplot " + data +
                     "(finite(strcol(3)) ? $1 : NaN):(0.5):(0.5):3 with boxxyerror fillstyle "
                     "solid " +
                     border + " fillcolor palette";
  if (l.values)
    text += ", \\\n     " + data + "(finite(strcol(3)) ? $1 : NaN):(sprintf('%.2f', $3)):" +
            value_color(range, options.diverging) + " with labels" + font(12) +
            " textcolor rgb variable";
  if (has_nan(x))
    text += ", \\\n     " + data +
            "(strcol(3) eq 'nan' ? $1 : NaN) with points pointtype 2 linecolor rgb '#D55E00'";
  return text + "\n";
}

std::string head(const std::string& name, const Layout& l) {
  return "# Draws a heat map. Run gnuplot on this file in its own folder to draw it again.\n"
         "set encoding utf8\nset terminal svg size " +
         gnuplot_number(l.width) + "," + gnuplot_number(l.height) +
         " font 'sans-serif,14' noenhanced background rgb 'white'\nset output " +
         gnuplot_string(name + ".svg") + "\nset datafile separator ','\nunset key\n";
}

std::string color_box(const Layout& l) {
  const double right = l.left + l.cell * static_cast<double>(l.columns);
  const double height = std::max(120.0, l.cell * static_cast<double>(l.rows));
  return "set colorbox user vertical origin screen " + gnuplot_number((right + 18) / l.width) +
         ", screen " + gnuplot_number(1 - (l.top + height) / l.height) + " size screen " +
         gnuplot_number(18 / l.width) + ", screen " + gnuplot_number(height / l.height) +
         "\nset cbtics scale 0 textcolor rgb '#333333'" + font(12) + "\n";
}

// Row 0 is at the top, as matrices are written; the columns' names stand above it.
std::string frame(const Layout& l, const HeatmapOptions& options) {
  const auto last = [](std::size_t n) { return static_cast<double>(n) - 0.5; };
  const std::string x = gnuplot_range(-0.5, last(l.columns));
  return "set xrange " + x + "\nset x2range " + x + "\nset yrange " +
         gnuplot_range(last(l.rows), -0.5) +
         "\nset border linecolor rgb '#888888'\nunset xtics\nset object rectangle from graph 0,0 "
         "to graph 1,1 behind fillcolor rgb '#D9D9D9' "
         "fillstyle solid noborder\n" +
         color_box(l) + tics("x2", options.column_names, l, l.column_names) +
         tics("y", options.row_names, l, l.row_names);
}

std::string csv_of(const Array& x) {
  const std::size_t columns = x.shape()[1];
  std::string text = "row,column,value\n";
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto value = static_cast<double>(x.data()[i]);
    text += std::to_string(i / columns) + "," + std::to_string(i % columns) + "," +
            (std::isnan(value) ? "nan" : gnuplot_number(value)) + "\n";
  }
  return text;
}

}  // namespace

void check_heatmap(const Array& x, const HeatmapOptions& options) {
  const Shape shape = shape_of(x);
  if (shape.size() != 2 || x.size() == 0)
    refuse("heatmap: needs a matrix with values, got x ", str(shape));
  if (!options.row_names.empty() && options.row_names.size() != shape[0])
    refuse("heatmap: ", options.row_names.size(), " row names for x ", str(shape));
  if (!options.column_names.empty() && options.column_names.size() != shape[1])
    refuse("heatmap: ", options.column_names.size(), " column names for x ", str(shape));
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
  if (range.low >= range.high) range.high = range.low + 1;
  return range;
}

Plot draw_heatmap(const std::string& folder, const std::string& name, const Array& x,
                  const HeatmapOptions& options) {
  check_heatmap(x, options);
  const std::string failure = write_text(path_in(folder, name + ".csv"), csv_of(x));
  if (!failure.empty()) return {false, failure};
  const Layout l = layout_of(x, options);
  const Range range = heatmap_range(x, options);
  return draw_with_gnuplot(folder, name,
                           head(name, l) + margins(l) + titles(l, options, shape_of(x)) +
                               palette(options) + "set cbrange " +
                               gnuplot_range(range.low, range.high) + "\n" + frame(l, options) +
                               plot_command(name + ".csv", l, range, x, options));
}

}  // namespace heed
