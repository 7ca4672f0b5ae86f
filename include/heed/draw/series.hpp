// series.hpp: data series, the axis ranges a plot shows, and the position of its legend.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "heed/array/precision.hpp"

namespace HEED_NAMESPACE {

// One curve of a plot. Values that are not finite are not plotted.
struct Series {
  std::string name;       // the name in the legend
  std::vector<double> x;  // the x values, such as step numbers
  std::vector<double> y;  // the y values, one for each x value
  bool points = false;    // whether to mark each point, and label the last point with its y value
  std::vector<double> error = {};  // half the height of a band around each point, or no band
  // Whether it is one of many other curves: drawn thin and grey, without a name or labels.
  bool muted = false;
  // Whether it belongs to the series before it, as a training loss to a validation loss: drawn in
  // the colour of that one, which is not muted, but thin and pale, without a name or labels.
  bool thin = false;

  bool has_name() const { return !muted && !thin; }  // whether the legend has its name

  // Adds the point (at_x, value) to the curve.
  void append(double at_x, double value) { x.push_back(at_x), y.push_back(value); }
};

// A dashed horizontal line, such as the lower bound on the loss (an entropy rate).
struct HorizontalLine {
  std::string name;  // the name in the legend
  double value;      // the y coordinate of the line
};
std::string legend(const HorizontalLine& line);  // a legend entry such as "bigram  2.1000"

// One point of a curve to mark, such as the lowest validation loss.
struct MarkedPoint {
  std::string name;  // the name in the legend
  double x, y;       // its coordinates
};

// A number in a label: decimal() or, if the value would be zero or very long, four significant
// digits, such as "1.5e-06".
std::string label_number(double value, int decimals);

// A closed interval [low, high] of numbers, at first empty.
struct Range {
  double low = std::numeric_limits<double>::infinity();    // the lower limit
  double high = -std::numeric_limits<double>::infinity();  // the upper limit
  void include(double value);                              // extends the range; ignores inf and NaN
  bool empty() const { return low > high; }                // whether no number was included yet
  // Returns whether low <= value <= high.
  bool contains(double value) const { return value >= low && value <= high; }
  double span() const { return high - low; }  // the length of the interval
  // The position of the value in the range, from 0 (low) to 1 (high). The span of a range such as
  // [-1e308, 1e308] would be infinite, so all numbers are halved first.
  double fraction(double value) const { return (value / 2 - low / 2) / (high / 2 - low / 2); }
};

// The axis ranges of a plot.
struct PlotView {
  Range x, y;   // the ranges of the two axes
  double peak;  // the largest y of the data, which may exceed y.high
  bool hides_peak() const { return peak > y.high; }  // true if the plot does not show the peak
};

// The axis ranges that show all points and lines. If the first 5 % of the x range has at least
// three points and much larger values than the rest, as training losses do, the range of y excludes
// these larger values. If any point is finite, both ranges have a positive length. Throws Error
// unless each series has as many x values as y values.
PlotView view_of(const std::vector<Series>& series, const std::vector<HorizontalLine>& lines);

// The distance between axis tics, 1, 2, 2.5 or 5 times a power of ten, for about five tics.
double tic_step(double span);

// Divides the x axis into parts of equal width. Returns a series in which one point, the mean,
// replaces all points of `series` in the same part.
Series averaged(const Series& series, const Range& x, std::size_t parts);

// The corner, such as "top right", where a legend of this width and height (fractions of the axes)
// covers no curve and no line, or "below" if there is no such corner.
std::string legend_position(const std::vector<Series>& series,
                            const std::vector<HorizontalLine>& lines, const PlotView& view,
                            double width, double height);

}  // namespace HEED_NAMESPACE
