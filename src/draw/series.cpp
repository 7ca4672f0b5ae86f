// series.cpp: the axis ranges of a plot of several series, and the position of its legend.

#include "heed/draw/series.hpp"

#include <algorithm>
#include <cmath>

#include "heed/base/error.hpp"
#include "heed/base/text.hpp"

namespace HEED_NAMESPACE {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// The range of x of all points, and the range of y of the points with x >= first_x. Both ranges are
// empty if no point is finite.
PlotView ranges(const std::vector<Series>& series, double first_x) {
  PlotView view{};
  for (const Series& s : series)
    for (std::size_t i = 0; i < s.x.size(); ++i) {
      if (std::isfinite(s.y[i])) view.x.include(s.x[i]);
      if (s.x[i] < first_x) continue;
      view.y.include(s.y[i]);
      if (s.error.empty()) continue;
      view.y.include(s.y[i] - s.error[i]);
      view.y.include(s.y[i] + s.error[i]);
    }
  return view;
}

// True if a curve passes through the rectangle `width` x `height`, given in axes fractions.
bool covers_curve(const std::vector<Series>& series, const PlotView& view, const Range& width,
                  const Range& height) {
  for (const Series& s : series)
    for (std::size_t i = 0; i < s.x.size(); ++i) {
      const std::size_t next = std::min(i + 1, s.x.size() - 1);
      for (double t = 0; t < 1; t += 0.03125) {  // 32 steps along the line from point i to `next`
        const double x = view.x.fraction(s.x[i] + t * (s.x[next] - s.x[i]));
        const double y = view.y.fraction(s.y[i] + t * (s.y[next] - s.y[i]));
        if (width.contains(x) && height.contains(y)) return true;
      }
    }
  return false;
}

void check_sizes(const std::vector<Series>& series) {
  for (const Series& s : series)
    if (s.x.size() != s.y.size())
      throw_error("curve: series ", in_quotes(s.name), " has ", s.x.size(), " x and ", s.y.size(),
                  " y values; give one y for each x");
  for (const Series& s : series)
    if (!s.error.empty() && s.error.size() != s.x.size())
      throw_error("curve: series ", in_quotes(s.name), " has ", s.x.size(), " points and ",
                  s.error.size(), " errors; give one for each point, or none");
  for (std::size_t i = 0; i < series.size(); ++i)
    if (series[i].thin && (i == 0 || series[i - 1].muted))
      throw_error("curve: series ", in_quotes(series[i].name),
                  " is thin, and no series with a colour is before it; put it after one");
}

}  // namespace

std::string label_number(double value, int decimals) {
  const std::string text = decimal(value, decimals);
  const bool is_zero = text.find_first_not_of("0.") == text.npos;
  return (is_zero && value != 0) || std::abs(value) >= 1e8 ? significant(value, 4) : text;
}

std::string legend(const HorizontalLine& line) {
  return line.name + "  " + label_number(line.value, 4);
}

void Range::include(double value) {
  if (!std::isfinite(value)) return;
  low = std::min(low, value);
  high = std::max(high, value);
}

PlotView view_of(const std::vector<Series>& series, const std::vector<HorizontalLine>& lines) {
  check_sizes(series);
  PlotView view = ranges(series, -infinity);
  if (view.x.empty()) return view;
  const double early_end = view.x.low + 0.05 * view.x.span();
  const Range later = ranges(series, early_end).y;
  view.peak = view.y.high;
  std::ptrdiff_t early_points = 0;
  for (const Series& s : series)
    early_points += std::count_if(s.x.begin(), s.x.end(), [&](double x) { return x < early_end; });
  if (early_points >= 3 && view.peak - view.y.low > 1.3 * (later.high - view.y.low))
    view.y.high = later.high;
  for (const HorizontalLine& line : lines) view.y.include(line.value);
  if (view.x.span() == 0) view.x.high += 1;
  const double margin = view.y.span() > 0 ? 0.04 * view.y.span() : 0.5;
  view.y.low -= margin;
  view.y.high += margin;
  return view;
}

double tic_step(double span) {
  const double power = std::pow(10.0, std::floor(std::log10(span / 5)));
  for (const double step : {1.0, 2.0, 2.5, 5.0})
    if (step * power >= span / 5) return step * power;
  return 10 * power;
}

Series averaged(const Series& series, const Range& x, std::size_t parts) {
  struct Sum {
    double x = 0, y = 0, n = 0;
  };
  std::vector<Sum> sums(parts);
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    if (!std::isfinite(series.x[i]) || !std::isfinite(series.y[i])) continue;
    const double position = x.fraction(series.x[i]) * static_cast<double>(parts);
    Sum& sum = sums[std::min(parts - 1, static_cast<std::size_t>(position))];
    sum.x += series.x[i], sum.y += series.y[i], ++sum.n;
  }
  Series result{series.name, {}, {}};
  for (const Sum& sum : sums)
    if (sum.n > 0) result.append(sum.x / sum.n, sum.y / sum.n);
  return result;
}

std::string legend_position(const std::vector<Series>& series,
                            const std::vector<HorizontalLine>& lines, const PlotView& view,
                            double width, double height) {
  check_sizes(series);
  std::vector<Series> all = series;
  for (const HorizontalLine& line : lines)
    all.push_back({line.name, {view.x.low, view.x.high}, {line.value, line.value}});
  const Range left{0, width}, right{1 - width, 1}, bottom{0, height}, top{1 - height, 1};
  if (!covers_curve(all, view, right, top)) return "top right";
  if (!covers_curve(all, view, left, bottom)) return "bottom left";
  if (!covers_curve(all, view, right, bottom)) return "bottom right";
  if (!covers_curve(all, view, left, top)) return "top left";
  return "below";
}

}  // namespace HEED_NAMESPACE
