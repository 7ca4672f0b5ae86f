// series.hpp: data series, the axis ranges a plot shows, and the position of its legend.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "heed/array/precision.hpp"

namespace HEED_NAMESPACE {

// One curve. Values that are not finite are not plotted.
struct Series {
  std::string name;       // shown in the legend
  std::vector<double> x;  // such as steps
  std::vector<double> y;  // has as many values as x
  bool points = false;    // mark each point, and label the last point with its y value

  // Adds a point.
  void append(double at_x, double value) { x.push_back(at_x), y.push_back(value); }
};

// A dashed horizontal line, such as the lower bound on the loss (an entropy rate).
struct HorizontalLine {
  std::string name;  // shown in the legend
  double value;      // the line's y
};
std::string legend(const HorizontalLine& line);  // "bigram  2.1000"

// A closed interval [low, high] of numbers, at first empty.
struct Range {
  double low = std::numeric_limits<double>::infinity();    // the lower limit
  double high = -std::numeric_limits<double>::infinity();  // the upper limit
  void include(double value);                              // ignores infinities and NaN
  bool empty() const { return low > high; }                // true until a number is included
  // Whether low <= value <= high.
  bool contains(double value) const { return value >= low && value <= high; }
  double span() const { return high - low; }  // the length
  // Where the value lies between low (0) and high (1).
  double fraction(double value) const { return (value - low) / span(); }
};

// The axis ranges of a plot.
struct PlotView {
  Range x, y;   // the ranges of the two axes
  double peak;  // the largest y of the data, which may exceed y.high
  bool hides_peak() const { return peak > y.high; }  // the largest y is not shown
};

// The axis ranges that show all points and lines. If the first 5 % of the x range has at least
// three points and much larger values than the rest, as training losses do, the range of y excludes
// these larger values. If any point is finite, both ranges have a positive length. Throws Error
// when a series has different numbers of x and y values.
PlotView view_of(const std::vector<Series>& series, const std::vector<HorizontalLine>& lines);

// The corner ("top right", ...) where a legend of this width and height (axes fractions) covers no
// curve and no line, or "below" if there is no such corner.
std::string legend_position(const std::vector<Series>& series,
                            const std::vector<HorizontalLine>& lines, const PlotView& view,
                            double width, double height);

}  // namespace HEED_NAMESPACE
