// heatmap_script.cpp: parts of gnuplot scripts that single heat maps and sheets have in common.

#include "report/heatmap_script.hpp"

#include <algorithm>
#include <cmath>

#include "heed/base/text.hpp"
#include "heed/report/gnuplot.hpp"

namespace HEED_NAMESPACE::heatmap_script {

const char* const grey_background =
    "set object rectangle from graph 0,0 to graph 1,1 behind fillcolor rgb '#D9D9D9' fillstyle "
    "solid noborder\n";

std::string head(const std::string& name, const Canvas& canvas) {
  return "# Draws a heat map. To draw it again, run gnuplot on this file in its own folder.\n"
         "set encoding utf8\nset terminal svg size " +
         gnuplot_number(canvas.width) + "," + gnuplot_number(canvas.height) +
         " font 'sans-serif,14' noenhanced background rgb 'white'\nset output " +
         gnuplot_string(name + ".svg") + "\nset datafile separator ','\nunset key\n";
}

std::string margins(const Rectangle& panel, const Canvas& canvas) {
  const auto margin = [](const char* side, double position) {
    return std::string("set ") + side + "margin at screen " + gnuplot_number(position) + "\n";
  };
  return margin("l", panel.left / canvas.width) +
         margin("r", (panel.left + panel.width) / canvas.width) +
         margin("t", 1 - panel.top / canvas.height) +
         margin("b", 1 - (panel.top + panel.height) / canvas.height);
}

std::string at_pixel(const Canvas& canvas, double x, double y) {
  return " at screen " + gnuplot_number(x / canvas.width) + ", screen " +
         gnuplot_number(1 - y / canvas.height);
}

std::string color_box(const Rectangle& box, const Canvas& canvas) {
  return "set colorbox user vertical origin screen " + gnuplot_number(box.left / canvas.width) +
         ", screen " + gnuplot_number(1 - (box.top + box.height) / canvas.height) +
         " size screen " + gnuplot_number(box.width / canvas.width) + ", screen " +
         gnuplot_number(box.height / canvas.height) +
         "\nset cbtics scale 0 textcolor rgb '#333333'" + font(12) + "\n";
}

std::string font(double size) { return " font '," + gnuplot_number(size) + "'"; }

std::size_t longest(const std::vector<std::string>& names) {
  std::size_t length = 0;
  for (const std::string& name : names) length = std::max(length, display_width(printable(name)));
  return length;
}

// Colour-blind readers can distinguish the colours of both palettes.
std::string palette(bool diverging) {
  if (diverging)
    return "set palette defined (0 '#2166AC', 1 '#92C5DE', 2 '#F7F7F7', 3 '#F4A582', 4 "
           "'#B2500B')\n";
  return "set palette defined (0 '#F7FBFF', 1 '#C6DBEF', 2 '#6BAED6', 3 '#2171B5', 4 '#08306B')\n";
}

// gnuplot treats a tic label as a printf format, so a percent sign must be doubled.
static std::string tic_name(const std::string& name, bool show_spaces) {
  std::string text;
  for (const char c : truncated(printable(name), 24)) text += c == '%' ? "%%" : std::string(1, c);
  return name == " " && !show_spaces ? "' '" : gnuplot_string(text);
}

std::string tics(const char* axis, const std::vector<std::string>& names, const TicStyle& style) {
  std::string text = std::string("set ") + axis + "tics scale 0 textcolor rgb '#333333'" +
                     font(style.show_names ? style.font_size : 12);
  if (style.shift != 0) text += " offset 0," + gnuplot_number(-style.shift);
  if (!style.show_names) return text + (style.all_numbers ? " 1\n" : "\n");
  std::vector<std::string> entries;
  for (std::size_t i = 0; i < names.size(); ++i)
    entries.push_back(tic_name(names[i], style.show_spaces) + " " + std::to_string(i));
  return text + (style.rotated ? " rotate by 90 left (" : " (") + joined(entries, ", ") + ")\n";
}

std::string ranges(std::size_t rows, std::size_t columns) {
  const auto last = [](std::size_t n) { return static_cast<double>(n) - 0.5; };
  const std::string x = gnuplot_range(-0.5, last(columns));
  return "set xrange " + x + "\nset x2range " + x + "\nset yrange " +
         gnuplot_range(last(rows), -0.5) + "\nset border linecolor rgb '#888888'\nunset xtics\n" +
         grey_background;
}

// Values in dark cells are white.
static std::string value_color(const std::string& value, const Range& range, bool diverging) {
  const std::string fraction = "((" + value + " - " + gnuplot_number(range.low) + ") / " +
                               gnuplot_number(range.span()) + ")";
  const std::string dark = diverging ? "abs(" + fraction + " - 0.5) > 0.38" : fraction + " > 0.55";
  return "(" + dark + " ? 0xFFFFFF : 0x222222)";
}

static bool has_nan(const Array& x) {
  return std::any_of(x.data(), x.data() + x.size(), [](Real value) { return std::isnan(value); });
}

std::string plot(const Cells& cells, const Range& range, const Array& x, bool diverging) {
  const std::string row = "$" + std::to_string(cells.rows_column);
  const std::string column = std::to_string(cells.rows_column + 1);
  const std::string value_column = std::to_string(cells.rows_column + 2);
  const std::string data = gnuplot_string(cells.file) + " skip 1 " + cells.every +
                           (cells.every.empty() ? "" : " ") + "using " + column + ":";
  const std::string y = "(finite(strcol(" + value_column + ")) ? " + row + " : NaN)";
  std::string text = "finite(s) = s ne 'nan' && s ne 'inf' && s ne '-inf'\nplot " + data + y +
                     ":(0.5):(0.5):" + value_column + " with boxxyerror fillstyle solid " +
                     (cells.size >= 16 ? "border linecolor rgb 'white'" : "noborder") +
                     " fillcolor palette";
  if (cells.show_values)
    text += ", \\\n     " + data + y + ":(sprintf('%.2f', $" + value_column +
            ")):" + value_color("$" + value_column, range, diverging) + " with labels" +
            font(cells.value_size) + " textcolor rgb variable";
  if (has_nan(x))
    text += ", \\\n     " + data + "(strcol(" + value_column + ") eq 'nan' ? " + row +
            " : NaN) with points pointtype 2 linecolor rgb '#D55E00'";
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

}  // namespace HEED_NAMESPACE::heatmap_script
