// gnuplot.cpp: formats strings, numbers, ranges and pixel positions for gnuplot scripts.

#include "draw/gnuplot.hpp"

#include <algorithm>
#include <locale>
#include <sstream>

#include "heed/base/text.hpp"

namespace HEED_NAMESPACE {

// In single quotes, gnuplot replaces nothing but '', which it does not know at the beginning. So
// apostrophes at the beginning stand in double quotes: "'" . 's' is the text 's.
std::string gnuplot_string(std::string_view text) {
  if (const std::size_t count = std::min(text.find_first_not_of('\''), text.size()); count > 0) {
    const std::string apostrophes = '"' + std::string(count, '\'') + '"';
    return count == text.size() ? apostrophes
                                : apostrophes + " . " + gnuplot_string(text.substr(count));
  }
  std::string quoted = "'";
  for (const char c : text == " " ? std::string(text) : printable(text)) {
    if (c == '>' && quoted.size() > 2 && quoted.compare(quoted.size() - 2, 2, "]]") == 0)
      quoted += ' ';
    quoted += c == '\'' ? "''" : std::string(1, c);
  }
  return quoted + "'";
}

std::string gnuplot_number(double value) {
  if (value != value) return "NaN";
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out.precision(9);
  out << value;
  return out.str();
}

std::string gnuplot_range(const Range& range) {
  return "[" + gnuplot_number(range.low) + ":" + gnuplot_number(range.high) + "]";
}

std::string gnuplot_view(const PlotView& view) {
  return "set xrange " + gnuplot_range(view.x) + "\nset yrange " + gnuplot_range(view.y) + "\n";
}

std::string Canvas::head(const std::string& drawing) const {
  return "# Draws " + drawing + " again, run gnuplot on this file in its own folder.\n" +
         "set encoding utf8\nset terminal svg size " + gnuplot_number(width) + "," +
         gnuplot_number(height) + " font 'sans-serif,14' noenhanced background rgb 'white'\n";
}

std::string Canvas::at(double x, double y) const {
  return " at screen " + gnuplot_number(x / width) + ", screen " + gnuplot_number(1 - y / height);
}

std::string Canvas::label(const std::string& text, double x, double y,
                          const std::string& style) const {
  return "set label " + gnuplot_string(text) + at(x, y) + style + "\n";
}

std::string Canvas::margins(const Rectangle& plot) const {
  const auto margin = [](const std::string& side, double position) {
    return "set " + side + "margin at screen " + gnuplot_number(position) + "\n";
  };
  return margin("l", plot.left / width) + margin("r", (plot.left + plot.width) / width) +
         margin("t", 1 - plot.top / height) + margin("b", 1 - (plot.top + plot.height) / height);
}

}  // namespace HEED_NAMESPACE
