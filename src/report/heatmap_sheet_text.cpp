// heatmap_sheet_text.cpp: heatmap_sheet_text prints several heat maps side by side.

#include <algorithm>
#include <cmath>

#include "heed/array/shape.hpp"
#include "heed/base/text.hpp"
#include "heed/report/heatmap.hpp"

namespace HEED_NAMESPACE {
namespace {

constexpr std::size_t edges = 3;       // a space and two edges
constexpr std::size_t min_width = 12;  // of a matrix without its edges
constexpr std::size_t gap = 2;

// The width available to each of `count` matrices side by side, without its edges.
std::size_t available_width(std::size_t count, std::size_t width) {
  const std::size_t each = (width + gap) / count;
  return each > edges + gap ? each - edges - gap : 1;
}

std::size_t panels_per_row(std::size_t panels, std::size_t width, std::size_t columns) {
  if (columns == 0) columns = static_cast<std::size_t>(std::ceil(std::sqrt(double(panels))));
  std::size_t count = std::min(columns, panels);
  while (count > 1 && available_width(count, width) < min_width) --count;
  return count;
}

// The width of a matrix with its edges, as heatmap_text draws it.
std::size_t drawn_width(std::size_t columns, std::size_t available) {
  if (2 * columns <= available) return 2 * columns + edges;
  const std::size_t side = (columns + available - 1) / available;
  return (columns + side - 1) / side + edges;
}

// The width of a matrix with its edges and its title, which may be truncated to max_width.
std::size_t width_with_title(std::size_t matrix_width, const std::vector<std::string>& titles,
                             std::size_t max_width) {
  std::size_t width = matrix_width;
  for (const std::string& title : titles)
    width = std::max(width, std::min(max_width, 2 + display_width(printable(title))));
  return width;
}

// Heat maps side by side under their titles, and the scale that they have in common.
struct PanelRow {
  std::size_t matrix_width, tile_width;
  std::string heading = {}, scale = {};
  std::vector<std::string> lines = {};

  void append(const std::string& title, const std::string& heatmap) {
    const std::string separator(heading.empty() ? 0 : gap, ' ');
    const std::string padding(heading.empty() ? 0 : tile_width - matrix_width, ' ');
    std::vector<std::string> added = lines_of(heatmap);
    scale = added.back();
    added.pop_back();
    lines.resize(added.size());
    for (std::size_t i = 0; i < added.size(); ++i) lines[i] += padding + separator + added[i];
    const std::string shown_title = truncated(printable(title), tile_width - 2);
    heading += separator + pad_right("  " + shown_title, tile_width);
  }

  std::string text() const {
    return heading.substr(0, heading.find_last_not_of(' ') + 1) + "\n" + joined(lines, "\n") + "\n";
  }
};

}  // namespace

std::string heatmap_sheet_text(const std::vector<Array>& panels,
                               const std::vector<std::string>& titles,
                               const HeatmapOptions& options, std::size_t columns) {
  check_heatmaps(panels, titles, options);
  const Range range = heatmap_range(panels, options);
  const std::size_t per_row = panels_per_row(panels.size(), options.width, columns);
  const std::size_t available = available_width(per_row, options.width);
  HeatmapOptions panel;
  panel.low = range.low, panel.high = range.high;
  panel.shades = options.shades, panel.width = available + edges;
  const std::size_t width = drawn_width(panels[0].shape()[1], available);
  std::string text = options.title.empty() ? "" : printable(options.title) + "\n";
  if (!options.row_title.empty() || !options.column_title.empty())
    text += "rows: " + options.row_title + ", columns: " + options.column_title + "\n";
  std::string scale;
  for (std::size_t first = 0; first < panels.size(); first += per_row) {
    PanelRow row{width, width_with_title(width, titles, panel.width)};
    for (std::size_t i = first; i < std::min(first + per_row, panels.size()); ++i)
      row.append(titles[i], heatmap_text(panels[i], panel));
    text += row.text();
    scale = row.scale;
  }
  return text + scale + "\n";
}

}  // namespace HEED_NAMESPACE
