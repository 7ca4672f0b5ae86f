// gnuplot.hpp: formats strings, numbers, ranges and pixel positions for gnuplot scripts.
#pragma once

#include <string>
#include <string_view>

#include "heed/draw/series.hpp"

namespace HEED_NAMESPACE {

// The text in single quotes, inside which gnuplot does not interpret backslashes. Single quotes in
// the text are doubled, and control characters are replaced by escape sequences. "]]>" becomes
// "]] >", because gnuplot writes it unescaped into SVG files, where XML forbids it.
std::string gnuplot_string(std::string_view text);
std::string gnuplot_number(double value);        // a number such as "1.5", "-2e-07" or "NaN"
std::string gnuplot_range(const Range& range);   // a range such as "[0:2000]"
std::string gnuplot_view(const PlotView& view);  // commands that set xrange and yrange

// A part of a Canvas, in pixels from its top left corner.
struct Rectangle {
  double left, top, width, height;  // position of the top left corner, and size
};

// An SVG image. Sizes and positions are in pixels. Positions are measured from the top left corner.
struct Canvas {
  double width, height;  // the size of the image

  // The first lines of a gnuplot script that writes an SVG file: a comment that says what the
  // script plots (`drawing`) and how to run it again, and the terminal settings.
  std::string head(const std::string& drawing) const;

  std::string at(double x, double y) const;  // a position such as " at screen 0.5, screen 0.96"
  // The command `set label` for a text at a position, with a style such as "center".
  std::string label(const std::string& text, double x, double y, const std::string& style) const;
  std::string margins(const Rectangle& plot) const;  // commands that place the plot
};

}  // namespace HEED_NAMESPACE
