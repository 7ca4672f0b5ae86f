// series.hpp: what a plot shows, the part of the plane it shows it in, and where a legend fits.
#pragma once

#include <limits>
#include <string>
#include <vector>

namespace heed {

// One curve. A value that is not a finite number leaves no point.
struct Series {
  std::string name;
  std::vector<double> x;
  std::vector<double> y;  // as many as x
  bool points = false;    // few and precise, like validation losses: each is marked, and the last
                          // one's value is written out

  void append(double at_x, double value) { x.push_back(at_x), y.push_back(value); }
};

// A dashed horizontal line, such as the entropy that no loss can get below.
struct HorizontalLine {
  std::string name;
  double value;
};
std::string legend(const HorizontalLine& level);  // "bigram  2.1000"

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void include(double value);  // infinities and NaN are passed over
  bool empty() const { return low > high; }
  double span() const { return high - low; }
};

Range x_range(const std::vector<Series>& series);  // of the finite points; empty without any
Range y_range(const std::vector<Series>& series, double first_x);  // of those from first_x on

struct View {
  Range x, y;
  double top;  // the highest value, be it inside or above the view
  bool hides_top() const { return top > y.high; }
};

// Everything; but when the first twentieth of the curves (of some points) is much higher than the
// rest, as losses are, the rest alone, lest it be flattened. Levels are always inside. The spans
// are positive when there is a finite point. Throws Error when a series has not as many x as y.
View view_of(const std::vector<Series>& series, const std::vector<HorizontalLine>& levels);

// The corner, "top right" say, in which a legend of this size (fractions of the view) covers no
// curve and no level; "below" when there is none.
std::string legend_position(const std::vector<Series>& series,
                            const std::vector<HorizontalLine>& levels, const View& view,
                            double width, double height);

}  // namespace heed
