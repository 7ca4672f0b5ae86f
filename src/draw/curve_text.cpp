// curve_text.cpp: curve_text plots loss curves as text, with gnuplot's dumb terminal.

#include <algorithm>
#include <cmath>

#include "draw/gnuplot.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/draw/curve.hpp"

namespace HEED_NAMESPACE {
namespace {

// Adds points to a series by linear interpolation, so that its curve in a text plot has no gaps.
Series interpolated(const Series& series, const Range& x, std::size_t columns) {
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

// Plots the horizontal lines first, so that the curves are drawn over the lines.
std::string text_plot_command(const std::vector<Series>& series,
                              const std::vector<HorizontalLine>& lines, const Range& x,
                              std::size_t columns) {
  constexpr const char* marks[] = {".", "o", "x", "+", "%", "@"};
  constexpr const char* line_marks[] = {"-", "=", "~", ":"};
  std::string blocks;
  std::vector<std::string> clauses;
  const auto add = [&](const Series& s, const std::string& mark, const std::string& title) {
    blocks += data_block(clauses.size(), s);
    clauses.push_back("$data" + std::to_string(clauses.size()) + " with points pointtype '" + mark +
                      "' title " + gnuplot_string(title));
  };
  for (std::size_t i = 0; i < lines.size(); ++i)
    add(interpolated({lines[i].name, {x.low, x.high}, {lines[i].value, lines[i].value}}, x,
                     columns),
        line_marks[i % 4], legend(lines[i]));
  for (std::size_t i = 0; i < series.size(); ++i) {
    const Series& s = series[i];
    const bool has_last_value = s.points && !s.y.empty();
    add(s, marks[i % 6], has_last_value ? legend({s.name, s.y.back()}) : s.name);
  }
  return blocks + "plot " + joined(clauses, ", ") + "\n";
}

std::string text_script(const std::vector<Series>& series, const PlotView& view,
                        const CurveOptions& options) {
  std::string script = "set encoding utf8\nset terminal dumb noenhanced size " +
                       std::to_string(options.width) + "," + std::to_string(options.height) + "\n";
  script += gnuplot_view(view);
  script += "set xlabel " + gnuplot_string(options.x_title) + "\n";
  script += "set ytics " + gnuplot_number(tic_step(view.y.span())) + "\n";
  script += "set tics nomirror scale 0\nset border 3\nset lmargin 7\nset rmargin 1\n";
  script += "set key " + legend_position(series, options.lines, view, 0.45, 0.3) + "\n";
  return script + text_plot_command(series, options.lines, view.x, 2 * options.width);
}

// Removes trailing spaces from each line of a text plot, and the empty lines before and after it.
std::string trimmed(const std::string& picture) {
  std::string text;
  for (std::string& line : lines_of(picture))
    text += line.erase(line.find_last_not_of(" \f\r") + 1) + "\n";
  text.erase(0, text.find_first_not_of('\n'));
  if (text.empty()) return "";
  return text.erase(text.find_last_not_of('\n') + 1) + "\n";
}

// Returns the axis ranges, widened by one character, because gnuplot would draw the frame over the
// points at the edge.
PlotView text_view(const std::vector<Series>& averages, const CurveOptions& options, double peak) {
  PlotView view = view_of(averages, options.lines);
  const double column = view.x.span() / static_cast<double>(options.width - 10);
  const double row = view.y.span() / static_cast<double>(options.height - 6);
  view.x.low -= column;
  view.x.high += column;
  view.y.low -= row;
  view.peak = peak;
  return view;
}

std::string text_heading(const PlotView& view, const CurveOptions& options) {
  std::string text = options.title.empty() ? "" : printable(options.title) + "\n";
  text += printable(options.y_title);
  if (view.hides_peak()) text += ", values up to " + label_number(view.peak, 2) + " not shown";
  return text + "\n";
}

}  // namespace

std::string curve_text(const std::vector<Series>& series, const CurveOptions& options) {
  check_text_size("curve", options.width, options.height);
  const PlotView full_view = view_of(series, options.lines);
  if (full_view.x.empty()) return "nothing to plot: no finite values yet\n";
  const std::size_t columns = options.width - 10;
  std::vector<Series> averages = series;
  for (Series& s : averages)
    if (!s.points) s = interpolated(averaged(s, full_view.x, columns / 2), full_view.x, columns);
  const PlotView view = text_view(averages, options, full_view.peak);
  const Plot plot = text_with_gnuplot(text_script(averages, view, options));
  return plot.ok ? text_heading(view, options) + trimmed(plot.message) : plot.message + "\n";
}

}  // namespace HEED_NAMESPACE
