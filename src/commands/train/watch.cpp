// watch.cpp: the page of heed train --watch: three charts as SVG, and the generated texts.

#include "commands/train/watch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "commands/terminal.hpp"
#include "heed/base/atomic_file.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "page/page.hpp"

namespace heed::app {
namespace {

constexpr double width = 640, height = 200;  // of a chart, without its labels
constexpr std::size_t max_points = 1000;     // of a line
constexpr std::size_t max_texts = 20;

struct Line {
  std::string name, color;
  std::vector<std::pair<double, double>> points;  // step, value; finite
};

template <class Value>
Line line_of(const std::string& name, const std::string& color, const std::vector<LogRow>& rows,
             const Value& value) {
  Line line{name, color, {}};
  for (const LogRow& row : rows)
    if (const double y = value(row); std::isfinite(y))
      line.points.emplace_back(static_cast<double>(row.step), y);
  return line;
}

// A chart of lines from step 0 to `steps`. Of a long line it has every second point, or fewer.
std::string chart(const std::string& title, const std::vector<Line>& lines, double steps) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const Line& line : lines)
    for (const auto& [step, y] : line.points) low = std::min(low, y), high = std::max(high, y);
  if (low > high) return "";
  const double span = high > low ? high - low : 1;
  const auto at = [&](const std::pair<double, double>& point) {
    return decimal(width * point.first / steps, 1) + "," +
           decimal(height * (high - point.second) / span, 1);
  };
  std::string svg = "<figure><figcaption>" + escaped_html(title);
  for (const Line& line : lines)
    if (!line.points.empty())
      svg += " <span class=\"" + line.color + "\">" + line.name + " " +
             significant(line.points.back().second, 4) + "</span>";
  svg += "</figcaption>\n<svg viewBox=\"-86 -12 746 240\" role=\"img\" aria-label=\"" +
         escaped_html(title) + "\">\n<path class=\"axis\" d=\"M0,0 V200 H640\"/>\n" +
         "<text x=\"-8\" y=\"5\">" + significant(high, 3) + "</text><text x=\"-8\" y=\"200\">" +
         significant(low, 3) + "</text><text x=\"640\" y=\"222\">step " + decimal(steps, 0) +
         "</text>\n";
  for (const Line& line : lines) {
    const std::size_t stride = line.points.size() / max_points + 1;
    svg += "<polyline class=\"" + line.color + "\" points=\"";
    for (std::size_t i = 0; i < line.points.size(); i += stride) svg += at(line.points[i]) + " ";
    if (!line.points.empty()) svg += at(line.points.back());
    svg += "\"/>\n";
  }
  return svg + "</svg></figure>\n";
}

const char* const head =
    R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
)";
const char* const style = R"(<style>
:root { --ink: #1d2430; --soft: #586174; --paper: #fbfaf7; --a: #2f5bb7; --b: #c2410c; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e7e9ee; --soft: #a3abba; --paper: #14171c; --a: #8fb4ff; --b: #ffab70; }
}
body { margin: 1.5rem auto; max-width: 46rem; padding: 0 1rem; background: var(--paper);
  color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.3rem; } figure { margin: 1.2rem 0; } figcaption { font-weight: 600; }
svg { width: 100%; height: auto; } polyline { fill: none; stroke-width: 1.8; }
polyline.a { stroke: var(--a); } polyline.b { stroke: var(--b); }
span.a { color: var(--a); } span.b { color: var(--b); } span { font-weight: 400; }
.axis { fill: none; stroke: var(--soft); } text { fill: var(--soft); font-size: 14px; text-anchor: end; }
td { padding: .15rem .8rem .15rem 0; vertical-align: top; overflow-wrap: anywhere; }
td:first-child { color: var(--soft); white-space: nowrap; }
</style></head><body>
)";

}  // namespace

void Watch::show(const std::filesystem::path& file, const LogRow& row, const std::string& text) {
  if (!text.empty()) texts_.emplace_back(row.step, text);
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + std::chrono::seconds(1);
  write(file, "training", true);
}

void Watch::end(const std::filesystem::path& file, const std::string& how) {
  write(file, how, false);
}

// A full disk must not end the training, which notes it at the first page.
void Watch::write(const std::filesystem::path& file, const std::string& state, bool reloads) {
  if (failed_) return;
  try {
    write_file_atomically(file, page(state, reloads));
  } catch (const Error& error) {
    note(std::string(error.what()) + "; training continues without --watch");
    failed_ = true;
  }
}

std::string Watch::page(const std::string& state, bool reloads) const {
  const std::vector<LogRow>& rows = trainer_.history();
  const double steps = static_cast<double>(trainer_.options().steps);
  std::string page = std::string(head) +
                     (reloads ? "<meta http-equiv=\"refresh\" content=\"2\">\n" : "") + "<title>" +
                     escaped_html(title_) + "</title>\n" + style + "<h1>" + escaped_html(title_) +
                     "</h1>\n<p>" + escaped_html(state) + ": step " +
                     std::to_string(trainer_.steps_done()) + " of " + decimal(steps, 0) + "</p>\n";
  page += chart("loss (nats per token)",
                {line_of("training", "a", rows, [](const LogRow& r) { return r.train_loss; }),
                 line_of("validation", "b", rows,
                         [](const LogRow& r) { return r.val_loss ? *r.val_loss : NAN; })},
                steps);
  page += chart("gradient norm",
                {line_of("", "a", rows, [](const LogRow& r) { return r.grad_norm; })}, steps);
  page += chart("learning rate",
                {line_of("", "a", rows, [](const LogRow& r) { return r.learning_rate; })}, steps);
  page += "<table>\n";
  for (std::size_t i = texts_.size(); i-- > texts_.size() - std::min(texts_.size(), max_texts);)
    page += "<tr><td>step " + std::to_string(texts_[i].first) + "</td><td>" +
            escaped_html(texts_[i].second) + "</td></tr>\n";
  return page + "</table>\n</body></html>\n";
}

}  // namespace heed::app
