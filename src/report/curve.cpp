// curve.cpp: gnuplot scripts that draw loss curves as SVG files.

#include "heed/report/curve.hpp"

#include <algorithm>
#include <cmath>

#include "heed/base/error.hpp"
#include "heed/base/text.hpp"

namespace HEED_NAMESPACE {
namespace {

// The colours of Okabe and Ito (2008), which colour-blind readers can distinguish.
std::string line_color(std::size_t i) {
  constexpr const char* colors[] = {"#56B4E9", "#009E73", "#CC79A7", "#E69F00",
                                    "#D55E00", "#0072B2", "#000000", "#882255"};
  return colors[i % 8];
}

std::string point_color(std::size_t i) {
  constexpr const char* colors[] = {"#D55E00", "#0072B2", "#000000", "#882255"};
  return colors[i % 4];
}

struct EndLabel {
  double y;
  std::string text, color;
};

bool is_single_point(const Series& series) { return series.points && series.x.size() == 1; }

// A single point has its value in the legend, because it is not at the right edge of the plot.
std::string legend_of(const Series& series) {
  return is_single_point(series) ? legend(HorizontalLine{series.name, series.y[0]}) : series.name;
}

// The last values of the series with `points`, moved apart where they would overlap.
std::vector<EndLabel> end_labels(const std::vector<Series>& series, const PlotView& view) {
  std::vector<EndLabel> labels;
  std::size_t color = 0;
  for (const Series& s : series) {
    if (!s.points) continue;
    const std::string label_color = point_color(color++);
    if (!s.y.empty() && std::isfinite(s.y.back()) && !is_single_point(s))
      labels.push_back({s.y.back(), decimal(s.y.back(), 4), label_color});
  }
  std::sort(labels.begin(), labels.end(),
            [](const EndLabel& a, const EndLabel& b) { return a.y < b.y; });
  for (std::size_t i = 1; i < labels.size(); ++i)
    labels[i].y = std::max(labels[i].y, labels[i - 1].y + 0.045 * view.y.span());
  return labels;
}

std::string label_lines(const std::vector<Series>& series, const PlotView& view) {
  std::string text;
  for (const EndLabel& label : end_labels(series, view))
    text += "set label " + gnuplot_string(label.text) + " at graph 1, first " +
            gnuplot_number(label.y) + " left offset 0.8,0 font ',14' textcolor rgb '" +
            label.color + "'\n";
  if (view.hides_peak())
    text += "set label " + gnuplot_string("up to " + decimal(view.peak, 2) + " ↑") +
            " at graph 0, graph 1.035 left font ',12' textcolor rgb '#666666'\n";
  return text;
}

// One curve of the plot command. Columns are counted from 1, as in gnuplot.
std::string plot_clause(const std::string& file, std::size_t x_column, std::size_t column,
                        const Series& series, const std::string& color) {
  const bool single = series.x.size() == 1;  // drawn as a mark: one point makes no line
  const std::string points =
      "linespoints linewidth 2 pointtype 7 pointsize " + std::string(single ? "1.1" : "0.7");
  const std::string style = series.points || single ? points : "lines linewidth 1.2";
  return gnuplot_string(file) + " skip 1 using " + std::to_string(x_column) + ":" +
         std::to_string(column) + " with " + style + " linecolor rgb '" + color + "' title " +
         gnuplot_string(legend_of(series));
}

std::string plot_command(const CurveFile& file, const std::vector<Series>& series,
                         const std::vector<HorizontalLine>& lines) {
  std::vector<std::string> clauses;
  std::size_t line_colors = 0, point_colors = 0;
  for (std::size_t i = 0; i < series.size(); ++i) {
    const std::string color =
        series[i].points ? point_color(point_colors++) : line_color(line_colors++);
    clauses.push_back(
        plot_clause(file.name, file.x_column + 1, file.y_columns[i] + 1, series[i], color));
  }
  for (std::size_t i = 0; i < lines.size(); ++i)
    clauses.push_back(gnuplot_number(lines[i].value) + " with lines linewidth 1.5 dashtype " +
                      std::to_string(2 + i % 4) + " linecolor rgb '#555555' title " +
                      gnuplot_string(legend(lines[i])));
  return "plot " + joined(clauses, ", \\\n     ") + "\n";
}

std::string head(const std::string& name, const CurveOptions& options) {
  std::string text =
      "# Draws curves. To draw them again, run gnuplot on this file in its own folder.\n"
      "set encoding utf8\n"
      "set terminal svg size 900,540 font 'sans-serif,14' noenhanced background rgb 'white'\n"
      "set datafile separator ','\n";
  text += "set output " + gnuplot_string(name + ".svg") + "\n";
  if (!options.title.empty())
    text += "set title " + gnuplot_string(options.title) + " font ',17' offset 0,-0.3\n";
  text += "set xlabel " + gnuplot_string(options.x_title) + "\n";
  return text + "set ylabel " + gnuplot_string(options.y_title) + "\n";
}

std::string frame(const PlotView& view) {
  return "set xrange " + gnuplot_range(view.x.low, view.x.high) + "\nset yrange " +
         gnuplot_range(view.y.low, view.y.high) +
         "\n"
         "set border 3 linecolor rgb '#888888'\n"
         "set tics nomirror out scale 0.6 textcolor rgb '#333333'\n"
         "set grid linetype 1 linewidth 0.8 linecolor rgb '#E4E4E4'\n"
         "set rmargin 9\n";
}

std::string svg_script(const std::string& name, const CurveFile& file,
                       const std::vector<Series>& series, const CurveOptions& options) {
  const PlotView view = view_of(series, options.lines);
  const auto rows = static_cast<double>(series.size() + options.lines.size());
  const std::string key = legend_position(series, options.lines, view, 0.3, 0.04 + 0.06 * rows);
  return head(name, options) + frame(view) + "set key " + key +
         " Left reverse samplen 2.5 spacing 1.25 width 1 height 0.4\n" + label_lines(series, view) +
         plot_command(file, series, options.lines);
}

// One row for each point of each series: "x,training,validation", "10,3.9,", "250,,2.4".
std::string csv_of(const std::vector<Series>& series) {
  std::string text = "x";
  for (const Series& s : series) text += "," + printable(s.name);
  text += "\n";
  for (std::size_t k = 0; k < series.size(); ++k)
    for (std::size_t i = 0; i < series[k].x.size(); ++i)
      if (std::isfinite(series[k].y[i]))
        text += gnuplot_number(series[k].x[i]) + std::string(k + 1, ',') +
                gnuplot_number(series[k].y[i]) + std::string(series.size() - 1 - k, ',') + "\n";
  return text;
}

}  // namespace

Plot draw_curve(const std::string& folder, const std::string& name,
                const std::vector<Series>& series, const CurveOptions& options) {
  if (view_of(series, {}).x.empty()) return {false, "nothing to draw: no finite values yet"};
  CurveFile file{name + ".csv", 0, {}};
  for (std::size_t i = 0; i < series.size(); ++i) file.y_columns.push_back(i + 1);
  const std::string failure = write_text(path_in(folder, file.name), csv_of(series));
  if (!failure.empty()) return {false, failure};
  return draw_with_gnuplot(folder, name, svg_script(name, file, series, options));
}

Plot draw_curve_of_file(const std::string& folder, const std::string& name, const CurveFile& file,
                        const std::vector<Series>& series, const CurveOptions& options) {
  if (x_range(series).empty()) return {false, path_in(folder, file.name) + ": no losses yet"};
  return draw_with_gnuplot(folder, name, svg_script(name, file, series, options));
}

}  // namespace HEED_NAMESPACE
