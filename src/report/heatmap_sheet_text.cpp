// heatmap_sheet_text.cpp: several matrices side by side, as shades of text.

#include <algorithm>
#include <cmath>

#include "heed/array/shape.hpp"
#include "heed/base/text.hpp"
#include "heed/report/heatmap.hpp"

namespace heed {
namespace {

constexpr std::size_t edges = 3;        // a space and two edges
constexpr std::size_t least_room = 12;  // for a matrix without them
constexpr std::size_t gap = 2;

// How many stand side by side, and what each has room for.
struct Columns {
  std::size_t count, room;
};

std::size_t room_of(std::size_t count, std::size_t width) {
  const std::size_t each = (width + gap) / count;
  return each > edges + gap ? each - edges - gap : 1;
}

Columns columns_of(std::size_t panels, std::size_t width, std::size_t columns) {
  if (columns == 0) columns = static_cast<std::size_t>(std::ceil(std::sqrt(double(panels))));
  std::size_t count = std::min(columns, panels);
  while (count > 1 && room_of(count, width) < least_room) --count;
  return {count, room_of(count, width)};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0, end; (end = text.find('\n', begin)) != text.npos; begin = end + 1)
    lines.push_back(text.substr(begin, end - begin));
  return lines;
}

// What a panel takes with its edges, as heatmap_text draws it in this room.
std::size_t width_of(std::size_t columns, std::size_t room) {
  if (2 * columns <= room) return 2 * columns + edges;
  const std::size_t side = (columns + room - 1) / room;
  return (columns + side - 1) / side + edges;
}

}  // namespace

std::string heatmap_sheet_text(const std::vector<Array>& panels,
                               const std::vector<std::string>& titles,
                               const HeatmapOptions& options, std::size_t columns) {
  check_heatmaps(panels, titles, options);
  const Range range = heatmap_range(panels, options);
  const Columns across = columns_of(panels.size(), options.width, columns);
  HeatmapOptions one;
  one.low = range.low, one.high = range.high;
  one.shades = options.shades, one.width = across.room + edges;
  const std::size_t width = width_of(panels[0].shape()[1], across.room);
  std::size_t tile = width;  // with its title, when there is room for it
  for (const std::string& title : titles)
    tile = std::max(tile, std::min(across.room + edges, 2 + display_width(printable(title))));
  std::string text = options.title.empty() ? "" : printable(options.title) + "\n";
  if (!options.row_title.empty() || !options.column_title.empty())
    text += "rows: " + options.row_title + ", columns: " + options.column_title + "\n";
  std::string scale;
  for (std::size_t first = 0; first < panels.size(); first += across.count) {
    std::string heading;
    std::vector<std::string> rows;
    for (std::size_t i = first; i < std::min(first + across.count, panels.size()); ++i) {
      const std::string before(i == first ? 0 : gap, ' ');
      std::vector<std::string> lines = lines_of(heatmap_text(panels[i], one));
      scale = lines.back();
      lines.pop_back();
      rows.resize(lines.size());
      const std::string after(tile - width, ' ');
      for (std::size_t r = 0; r < lines.size(); ++r)
        rows[r] += (i == first ? "" : after) + before + lines[r];
      heading += before + pad_right("  " + truncated(printable(titles[i]), tile - 2), tile);
    }
    text += heading.erase(heading.find_last_not_of(' ') + 1) + "\n";
    for (const std::string& row : rows) text += row + "\n";
  }
  return text + scale + "\n";
}

}  // namespace heed
