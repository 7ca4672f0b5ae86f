// scatter.cpp: draw_scatter writes a gnuplot script that draws a scatter plot as an SVG file.

#include "heed/report/scatter.hpp"

#include <algorithm>
#include <cmath>

#include "heed/array/shape.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/report/label_places.hpp"

namespace HEED_NAMESPACE {
namespace {

// Sizes in pixels.
constexpr double width = 900, height = 720, left = 54, right = 24, top = 78, bottom = 40;
constexpr double mark_radius = 5, character_width = 7.5, line_height = 14;

// The colours of Okabe and Ito (2008), and gnuplot's numbers for circle, triangle, square, diamond.
constexpr const char* colors[] = {"#0072B2", "#D55E00", "#007A5A", "#882255"};
constexpr int point_types[] = {7, 9, 5, 13};

std::size_t group_of(const ScatterOptions& options, std::size_t i) {
  return options.groups.empty() ? 0 : options.groups[i];
}

struct Pixel {
  double x, y;
};

Pixel pixel_of(const Array& points, std::size_t i, const PlotView& view) {
  const double x = (points(i, 0) - view.x.low) / view.x.span();
  const double y = (points(i, 1) - view.y.low) / view.y.span();
  return {left + x * (width - left - right), height - bottom - y * (height - top - bottom)};
}

// The directions from a point to its label: right, left, above, below and the four diagonals.
constexpr double directions[][2] = {{1, 0},  {-1, 0},  {0, -1}, {0, 1},
                                    {1, -1}, {-1, -1}, {1, 1},  {-1, 1}};

// The candidate positions of a label: in all directions, first near the point, then further away.
std::vector<Box> candidates(const Pixel& point, double label_width) {
  std::vector<Box> boxes;
  for (const double gap : {mark_radius + 3.5, mark_radius + 12.0})
    for (const auto& [dx, dy] : directions) {
      const double factor = dx != 0 && dy != 0 ? 0.6 : 1;  // a diagonal gap is longer
      const double x = point.x + dx * (factor * gap + label_width / 2);
      const double y = point.y + dy * (factor * gap + line_height / 2);
      boxes.push_back(
          {x - label_width / 2, y - line_height / 2, x + label_width / 2, y + line_height / 2});
    }
  return boxes;
}

struct Labels {
  std::string commands;
  std::size_t left_out = 0;
};

// The label is anchored at the edge next to its point: its width depends on the viewer's font.
std::string label_command(const std::string& text, const Box& box, double direction,
                          const std::string& color) {
  const double x = direction > 0   ? box.left
                   : direction < 0 ? box.right
                                   : (box.left + box.right) / 2;
  return "set label " + gnuplot_string(text) + " at screen " + gnuplot_number(x / width) +
         ", screen " + gnuplot_number(1 - (box.top + box.bottom) / 2 / height) +
         (direction > 0   ? " left"
          : direction < 0 ? " right"
                          : " center") +
         " front font ',13' textcolor rgb '" + color + "'\n";
}

Labels labels_of(const Array& points, const ScatterOptions& options, const PlotView& view) {
  LabelPlacement placement({left, top, width - right, height - bottom});
  for (std::size_t i = 0; i < points.shape(0); ++i) {
    const auto [x, y] = pixel_of(points, i, view);
    placement.occupy({x - mark_radius, y - mark_radius, x + mark_radius, y + mark_radius});
  }
  Labels labels;
  for (std::size_t i = 0; i < options.labels.size(); ++i) {
    const std::string text = truncated(printable(options.labels[i]), 24);
    const double label_width = character_width * static_cast<double>(display_width(text)) + 3;
    const std::vector<Box> boxes = candidates(pixel_of(points, i, view), label_width);
    const std::size_t best = placement.best_position(boxes);
    const Box& box = boxes[best];
    if (placement.covered_area(box) > 0.15 * box.area()) {
      ++labels.left_out;
      continue;
    }
    placement.occupy(box);
    const std::string color = colors[group_of(options, i)];
    labels.commands += label_command(text, box, directions[best % 8][0], color);
  }
  return labels;
}

std::string left_out_command(std::size_t count) {
  if (count == 0) return "";
  return "set label '" + counted(count, "label") + " left out (no space)' at graph 1, screen " +
         gnuplot_number(1 - (top - 10) / height) + " right font ',11' textcolor rgb '#666666'\n";
}

std::string plot_command(const std::string& file, const ScatterOptions& options) {
  const std::size_t count = std::max<std::size_t>(options.group_names.size(), 1);
  std::vector<std::string> clauses;
  for (std::size_t g = 0; g < count; ++g)
    clauses.push_back(gnuplot_string(file) + " skip 1 using 1:($3 == " + std::to_string(g) +
                      " ? $2 : NaN) with points pointtype " + std::to_string(point_types[g]) +
                      " pointsize 0.9 linecolor rgb '" + colors[g] + "' " +
                      (options.group_names.empty()
                           ? "notitle"
                           : "title " + gnuplot_string(options.group_names[g])));
  return "plot " + joined(clauses, ", \\\n     ") + "\n";
}

std::string head(const std::string& name, const ScatterOptions& options) {
  std::string text =
      "# Draws a scatter plot. To draw it again, run gnuplot on this file in its own folder.\n"
      "set encoding utf8\n"
      "set terminal svg size 900,720 font 'sans-serif,14' noenhanced background rgb 'white'\n"
      "set datafile separator ','\n";
  text += "set output " + gnuplot_string(name + ".svg") + "\n";
  if (!options.title.empty())
    text += "set label " + gnuplot_string(options.title) + " at screen 0.5, screen " +
            gnuplot_number(1 - 24 / height) + " center font ',17'\n";
  return text;
}

std::string frame(const PlotView& view) {
  return "set lmargin at screen " + gnuplot_number(left / width) + "\nset rmargin at screen " +
         gnuplot_number(1 - right / width) + "\nset tmargin at screen " +
         gnuplot_number(1 - top / height) + "\nset bmargin at screen " +
         gnuplot_number(bottom / height) + "\nset xrange " +
         gnuplot_range(view.x.low, view.x.high) + "\nset yrange " +
         gnuplot_range(view.y.low, view.y.high) +
         "\nset border linecolor rgb '#BBBBBB'\n"
         "set tics nomirror out scale 0.5 font ',12' textcolor rgb '#666666'\n"
         "set key at screen 0.5, screen " +
         gnuplot_number(1 - 56 / height) + " center center horizontal Left reverse samplen 1\n";
}

// Quotes a CSV field that contains a comma or a quote.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? "\"\"" : std::string(1, c);
  return result + "\"";
}

std::string csv_of(const Array& points, const ScatterOptions& options) {
  std::string text = "x,y,group,label\n";
  for (std::size_t i = 0; i < points.shape(0); ++i)
    text += gnuplot_number(points(i, 0)) + "," + gnuplot_number(points(i, 1)) + "," +
            std::to_string(group_of(options, i)) + "," +
            (options.labels.empty() ? "" : csv_field(printable(options.labels[i]))) + "\n";
  return text;
}

}  // namespace

