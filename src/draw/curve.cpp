// curve.cpp: gnuplot scripts that plot loss curves as SVG files.

#include "heed/draw/curve.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "draw/gnuplot.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"

namespace HEED_NAMESPACE {
namespace {

// Returns a colour for each series, based on the palette of Okabe and Ito (2008), whose colours
// colour-blind readers can distinguish. Series whose `points` is true use a separate list.
std::vector<std::string> colors_of(const std::vector<Series>& series) {
  constexpr const char* line_colors[] = {"#56B4E9", "#009E73", "#CC79A7", "#E69F00",
                                         "#D55E00", "#0072B2", "#000000", "#882255"};
  constexpr const char* point_colors[] = {"#D55E00", "#0072B2", "#000000", "#882255",
                                          "#009E73", "#CC79A7", "#E69F00", "#56B4E9"};
  std::vector<std::string> colors;
  std::size_t lines = 0, points = 0;
  for (const Series& s : series)
    colors.emplace_back(s.muted    ? "#BBBBBB"
                        : s.thin   ? colors.back()
                        : s.points ? point_colors[points++ % 8]
                                   : line_colors[lines++ % 8]);
  return colors;
}

bool is_single_point(const Series& series) { return series.points && series.x.size() == 1; }

// Returns the legend text of a series: its name. For a series of one marked point, the text has
// the y value too, because end_labels() writes no label for such a series.
std::string legend_of(const Series& series) {
  return is_single_point(series) ? legend(HorizontalLine{series.name, series.y[0]}) : series.name;
}

// Returns gnuplot commands for labels at the right edge, which show the last value of each series
// whose `points` is true. Labels that would overlap are moved apart.
std::string end_labels(const std::vector<Series>& series, const PlotView& view) {
  const std::vector<std::string> colors = colors_of(series);
  std::multimap<double, std::string> color_of_value;  // sorted by value, the lowest first
  for (std::size_t i = 0; i < series.size(); ++i) {
    const Series& s = series[i];
    if (s.points && s.has_name() && !s.y.empty() && std::isfinite(s.y.back()) &&
        !is_single_point(s))
      color_of_value.emplace(s.y.back(), colors[i]);
  }
  std::string text;
  double y = -std::numeric_limits<double>::infinity();
  for (const auto& [value, color] : color_of_value) {
    y = std::max(value, y + 0.045 * view.y.span());
    text += "set label " + gnuplot_string(label_number(value, 4)) + " at graph 1, first " +
            gnuplot_number(y) + " left offset 0.8,0 font ',14' textcolor rgb '" + color + "'\n";
  }
  return text;
}

std::string peak_label(const PlotView& view) {
  if (!view.hides_peak()) return "";
  return "set label " + gnuplot_string("up to " + label_number(view.peak, 2) + " ↑") +
         " at graph 0, graph 1.035 left font ',12' textcolor rgb '#666666'\n";
}

// The part of the plot command for one curve. Columns are counted from 1, as in gnuplot.
std::string plot_clause(const std::string& file, std::size_t x_column, std::size_t column,
                        const Series& series, const std::string& color) {
  const bool single = series.x.size() == 1;  // one point makes no line, so a marker is drawn
  const std::string points =
      "linespoints linewidth 2 pointtype 7 pointsize " + std::string(single ? "1.1" : "0.7");
  const std::string style = series.thin                                  ? "lines linewidth 0.8"
                            : !series.muted && (series.points || single) ? points
                                                                         : "lines linewidth 1.2";
  // The first byte of #AARRGGBB is the transparency.
  return gnuplot_string(file) + " skip 1 using " + std::to_string(x_column) + ":" +
         std::to_string(column) + " with " + style + " linecolor rgb '" +
         (series.thin ? "#66" + color.substr(1) : color) + "' " +
         (series.has_name() ? "title " + gnuplot_string(legend_of(series)) : "notitle");
}

// The part of the plot command for a band, whose half height is in the column after that of y.
std::string band_clause(const std::string& file, std::size_t x_column, std::size_t column,
                        const std::string& color) {
  const std::string y = "$" + std::to_string(column), error = "$" + std::to_string(column + 1);
  return gnuplot_string(file) + " skip 1 using " + std::to_string(x_column) + ":(" + y + "-" +
         error + "):(" + y + "+" + error +
         ") with filledcurves fillstyle transparent solid 0.2 noborder linecolor rgb '" + color +
         "' notitle";
}

std::string mark_clause(const MarkedPoint& mark, std::size_t number) {
  return "$mark" + std::to_string(number) +
         " using 1:2 with points pointtype 6 pointsize 1.7 linewidth 2 linecolor rgb '#222222' "
         "title " +
         gnuplot_string(legend(HorizontalLine{mark.name, mark.y}));
}

// The data of the marked points, as gnuplot's data blocks.
std::string mark_blocks(const std::vector<MarkedPoint>& marks) {
  std::string text;
  for (std::size_t i = 0; i < marks.size(); ++i)
    text += "$mark" + std::to_string(i) + " << END\n" + gnuplot_number(marks[i].x) + "," +
            gnuplot_number(marks[i].y) + "\nEND\n";
  return text;
}

std::string plot_command(const CurveFile& file, const std::vector<Series>& series,
                         const std::vector<HorizontalLine>& lines,
                         const std::vector<MarkedPoint>& marks) {
  const std::vector<std::string> colors = colors_of(series);
  std::vector<std::string> clauses;
  for (std::size_t i = 0; i < series.size(); ++i)
    if (!series[i].error.empty())
      clauses.push_back(
          band_clause(file.name, file.x_column + 1, file.y_columns[i] + 1, colors[i]));
  for (std::size_t i = 0; i < series.size(); ++i)
    clauses.push_back(
        plot_clause(file.name, file.x_column + 1, file.y_columns[i] + 1, series[i], colors[i]));
  for (std::size_t i = 0; i < lines.size(); ++i)
    clauses.push_back(gnuplot_number(lines[i].value) + " with lines linewidth 1.5 dashtype " +
                      std::to_string(2 + i % 4) + " linecolor rgb '#555555' title " +
                      gnuplot_string(legend(lines[i])));
  for (std::size_t i = 0; i < marks.size(); ++i) clauses.push_back(mark_clause(marks[i], i));
  return mark_blocks(marks) + "plot " + joined(clauses, ", \\\n     ") + "\n";
}

std::string titles(const CurveOptions& options) {
  const std::string title = options.title.empty() ? ""
                                                  : "set title " + gnuplot_string(options.title) +
                                                        " font ',17' offset 0,-0.3\n";
  return title + "set xlabel " + gnuplot_string(options.x_title) + "\nset ylabel " +
         gnuplot_string(options.y_title) + "\n";
}

// The width of the legend, as a fraction of the horizontal axis.
double legend_width(const std::vector<Series>& series, const CurveOptions& options) {
  std::size_t longest = 0;
  const auto include = [&](const std::string& text) {
    longest = std::max(longest, display_width(text));
  };
  for (const Series& s : series)
    if (s.has_name()) include(legend_of(s));
  for (const HorizontalLine& line : options.lines) include(legend(line));
  for (const MarkedPoint& mark : options.marks) include(legend({mark.name, mark.y}));
  return std::max(0.3, 0.08 + 0.0105 * static_cast<double>(longest));
}

std::string svg_script(const std::string& name, const CurveFile& file,
                       const std::vector<Series>& series, const CurveOptions& options) {
  const PlotView view = view_of(series, options.lines);
  const auto named =
      std::count_if(series.begin(), series.end(), [](const Series& s) { return s.has_name(); });
  const double rows =
      static_cast<double>(named) + static_cast<double>(options.lines.size() + options.marks.size());
  const std::string key = legend_position(series, options.lines, view,
                                          legend_width(series, options), 0.04 + 0.06 * rows);
  return Canvas{900, 540}.head("curves. To draw them") + "set datafile separator ','\nset output " +
         gnuplot_string(name + ".svg") + "\n" + titles(options) + gnuplot_view(view) +
         "set border 3 linecolor rgb '#888888'\n"
         "set tics nomirror out scale 0.6 textcolor rgb '#333333'\n"
         "set grid linetype 1 linewidth 0.8 linecolor rgb '#E4E4E4'\n"
         "set rmargin 9\nset key " +
         key + " Left reverse samplen 2.5 spacing 1.25 width 1 height 0.4\n" +
         end_labels(series, view) + peak_label(view) +
         plot_command(file, series, options.lines, options.marks);
}

// A name as a cell, in quotes if it has a comma or a quote (RFC 4180).
std::string csv_cell(const std::string& name) {
  if (name.find_first_of(",\"") == name.npos) return name;
  std::string cell;
  for (const char c : name) cell += c == '"' ? "\"\"" : std::string(1, c);
  return '"' + cell + '"';
}

// Returns CSV text: a header such as "x,training,validation", then one row for each point, such as
// "10,3.9," or "250,,2.4". The column after that of a series with a band has its half heights.
std::string csv_of(const std::vector<Series>& series) {
  std::string text = "x";
  std::size_t columns = 1;
  for (const Series& s : series) {
    text += "," + csv_cell(printable(s.name)) + (s.error.empty() ? "" : ",±");
    columns += s.error.empty() ? 1 : 2;
  }
  text += "\n";
  std::size_t column = 1;
  for (const Series& s : series) {
    const std::size_t used = s.error.empty() ? 1 : 2;
    for (std::size_t i = 0; i < s.x.size(); ++i)
      if (std::isfinite(s.y[i]))
        text += gnuplot_number(s.x[i]) + std::string(column, ',') + gnuplot_number(s.y[i]) +
                (s.error.empty() ? "" : "," + gnuplot_number(s.error[i])) +
                std::string(columns - column - used, ',') + "\n";
    column += used;
  }
  return text;
}

}  // namespace

Plot draw_curve(const std::string& folder, const std::string& name,
                const std::vector<Series>& series, const CurveOptions& options) {
  if (view_of(series, {}).x.empty()) return {false, "nothing to plot: no finite values yet"};
  CurveFile file{name + ".csv", 0, {}};
  std::size_t column = 1;
  for (const Series& s : series) {
    file.y_columns.push_back(column);
    column += s.error.empty() ? 1 : 2;
  }
  return draw_with_gnuplot(folder, name, svg_script(name, file, series, options), csv_of(series));
}

Plot draw_curve_of_file(const std::string& folder, const std::string& name, const CurveFile& file,
                        const std::vector<Series>& series, const CurveOptions& options) {
  check_plot_name("gnuplot", file.name);
  if (file.name == "-") throw_error("curve: the file - would be standard input; give a file name");
  if (file.y_columns.size() != series.size())
    throw_error("curve: ", counted(file.y_columns.size(), "column"), " for ", series.size(),
                " series; give one column for each series");
  if (view_of(series, {}).x.empty()) return {false, path_in(folder, file.name) + ": no losses yet"};
  return draw_with_gnuplot(folder, name, svg_script(name, file, series, options));
}

}  // namespace HEED_NAMESPACE
