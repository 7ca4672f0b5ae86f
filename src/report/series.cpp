// series.cpp: the axis ranges of a plot of several series, and the position of its legend.

#include "heed/report/series.hpp"

#include <algorithm>
#include <cmath>

#include "heed/base/error.hpp"
#include "heed/base/text.hpp"

namespace HEED_NAMESPACE {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

void check(const std::vector<Series>& series) {
  for (const Series& s : series)
    if (s.x.size() != s.y.size())
      throw_error("curve: ", s.name, " has ", s.x.size(), " x and ", s.y.size(), " y values");
}

std::size_t points_before(const std::vector<Series>& series, double x) {
  std::size_t count = 0;
  for (const Series& s : series)
    for (const double point_x : s.x) count += point_x < x;
  return count;
}

// Counts samples of the curves in a rectangle, which is given in fractions of the view.
std::size_t points_inside(const std::vector<Series>& series, const PlotView& view, double x0,
                          double x1, double y0, double y1) {
  std::size_t count = 0;
  for (const Series& s : series)
    for (std::size_t i = 0; i < s.x.size(); ++i) {
      const std::size_t next = std::min(i + 1, s.x.size() - 1);
      for (double t = 0; t < 1; t += 0.03125) {  // along the line to the next point
        const double x = (s.x[i] + t * (s.x[next] - s.x[i]) - view.x.low) / view.x.span();
        const double y = (s.y[i] + t * (s.y[next] - s.y[i]) - view.y.low) / view.y.span();
        count += x >= x0 && x <= x1 && y >= y0 && y <= y1;
      }
    }
  return count;
}

}  // namespace

std::string legend(const HorizontalLine& line) { return line.name + "  " + decimal(line.value, 4); }

void Range::include(double value) {
  if (!std::isfinite(value)) return;
  low = std::min(low, value);
  high = std::max(high, value);
}

Range x_range(const std::vector<Series>& series) {
  Range range;
  for (const Series& s : series)
    for (std::size_t i = 0; i < s.x.size(); ++i)
      if (std::isfinite(s.y[i])) range.include(s.x[i]);
  return range;
}

Range y_range(const std::vector<Series>& series, double first_x) {
  Range range;
  for (const Series& s : series)
    for (std::size_t i = 0; i < s.x.size(); ++i)
      if (s.x[i] >= first_x) range.include(s.y[i]);
  return range;
}

PlotView view_of(const std::vector<Series>& series, const std::vector<HorizontalLine>& lines) {
  check(series);
  PlotView view{x_range(series), y_range(series, -infinity), 0};
  if (view.x.empty()) return view;
  const double early_end = view.x.low + 0.05 * view.x.span();
  const Range later = y_range(series, early_end);
  view.peak = view.y.high;
  if (points_before(series, early_end) >= 3 &&
      view.peak - view.y.low > 1.3 * (later.high - view.y.low))
    view.y.high = later.high;
  for (const HorizontalLine& line : lines) view.y.include(line.value);
  if (view.x.span() == 0) view.x.high += 1;
  const double margin = view.y.span() > 0 ? 0.04 * view.y.span() : 0.5;
  view.y.low -= margin;
  view.y.high += margin;
  return view;
}

std::string legend_position(const std::vector<Series>& series,
                            const std::vector<HorizontalLine>& lines, const PlotView& view,
                            double width, double height) {
  std::vector<Series> all = series;
  for (const HorizontalLine& line : lines)
    all.push_back({line.name, {view.x.low, view.x.high}, {line.value, line.value}});
  const double left = width, right = 1 - width, bottom = height, top = 1 - height;
  if (points_inside(all, view, right, 1, top, 1) == 0) return "top right";
  if (points_inside(all, view, 0, left, 0, bottom) == 0) return "bottom left";
  if (points_inside(all, view, right, 1, 0, bottom) == 0) return "bottom right";
  if (points_inside(all, view, 0, left, top, 1) == 0) return "top left";
  return "below";
}

}  // namespace HEED_NAMESPACE
