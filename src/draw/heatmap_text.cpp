// heatmap_text.cpp: heatmap_text and heatmap_sheet_text plot heat maps as text.

#include <algorithm>
#include <cmath>
#include <utility>

#include "heed/array/shape.hpp"
#include "heed/base/text.hpp"
#include "heed/base/utf8.hpp"
#include "heed/draw/heatmap.hpp"

namespace HEED_NAMESPACE {
namespace {

// ANSI colours from dark blue through green to yellow: larger values are brighter.
constexpr int ansi_colors[] = {17, 18, 24, 30, 36, 35, 71, 107, 149, 185, 227};

std::string repeated(const std::string& text, std::size_t times) {
  std::string result;
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}

// Returns the text of a cell of `width` characters for each shade, from the smallest to the largest
// value. If diverging (not with ANSI colours), zero is blank, and negative and positive values have
// different characters.
std::vector<std::string> shaded_cells(Shades shades, bool diverging, std::size_t width) {
  std::vector<std::string> cells = {" ", "░", "▒", "▓", "█"};
  if (shades == Shades::ascii) cells = {" ", ".", ":", "-", "=", "+", "*", "#", "%", "@"};
  if (diverging) cells = {"≡", "=", "-", " ", "░", "▒", "█"};
  if (diverging && shades == Shades::ascii) cells = {"=", "-", " ", "+", "#"};
  for (std::string& cell : cells) cell = repeated(cell, width);
  if (shades != Shades::ansi) return cells;
  cells.clear();
  for (const int color : ansi_colors)
    cells.push_back("\x1b[48;5;" + std::to_string(color) + "m" + std::string(width, ' ') +
                    "\x1b[0m");
  return cells;
}

// The limits of the scale: "0.2500" and "1.0000". Limits that this form would round to zero or to
// one number, and huge ones, have four significant digits, or more if these are equal.
std::pair<std::string, std::string> limit_texts(const Range& range) {
  const double largest = std::max(std::abs(range.low), std::abs(range.high));
  std::pair<std::string, std::string> texts{decimal(range.low, 4), decimal(range.high, 4)};
  if (largest >= 1e-3 && largest < 1e8 && texts.first != texts.second) return texts;
  for (int digits = 4; digits == 4 || texts.first == texts.second; ++digits)
    texts = {significant(range.low, digits), significant(range.high, digits)};
  return texts;
}

// A heat map as lines of text.
class HeatmapText {
 public:
  HeatmapText(const Array& x, const Range& range, const HeatmapOptions& options)
      : x_(x),
        range_(range),
        row_names_(options.row_names),
        column_names_(options.column_names),
        masked_(options.shades == Shades::ascii ? "/" : "·"),
        infinite_(options.shades == Shades::ascii ? "^" : "∞"),
        edge_(options.shades == Shades::ascii ? "|" : "│") {
    for (std::string& name : row_names_) name = truncated(printable(name), 20);
    for (std::string& name : column_names_) name = truncated(printable(name), 12);
    for (const std::string& name : row_names_)
      name_width_ = std::max(name_width_, display_width(name));
    fit(options.width);
    shades_ = shaded_cells(options.shades, options.diverging, cell_width_);
  }

  std::size_t width() const { return indent() + cell_width_ * x_.shape()[1] + 1; }

  // Returns the lines with the column names, then one line for each row of the matrix.
  std::vector<std::string> lines() const {
    std::vector<std::string> lines = column_name_lines();
    for (std::size_t r = 0; r < x_.shape()[0]; ++r) lines.push_back(row(r));
    return lines;
  }

  std::string scale() const {
    std::string text(indent(), ' ');
    const auto [low, high] = limit_texts(range_);
    text += low + " " + joined(shades_, "") + " " + high;
    if (xt::any(xt::isinf(x_) && x_ < 0)) text += "   " + repeated(masked_, 2) + " masked";
    if (xt::any(xt::isinf(x_) && x_ > 0)) text += "   " + repeated(infinite_, 2) + " infinite";
    if (xt::any(xt::isnan(x_))) text += "   ?? not a number";
    if (side_ > 1)
      text += "   each cell: maximum of " + std::to_string(side_) + " x " + std::to_string(side_);
    return text + "\n";
  }

 private:
  std::size_t indent() const { return name_width_ + 2; }  // width of row name, space, left border

  // A character is about twice as high as wide, so a cell of two characters is nearly square.
  void fit(std::size_t width) {
    const std::size_t available = width > indent() + 1 ? width - indent() - 1 : 1;
    cell_width_ = 2 * x_.shape()[1] <= available ? 2 : 1;
    side_ = (x_.shape()[1] + available - 1) / available;
    if (side_ == 1) return;
    x_ = max_pooled(x_, side_);
    row_names_.clear(), column_names_.clear();
    name_width_ = 0;
  }

  std::string cell(Real value) const {
    if (std::isnan(value)) return repeated("?", cell_width_);
    if (std::isinf(value)) return repeated(value < 0 ? masked_ : infinite_, cell_width_);
    const double fraction = std::clamp(range_.fraction(static_cast<double>(value)), 0.0, 1.0);
    const double last = static_cast<double>(shades_.size() - 1);
    return shades_[static_cast<std::size_t>(std::lround(fraction * last))];
  }

