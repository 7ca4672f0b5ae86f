// scatter.cpp: draw_scatter writes a gnuplot script that plots points as an SVG file.

#include "heed/draw/scatter.hpp"

#include <algorithm>
#include <cmath>

#include "draw/gnuplot.hpp"
#include "draw/label_places.hpp"
#include "heed/array/shape.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"

namespace HEED_NAMESPACE {
namespace {

// Sizes in pixels.
constexpr Canvas canvas{900, 720};
constexpr Rectangle frame{54, 78, 822, 602};
constexpr double mark_radius = 5, character_width = 7.5, line_height = 14;

// The colours of the groups, based on Okabe and Ito (2008), and their gnuplot point types: circle,
// triangle, square, diamond.
constexpr const char* colors[] = {"#0072B2", "#D55E00", "#007A5A", "#882255"};
constexpr int point_types[] = {7, 9, 5, 13};

// A box with its centre at (x, y).
Box box_at(double x, double y, double width, double height) {
  return {x - width / 2, y - height / 2, x + width / 2, y + height / 2};
}

struct Pixel {
  double x, y;
};

Pixel pixel_of(const Array& points, std::size_t i, const PlotView& view) {
  return {frame.left + view.x.fraction(points(i, 0)) * frame.width,
          frame.top + frame.height - view.y.fraction(points(i, 1)) * frame.height};
}

// The directions from a point to its label: right, left, above, below and the four diagonals.
constexpr double directions[][2] = {{1, 0},  {-1, 0},  {0, -1}, {0, 1},
                                    {1, -1}, {-1, -1}, {1, 1},  {-1, 1}};

// The candidate positions of a label: in all directions, first near the point, then further away.
std::vector<Box> candidates(const Pixel& point, double label_width) {
  std::vector<Box> boxes;
  for (const double gap : {mark_radius + 3.5, mark_radius + 12.0})
    for (const auto& [dx, dy] : directions) {
      const double factor = dx != 0 && dy != 0 ? 0.6 : 1;  // a smaller gap for diagonal labels
      boxes.push_back(box_at(point.x + dx * (factor * gap + label_width / 2),
                             point.y + dy * (factor * gap + line_height / 2), label_width,
                             line_height));
    }
  return boxes;
}

// Returns the command that draws a label. The label's text is anchored at the edge that faces the
// point, because the width of the text depends on the SVG viewer.
std::string label_command(const std::string& text, const Box& box, double direction,
                          const std::string& color) {
  const std::string style = " front font ',13' textcolor rgb '" + color + "'";
  const double y = (box.top + box.bottom) / 2;
  if (direction > 0) return canvas.label(text, box.left, y, " left" + style);
  if (direction < 0) return canvas.label(text, box.right, y, " right" + style);
  return canvas.label(text, (box.left + box.right) / 2, y, " center" + style);
}

std::string label_commands(const Array& points, const ScatterOptions& options,
                           const PlotView& view) {
  LabelPlacement placement{
      {frame.left, frame.top, frame.left + frame.width, frame.top + frame.height}};
  for (std::size_t i = 0; i < points.shape(0); ++i) {
    const auto [x, y] = pixel_of(points, i, view);
    placement.occupied.push_back(box_at(x, y, 2 * mark_radius, 2 * mark_radius));
  }
  std::string commands;
  std::size_t left_out = 0;
  for (std::size_t i = 0; i < options.labels.size(); ++i) {
    const std::string text = truncated(printable(options.labels[i]), 24);
    const double label_width = character_width * static_cast<double>(display_width(text)) + 3;
    const std::vector<Box> boxes = candidates(pixel_of(points, i, view), label_width);
    const std::size_t best = placement.best_position(boxes);
    if (placement.covered_area(boxes[best]) > 0.15 * boxes[best].area()) {
      ++left_out;
      continue;
    }
    placement.occupied.push_back(boxes[best]);
    commands += label_command(text, boxes[best], directions[best % 8][0], colors[options.group(i)]);
  }
  if (left_out > 0)
    commands += "set label '" + counted(left_out, "label") +
                " left out (no space)' at graph 1, screen " +
                gnuplot_number(1 - (frame.top - 10) / canvas.height) +
                " right font ',11' textcolor rgb '#666666'\n";
  return commands;
}

std::string plot_command(const std::string& file, const ScatterOptions& options) {
  const std::size_t count = std::max<std::size_t>(options.group_names.size(), 1);
  std::vector<std::string> clauses;
  for (std::size_t g = 0; g < count; ++g) {
    const std::string title =
        options.group_names.empty() ? "notitle" : "title " + gnuplot_string(options.group_names[g]);
    clauses.push_back(gnuplot_string(file) + " skip 1 using 1:($3 == " + std::to_string(g) +
                      " ? $2 : NaN) with points pointtype " + std::to_string(point_types[g]) +
                      " pointsize 0.9 linecolor rgb '" + colors[g] + "' " + title);
  }
  return "plot " + joined(clauses, ", \\\n     ") + "\n";
}

std::string script_of(const std::string& name, const Array& points, const ScatterOptions& options) {
  const PlotView view = scatter_view(points, frame.width, frame.height);
  std::string title;
  if (!options.title.empty())
    title = canvas.label(options.title, canvas.width / 2, 24, " center font ',17'");
  return canvas.head("a scatter plot. To draw it") + "set datafile separator ','\nset output " +
         gnuplot_string(name + ".svg") + "\n" + title + canvas.margins(frame) + gnuplot_view(view) +
         "set border linecolor rgb '#BBBBBB'\n"
         "set tics nomirror out scale 0.5 font ',12' textcolor rgb '#666666'\n"
         "set key" +
         canvas.at(canvas.width / 2, 56) + " center center horizontal Left reverse samplen 1\n" +
         label_commands(points, options, view) + plot_command(name + ".csv", options);
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
            std::to_string(options.group(i)) + "," +
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
  check_scatter(points, {});
  PlotView view{};
  for (std::size_t i = 0; i < points.shape(0); ++i)
    view.x.include(points(i, 0)), view.y.include(points(i, 1));
  double largest = 0;
  for (const Real value : points) largest = std::max(largest, std::abs(static_cast<double>(value)));
  double unit = 1.12 * std::max(view.x.span() / area_width, view.y.span() / area_height);
  if (unit == 0) unit = std::max(1.0, 1e-6 * largest);
  unit = std::max(unit, 1e-9 * largest);  // a smaller unit would be rounded away: 1e20 + 1 == 1e20
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
  return draw_with_gnuplot(folder, name, script_of(name, points, options), csv_of(points, options));
}

}  // namespace HEED_NAMESPACE
