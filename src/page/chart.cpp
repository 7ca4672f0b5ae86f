// chart.cpp: curves as an SVG element of an HTML page.

#include "page/chart.hpp"

#include <algorithm>
#include <cmath>

#include "heed/base/text.hpp"
#include "page/page.hpp"

namespace HEED_NAMESPACE {
namespace {

constexpr double left = 90, right = 862, top = 10, width = 900;
constexpr std::size_t most_points = 600;  // of a curve; more are averaged

// A number at an axis whose tics are `step` apart, or a value of x: 2,000 or 0.25.
std::string number_label(double value, double step = 1) {
  if (std::abs(value) < 1e-6 * step) return "0";  // not -0, or the rounding error of a sum
  const bool is_whole = step >= 1 && std::abs(value - std::round(value)) < 1e-9;
  if (is_whole && std::abs(value) < 1e15) return grouped(value);
  return significant(value, 6);
}

std::string text_html(std::string_view text) { return escaped_html(printable(text)); }

// The place of a value in the picture.
struct Frame {
  PlotView view;
  double bottom;

  double x(double value) const { return left + (right - left) * view.x.fraction(value); }
  double y(double value) const {
    const double place = bottom + (top - bottom) * view.y.fraction(value);
    return std::clamp(place, top - bottom, 2 * bottom);  // a peak may be far outside
  }
  std::string at(double x_value, double y_value) const {
    return decimal(x(x_value), 1) + " " + decimal(y(y_value), 1);
  }
};

std::string path_html(const std::string& style, const std::string& d) {
  return "<path class=\"" + style + "\" d=\"" + d + "\"/>\n";
}

// The class of a curve's colour: s0 to s7 for lines, f0 to f7 for areas.
std::string color_class(char kind, std::size_t curve) { return kind + std::to_string(curve % 8); }

// A path through the points; it begins anew after a value that is not finite.
std::string line_path(const Frame& frame, const Series& s) {
  std::string d;
  bool is_pen_down = false;
  for (std::size_t i = 0; i < s.x.size(); ++i) {
    const bool is_drawn = std::isfinite(s.x[i]) && std::isfinite(s.y[i]);
    if (is_drawn) d += (is_pen_down ? "L" : "M") + frame.at(s.x[i], s.y[i]);
    is_pen_down = is_drawn;
  }
  return d;
}

std::string band_path(const Frame& frame, const Series& s) {
  std::string upper, lower;
  for (std::size_t i = 0; i < s.x.size(); ++i) {
    if (!std::isfinite(s.y[i]) || !std::isfinite(s.error[i])) continue;
    upper += (upper.empty() ? "M" : "L") + frame.at(s.x[i], s.y[i] + s.error[i]);
    lower.insert(0, "L" + frame.at(s.x[i], s.y[i] - s.error[i]));
  }
  return upper.empty() ? "" : upper + lower + "Z";
}

std::string points_html(const Frame& frame, const Series& s, std::size_t curve) {
  std::string html;
  for (std::size_t i = 0; i < s.x.size(); ++i)
    if (std::isfinite(s.x[i]) && std::isfinite(s.y[i]))
      html += "<circle class=\"" + color_class('f', curve) + "\" cx=\"" +
              decimal(frame.x(s.x[i]), 1) + "\" cy=\"" + decimal(frame.y(s.y[i]), 1) +
              "\" r=\"3.2\"><title>" + text_html(s.name) + ": " + number_label(s.x[i]) + ", " +
              label_number(s.y[i], 4) +
              (s.error.empty() ? "" : " ± " + label_number(s.error[i], 4)) + "</title></circle>\n";
  return html;
}

std::string axes_html(const Frame& frame, const CurveOptions& options) {
  std::string html;
  const PlotView& view = frame.view;
  const auto label = [&](const std::string& style, double x, double y, const std::string& text) {
    html += "<text class=\"" + style + "\" x=\"" + decimal(x, 1) + "\" y=\"" + decimal(y, 1) +
            "\">" + text_html(text) + "</text>\n";
  };
  const double dy = tic_step(view.y.span()), dx = tic_step(view.x.span());
  for (double v = std::ceil(view.y.low / dy) * dy; v <= view.y.high; v += dy) {
    html += path_html("grid", "M" + frame.at(view.x.low, v) + "H" + decimal(right, 0));
    label("y", left - 7, frame.y(v) + 4, number_label(v, dy));
  }
  for (double v = std::ceil(view.x.low / dx) * dx; v <= view.x.high; v += dx)
    label("axis", frame.x(v), frame.bottom + 18, number_label(v, dx));
  label("axis", (left + right) / 2, frame.bottom + 36, options.x_title);
  return html;
}

std::string legend_item(const std::string& style, const std::string& text) {
  return "<li><svg viewBox=\"0 0 20 10\" aria-hidden=\"true\"><path class=\"" + style +
         "\" d=\"M0 5H20\"/></svg>" + text_html(text) + "</li>\n";
}

}  // namespace

std::string chart_html(const std::vector<Series>& all, const CurveOptions& options) {
  std::vector<Series> series = all;
  const PlotView full = view_of(series, options.lines);
  if (full.x.empty()) return "<p class=\"note\">Nothing to plot yet.</p>\n";
  for (Series& s : series)
    if (s.x.size() > most_points && s.error.empty()) s = averaged(s, full.x, most_points);
  Frame frame{view_of(series, options.lines), top + 20 * static_cast<double>(options.height)};
  std::string curves, points, legend_html;
  std::size_t curve = 0;
  for (const Series& s : series) {
    if (s.muted) {
      curves += path_html("muted", line_path(frame, s));
      continue;
    }
    if (s.thin) {
      curves += path_html(color_class('s', curve - 1) + " thin", line_path(frame, s));
      continue;
    }
    if (!s.error.empty())
      curves += path_html("band " + color_class('f', curve), band_path(frame, s));
    curves += path_html(color_class('s', curve) + (s.points ? "" : " fine"), line_path(frame, s));
    if (s.points || s.x.size() == 1) points += points_html(frame, s, curve);
    legend_html += legend_item(color_class('s', curve), s.name);
    ++curve;
  }
  for (const HorizontalLine& line : options.lines) {
    curves +=
        path_html("rule", "M" + frame.at(frame.view.x.low, line.value) + "H" + decimal(right, 0));
    legend_html += legend_item("rule", legend(line));
  }
  for (const MarkedPoint& mark : options.marks) {
    points += "<circle class=\"mark\" cx=\"" + decimal(frame.x(mark.x), 1) + "\" cy=\"" +
              decimal(frame.y(mark.y), 1) + "\" r=\"7\"/>\n";
    legend_html += "<li>○ " + text_html(legend({mark.name, mark.y})) + "</li>\n";
  }
  return "<svg class=\"chart\" viewBox=\"0 0 " + decimal(width, 0) + " " +
         decimal(frame.bottom + 44, 0) + "\" role=\"img\" aria-label=\"" +
         text_html(options.y_title + " over " + options.x_title) + "\">\n" +
         axes_html(frame, options) + curves + points + "</svg>\n<ul class=\"legend\">\n" +
         legend_html + "</ul>\n";
}

}  // namespace HEED_NAMESPACE
