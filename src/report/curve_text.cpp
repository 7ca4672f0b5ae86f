// curve_text.cpp: loss curves as text: one dot a column for lines, one letter for each point.

#include <algorithm>
#include <cmath>
#include <sstream>

#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/report/curve.hpp"

namespace heed {
namespace {

// The mean of the points that fall into each part of the axis: a line that can be followed.
Series averaged(const Series& series, const Range& x, std::size_t parts) {
  struct Sum {
    double x = 0, y = 0, n = 0;
  };
  std::vector<Sum> sums(parts);
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    if (!std::isfinite(series.x[i]) || !std::isfinite(series.y[i])) continue;
    const double place = (series.x[i] - x.low) / x.span() * static_cast<double>(parts);
    Sum& sum = sums[std::min(parts - 1, static_cast<std::size_t>(place))];
    sum.x += series.x[i], sum.y += series.y[i], ++sum.n;
  }
  Series result{series.name, {}, {}};
  for (const Sum& sum : sums)
    if (sum.n > 0) result.append(sum.x / sum.n, sum.y / sum.n);
  return result;
}

// With points along the straight lines between the points, so that no column of text stays empty.
Series without_gaps(const Series& series, const Range& x, std::size_t columns) {
  Series result{series.name, {}, {}};
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    const std::size_t next = std::min(i + 1, series.x.size() - 1);
    const double step = series.x[next] - series.x[i], rise = series.y[next] - series.y[i];
    const double parts =
        std::max(1.0, 2 * std::abs(step) / x.span() * static_cast<double>(columns));
    for (double k = 0; k < parts; ++k)
      result.append(series.x[i] + k / parts * step, series.y[i] + k / parts * rise);
  }
  return result;
}

std::string data_block(std::size_t number, const Series& series) {
  std::string text = "$data" + std::to_string(number) + " << END\n";
  for (std::size_t i = 0; i < series.x.size(); ++i)
    text += gnuplot_number(series.x[i]) + " " + gnuplot_number(series.y[i]) + "\n";
  return text + "END\n";
}

std::string with_last_value(const Series& series) {
  if (!series.points || series.y.empty()) return gnuplot_string(series.name);
  return gnuplot_string(series.name + "  " + decimal(series.y.back(), 4));
}

// A level as a row of marks, one for each column of text.
Series as_row(const HorizontalLine& level, const Range& x, std::size_t columns) {
  Series row{level.name, {}, {}};
  for (std::size_t i = 0; i < columns; ++i) {
    const double t = static_cast<double>(i) / static_cast<double>(columns - 1);
    row.append(x.low + t * x.span(), level.value);
  }
  return row;
}

// About five steps of 1, 2, 2.5 or 5 times a power of ten.
double tic_step(double span) {
  const double ten = std::pow(10.0, std::floor(std::log10(span / 5)));
  for (const double step : {1.0, 2.0, 2.5, 5.0})
    if (step * ten >= span / 5) return step * ten;
  return 10 * ten;
}

// Levels come first: where curves cross them, the curves are what is seen.
std::string text_plot_command(const std::vector<Series>& series,
                              const std::vector<HorizontalLine>& levels, const Range& x,
                              std::size_t columns) {
  constexpr const char* marks[] = {".", "o", "x", "+", "%", "@"};
  constexpr const char* level_marks[] = {"-", "=", "~", ":"};
  std::string blocks, command = "plot ";
  std::size_t number = 0;
  const auto add = [&](const Series& s, const std::string& mark, const std::string& title) {
    blocks += data_block(number, s);
    command += (number == 0 ? "$data" : ", $data") + std::to_string(number) +
               " with points pointtype '" + mark + "' title " + title;
    ++number;
  };
  for (std::size_t i = 0; i < levels.size(); ++i)
    add(as_row(levels[i], x, columns), level_marks[i % 4], gnuplot_string(legend(levels[i])));
  for (std::size_t i = 0; i < series.size(); ++i)
    add(series[i], marks[i % 6], with_last_value(series[i]));
  return blocks + command + "\n";
}

std::string text_script(const std::vector<Series>& series, const View& view,
                        const CurveOptions& options) {
  std::string script = "set encoding utf8\nset terminal dumb noenhanced size " +
                       std::to_string(options.width) + "," + std::to_string(options.height) + "\n";
  script += "set xrange " + gnuplot_range(view.x.low, view.x.high) + "\n";
  script += "set yrange " + gnuplot_range(view.y.low, view.y.high) + "\n";
  script += "set xlabel " + gnuplot_string(options.x_title) + "\n";
  script += "set ytics " + gnuplot_number(tic_step(view.y.span())) + "\n";
  script += "set tics nomirror scale 0\nset border 3\nset lmargin 7\nset rmargin 1\n";
  script += "set key " + legend_position(series, options.levels, view, 0.45, 0.3) + "\n";
  return script + text_plot_command(series, options.levels, view.x, 2 * options.width);
}

// Without the spaces that end the lines and the empty lines around the picture.
std::string trimmed(const std::string& picture) {
  std::istringstream in(picture);
  std::string text, line, empty_lines;
  while (std::getline(in, line)) {
    line.erase(line.find_last_not_of(" \f\r") + 1);
    if (line.empty()) {
      empty_lines += text.empty() ? "" : "\n";
      continue;
    }
    text += empty_lines + line + "\n";
    empty_lines.clear();
  }
  return text;
}

std::vector<Series> smoothed(std::vector<Series> series, std::size_t columns) {
  const Range x = view_of(series, {}).x;
  for (Series& s : series)
    if (!s.points) s = without_gaps(averaged(s, x, columns / 2), x, columns);
  return series;
}

// The frame is drawn over what touches it: one character of room on each side.
View text_view(const std::vector<Series>& averages, const CurveOptions& options, double top) {
  View view = view_of(averages, options.levels);
  const double column = view.x.span() / static_cast<double>(options.width - 10);
  const double row = view.y.span() / static_cast<double>(options.height - 6);
  view.x.low -= column;
  view.x.high += column;
  view.y.low -= row;
  view.top = top;
  return view;
}

std::string text_heading(const View& view, const CurveOptions& options) {
  std::string text = options.title.empty() ? "" : printable(options.title) + "\n";
  text += options.y_title;
  if (view.hides_top()) text += ", from " + decimal(view.top, 2) + " above the picture";
  return text + "\n";
}

}  // namespace

std::string curve_text(const std::vector<Series>& series, const CurveOptions& options) {
  if (options.width < 40 || options.height < 10)
    throw_error("curve: a text needs at least 40 x 10 characters, got ", options.width, " x ",
                options.height);
  const View whole = view_of(series, options.levels);
  if (whole.x.empty()) return "nothing to draw: no finite values yet\n";
  const std::vector<Series> drawn = smoothed(series, options.width - 10);
  const View view = text_view(drawn, options, whole.top);
  const Plot plot = text_with_gnuplot(text_script(drawn, view, options));
  return plot.ok ? text_heading(view, options) + trimmed(plot.message) : plot.message + "\n";
}

}  // namespace heed
