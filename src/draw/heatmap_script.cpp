// heatmap_script.cpp: the parts of gnuplot scripts that plot heat maps.

#include "draw/heatmap_script.hpp"

#include <algorithm>
#include <cmath>

#include "heed/base/text.hpp"

namespace HEED_NAMESPACE {

std::size_t longer_side(const Array& x) { return std::max(x.shape()[0], x.shape()[1]); }

bool is_small(const Array& x) { return longer_side(x) <= 12; }

std::string font(double size) { return " font '," + gnuplot_number(size) + "'"; }

double characters_of(const std::vector<std::string>& names) {
  std::size_t longest = 0;
  for (const std::string& name : names) longest = std::max(longest, display_width(printable(name)));
  return static_cast<double>(std::min<std::size_t>(24, longest));
}

std::string palette(const Range& range, bool diverging) {
  const std::string colors =
      diverging ? "0 '#2166AC', 1 '#92C5DE', 2 '#F7F7F7', 3 '#F4A582', 4 '#B2500B'"
                : "0 '#F7FBFF', 1 '#C6DBEF', 2 '#6BAED6', 3 '#2171B5', 4 '#08306B'";
  return "set palette defined (" + colors + ")\nset cbrange " + gnuplot_range(range) + "\n";
}

std::string cell_ranges(const Array& x) {
  const std::string columns = gnuplot_range({-0.5, static_cast<double>(x.shape()[1]) - 0.5});
  const std::string rows = gnuplot_range({static_cast<double>(x.shape()[0]) - 0.5, -0.5});
  return "set xrange " + columns + "\nset x2range " + columns + "\nset yrange " + rows +
         "\nset border linecolor rgb '#888888'\nunset xtics\n"
         "set object rectangle from graph 0,0 to graph 1,1 behind fillcolor rgb '#D9D9D9' "
         "fillstyle solid noborder\n";
}

std::string color_box(const Canvas& canvas, double left, double top, double height) {
  return "set colorbox user vertical origin screen " + gnuplot_number(left / canvas.width) +
         ", screen " + gnuplot_number(1 - (top + height) / canvas.height) + " size screen " +
         gnuplot_number(18 / canvas.width) + ", screen " + gnuplot_number(height / canvas.height) +
         "\nset cbtics scale 0 textcolor rgb '#333333'" + font(12) + "\n";
}

// gnuplot treats a tic label as a printf format, so a percent sign must be doubled.
static std::string tic_name(const std::string& name) {
  if (name == " ") return "' '";
  std::string text;
  for (const char c : truncated(printable(name), 24)) text += c == '%' ? "%%" : std::string(1, c);
  return gnuplot_string(text);
}

std::string tics(const std::string& axis, const std::vector<std::string>& names, double name_size,
                 bool all_indices, const std::string& style) {
  const std::string text = "set " + axis + "tics scale 0 textcolor rgb '#333333'" +
                           font(names.empty() ? 12 : name_size) + style;
  if (names.empty()) return text + (all_indices ? " 1\n" : "\n");
  std::vector<std::string> entries;
  for (std::size_t i = 0; i < names.size(); ++i)
    entries.push_back(tic_name(names[i]) + " " + std::to_string(i));
  return text + " (" + joined(entries, ", ") + ")\n";
}

// A gnuplot expression for the text colour of a value: white in dark cells, otherwise dark grey.
static std::string value_color(const std::string& value, const Range& range, bool diverging) {
  const std::string fraction = "((" + value + " - " + gnuplot_number(range.low) + ") / " +
                               gnuplot_number(range.span()) + ")";
  const std::string dark = diverging ? "abs(" + fraction + " - 0.5) > 0.38" : fraction + " > 0.55";
  return "(" + dark + " ? 0xFFFFFF : 0x222222)";
}

// The format of the values in the cells: two decimals or, if all values would be zero or one would
// be wider than its cell, two significant digits.
static std::string value_format(const Array& x) {
  double largest = 0;
  for (const Real value : x)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(static_cast<double>(value)));
  return largest == 0 || (largest >= 0.01 && largest < 1e5) ? "%.2f" : "%.2g";
}

std::string plot_command(const Cells& cells, const Range& range, const Array& x, bool diverging) {
  const std::string row = "$" + std::to_string(cells.rows_column);
  const std::string value_column = std::to_string(cells.rows_column + 2);
  const std::string data = cells.file + " using " + std::to_string(cells.rows_column + 1) + ":";
  const std::string y = "(finite(strcol(" + value_column + ")) ? " + row + " : NaN)";
  std::string text = "finite(s) = s ne 'nan' && s ne 'inf' && s ne '-inf'\nplot " + data + y +
                     ":(0.5):(0.5):" + value_column + " with boxxyerror fillstyle solid " +
                     (cells.size >= 16 ? "border linecolor rgb 'white'" : "noborder") +
                     " fillcolor palette";
  if (cells.value_size > 0)
    text += ", \\\n     " + data + y + ":(sprintf('" + value_format(x) + "', $" + value_column +
            ")):" + value_color("$" + value_column, range, diverging) + " with labels" +
            font(cells.value_size) + " textcolor rgb variable";
  const auto mark = [&](const std::string& value, const std::string& point_type) {
    text += ", \\\n     " + data + "(strcol(" + value_column + ") eq '" + value + "' ? " + row +
            " : NaN) with points pointtype " + point_type + " linecolor rgb '#D55E00'";
  };
  if (xt::any(xt::isnan(x))) mark("nan", "2");
  if (xt::any(xt::isinf(x) && x > 0)) mark("inf", "8");
  return text + "\n";
}

std::string csv_lines(const Array& x, const std::string& prefix) {
  const std::size_t columns = x.shape()[1];
  std::string text;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto value = static_cast<double>(x.data()[i]);
    text += prefix + std::to_string(i / columns) + "," + std::to_string(i % columns) + "," +
            (std::isnan(value) ? "nan" : gnuplot_number(value)) + "\n";
  }
  return text;
}

}  // namespace HEED_NAMESPACE
