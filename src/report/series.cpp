// series.cpp: ranges that show the interesting part, and a legend that hides none of it.

#include "heed/report/series.hpp"

#include <algorithm>
#include <cmath>

#include "heed/base/error.hpp"
#include "heed/base/text.hpp"

namespace heed {
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
    for (const double each : s.x) count += each < x;
  return count;
}

// How much of the curves lies in the part of the picture from (x0, y0) to (x1, y1), as fractions.
std::size_t points_inside(const std::vector<Series>& series, const View& view, double x0, double x1,
                          double y0, double y1) {
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

std::string legend(const HorizontalLine& level) {
  return level.name + "  " + decimal(level.value, 4);
}

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

View view_of(const std::vector<Series>& series, const std::vector<HorizontalLine>& levels) {
  check(series);
  View view{x_range(series), y_range(series, -infinity), 0};
  if (view.x.empty()) return view;
  const double twentieth = view.x.low + 0.05 * view.x.span();
  const Range later = y_range(series, twentieth);
  view.top = view.y.high;
  if (points_before(series, twentieth) >= 3 &&
      view.top - view.y.low > 1.3 * (later.high - view.y.low))
    view.y.high = later.high;
  for (const HorizontalLine& level : levels) view.y.include(level.value);
  if (view.x.span() == 0) view.x.high += 1;
  const double margin = view.y.span() > 0 ? 0.04 * view.y.span() : 0.5;
  view.y.low -= margin;
  view.y.high += margin;
  return view;
}

std::string legend_position(const std::vector<Series>& series,
                            const std::vector<HorizontalLine>& levels, const View& view,
                            double width, double height) {
  std::vector<Series> all = series;
  for (const HorizontalLine& level : levels)
    all.push_back({level.name, {view.x.low, view.x.high}, {level.value, level.value}});
  const double left = width, right = 1 - width, bottom = height, top = 1 - height;
  if (points_inside(all, view, right, 1, top, 1) == 0) return "top right";
  if (points_inside(all, view, 0, left, 0, bottom) == 0) return "bottom left";
  if (points_inside(all, view, right, 1, 0, bottom) == 0) return "bottom right";
  if (points_inside(all, view, 0, left, top, 1) == 0) return "top left";
  return "below";
}

}  // namespace heed