void check_scatter(const Array& points, const ScatterOptions& options) {
  const Shape shape = shape_of(points);
  if (shape.size() != 2 || shape[0] == 0 || shape[1] != 2)
    throw_error("scatter: needs points (n, 2), got shape ", str(shape));
  for (std::size_t i = 0; i < points.size(); ++i)
    if (!std::isfinite(points.data()[i])) throw_error("scatter: point ", i / 2, " is not finite");
  if (!options.labels.empty() && options.labels.size() != shape[0])
    throw_error("scatter: ", options.labels.size(), " labels for points ", str(shape));
  if (!options.groups.empty() && options.groups.size() != shape[0])
    throw_error("scatter: ", options.groups.size(), " groups for points ", str(shape));
  if (options.group_names.size() > 4)
    throw_error("scatter: can show up to 4 groups, got ", options.group_names.size());
  for (const std::size_t group : options.groups)
    if (group >= options.group_names.size())
      throw_error("scatter: group ", group, " is out of range for ",
                  counted(options.group_names.size(), "group name"));
}

PlotView scatter_view(const Array& points, double area_width, double area_height) {
  PlotView view{};
  for (std::size_t i = 0; i < points.shape(0); ++i)
    view.x.include(points(i, 0)), view.y.include(points(i, 1));
  double unit = 1.12 * std::max(view.x.span() / area_width, view.y.span() / area_height);
  double largest = 0;
  for (const double end : {view.x.low, view.x.high, view.y.low, view.y.high})
    largest = std::max(largest, std::abs(end));
  if (unit == 0) unit = std::max(1.0, 1e-6 * largest);
  unit = std::max(unit, 1e-9 * largest);  // relative: 1e20 + 1 rounds to 1e20, a view of width 0
  const auto widen = [unit](Range& range, double size) {
    const double center = range.low + range.span() / 2;
    range = {center - unit * size / 2, center + unit * size / 2};
  };
  widen(view.x, area_width), widen(view.y, area_height);
  view.peak = view.y.high;
  return view;
}

Plot draw_scatter(const std::string& folder, const std::string& name, const Array& points,
                  const ScatterOptions& options) {
  check_scatter(points, options);
  const std::string failure = write_text(path_in(folder, name + ".csv"), csv_of(points, options));
  if (!failure.empty()) return {false, failure};
  const PlotView view = scatter_view(points, width - left - right, height - top - bottom);
  const Labels labels = labels_of(points, options, view);
  return draw_with_gnuplot(folder, name,
                           head(name, options) + frame(view) + labels.commands +
                               left_out_command(labels.left_out) +
                               plot_command(name + ".csv", options));
}

}  // namespace HEED_NAMESPACE