  std::string row(std::size_t index) const {
    std::string text =
        pad_left(row_names_.empty() ? "" : row_names_[index], name_width_) + " " + edge_;
    for (std::size_t c = 0; c < x_.shape()[1]; ++c) text += cell(x_(index, c));
    return text + edge_;
  }

  // The column names as lines of text: vertical, unless a name is narrower than a cell.
  std::vector<std::string> column_name_lines() const {
    std::size_t height = 0;
    for (const std::string& name : column_names_)
      height = std::max(height, characters_of(name).size());
    std::vector<std::string> lines(height, std::string(indent(), ' '));
    for (const std::string& name : column_names_) {
      std::vector<std::string> characters = characters_of(name);
      characters.insert(characters.begin(), height - characters.size(), "");
      for (std::size_t h = 0; h < height; ++h) lines[h] += pad_right(characters[h], cell_width_);
    }
    for (std::string& line : lines) line.erase(line.find_last_not_of(' ') + 1);
    return lines;
  }

  std::vector<std::string> characters_of(const std::string& name) const {
    if (display_width(name) < cell_width_) return {name};
    std::vector<std::string> characters;
    for (std::size_t i = 0; i < name.size(); i += characters.back().size())
      characters.emplace_back(character_at(name, i));
    return characters;
  }

  Array x_;
  std::vector<std::string> shades_;
  Range range_;
  std::vector<std::string> row_names_, column_names_;
  std::string masked_, infinite_, edge_;
  std::size_t name_width_ = 0, cell_width_ = 2, side_ = 1;
};

std::string axis_titles(const HeatmapOptions& options) {
  if (options.row_title.empty() && options.column_title.empty()) return "";
  return "rows: " + printable(options.row_title) + ", columns: " + printable(options.column_title) +
         "\n";
}

// Widths in a sheet (a grid of matrices), in characters.
constexpr std::size_t edges = 3;       // width of a space, the left and the right border
constexpr std::size_t min_width = 12;  // minimum width of a matrix, without borders
constexpr std::size_t panel_gap = 2;   // width of the blank space between two matrices

// The width of one matrix without its borders, in characters, if `count` matrices are side by side.
std::size_t available_width(std::size_t count, std::size_t width) {
  const std::size_t each = (width + panel_gap) / count;
  return each > edges + panel_gap ? each - edges - panel_gap : 1;
}

// The width of a tile: the width of its matrix or of the longest title, whichever is larger. Titles
// are truncated to max_width.
std::size_t tile_width(std::size_t matrix_width, const std::vector<std::string>& titles,
                       std::size_t max_width) {
  std::size_t width = matrix_width;
  for (const std::string& title : titles)
    width = std::max(width, std::min(max_width, 2 + display_width(printable(title))));
  return width;
}

// Returns the matrices with indices `first` to `last` - 1 side by side, each under its title.
std::string panel_row(const std::vector<HeatmapText>& panels,
                      const std::vector<std::string>& titles, std::size_t first, std::size_t last,
                      std::size_t width) {
  std::string heading;
  std::vector<std::string> lines(panels[first].lines().size());
  for (std::size_t i = first; i < last; ++i) {
    heading += pad_right("  " + truncated(printable(titles[i]), width - 2), width + panel_gap);
    const std::string separator(i == first ? 0 : width - panels[i].width() + panel_gap, ' ');
    const std::vector<std::string> added = panels[i].lines();
    for (std::size_t r = 0; r < lines.size(); ++r) lines[r] += separator + added[r];
  }
  return heading.erase(heading.find_last_not_of(' ') + 1) + "\n" + joined(lines, "\n") + "\n";
}

}  // namespace

std::string heatmap_text(const Array& x, const HeatmapOptions& options) {
  check_heatmaps({x}, {""}, options);
  std::string text;
  if (!options.title.empty()) text += printable(options.title) + " " + str(shape_of(x)) + "\n";
  const HeatmapText map(x, heatmap_range({x}, options), options);
  return text + axis_titles(options) + joined(map.lines(), "\n") + "\n" + map.scale();
}

std::string heatmap_sheet_text(const std::vector<Array>& panels,
                               const std::vector<std::string>& titles,
                               const HeatmapOptions& options, std::size_t columns) {
  check_heatmaps(panels, titles, options);
  std::size_t per_row = sheet_columns(columns, panels.size());
  while (per_row > 1 && available_width(per_row, options.width) < min_width) --per_row;
  HeatmapOptions panel;
  panel.shades = options.shades, panel.diverging = options.diverging;
  panel.width = available_width(per_row, options.width) + edges;
  const Range range = heatmap_range(panels, options);
  std::vector<HeatmapText> maps;
  for (const Array& x : panels) maps.emplace_back(x, range, panel);
  const std::size_t width = tile_width(maps[0].width(), titles, panel.width);
  std::string text = options.title.empty() ? "" : printable(options.title) + "\n";
  text += axis_titles(options);
  for (std::size_t first = 0; first < panels.size(); first += per_row)
    text += panel_row(maps, titles, first, std::min(first + per_row, panels.size()), width);
  return text + maps.back().scale();
}

}  // namespace HEED_NAMESPACE
