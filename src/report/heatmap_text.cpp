// heatmap_text.cpp: heatmap_text (a heat map as text) and max_pooled (max pooling).

#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/array/shape.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/base/utf8.hpp"
#include "heed/report/heatmap.hpp"

namespace HEED_NAMESPACE {
namespace {

// From dark blue over green to yellow: larger values are brighter.
constexpr int ansi_colors[] = {17, 18, 24, 30, 36, 35, 71, 107, 149, 185, 227};

std::string repeated(const std::string& text, std::size_t times) {
  std::string result;
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}

// Cells of `width` characters, from the smallest to the largest value.
std::vector<std::string> shaded_cells(Shades shades, std::size_t width) {
  std::vector<std::string> cells = {" ", "░", "▒", "▓", "█"};
  if (shades == Shades::ascii) cells = {" ", ".", ":", "-", "=", "+", "*", "#", "%", "@"};
  for (std::string& cell : cells) cell = repeated(cell, width);
  if (shades != Shades::ansi) return cells;
  cells.clear();
  for (const int color : ansi_colors)
    cells.push_back("\x1b[48;5;" + std::to_string(color) + "m" + std::string(width, ' ') +
                    "\x1b[0m");
  return cells;
}

class HeatmapText {
 public:
  HeatmapText(const Array& x, const HeatmapOptions& options)
      : x_(x),
        range_(heatmap_range(x, options)),
        row_names_(options.row_names),
        column_names_(options.column_names),
        masked_(options.shades == Shades::ascii ? "/" : "·"),
        edge_(options.shades == Shades::ascii ? "|" : "│") {
    for (std::string& name : row_names_) name = truncated(printable(name), 20);
    for (std::string& name : column_names_) name = truncated(printable(name), 12);
    for (const std::string& name : row_names_)
      name_width_ = std::max(name_width_, display_width(name));
    fit(options.width);
    shades_ = shaded_cells(options.shades, cell_width_);
  }

  std::string text() const {
    std::string text = column_name_lines();
    for (std::size_t r = 0; r < x_.shape()[0]; ++r) text += line(r);
    return text + scale();
  }

 private:
  std::size_t indent() const { return name_width_ + 2; }  // of a row: its name, a space, the edge

  // Two characters are about as wide as one is high, so a cell of two is nearly square.
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
    if (std::isinf(value) && value < 0) return repeated(masked_, cell_width_);
    const double fraction = (static_cast<double>(value) - range_.low) / range_.span();
    const double last = static_cast<double>(shades_.size() - 1);
    return shades_[static_cast<std::size_t>(std::lround(std::clamp(fraction, 0.0, 1.0) * last))];
  }

  std::string line(std::size_t row) const {
    std::string text =
        pad_left(row_names_.empty() ? "" : row_names_[row], name_width_) + " " + edge_;
    for (std::size_t c = 0; c < x_.shape()[1]; ++c) text += cell(x_(row, c));
    return text + edge_ + "\n";
  }

  // The column names, written vertically when they are wider than a cell.
  std::string column_name_lines() const {
    std::size_t height = 0;
    std::vector<std::vector<std::string>> names;
    for (const std::string& name : column_names_) {
      names.push_back(characters_of(name));
      height = std::max(height, names.back().size());
    }
    std::string text;
    for (std::size_t h = height; h-- > 0;) text += column_name_line(names, h);
    return text;
  }

  std::vector<std::string> characters_of(const std::string& name) const {
    if (display_width(name) < cell_width_) return {name};
    std::vector<std::string> characters;
    for (std::size_t i = 0; i < name.size(); i += characters.back().size())
      characters.emplace_back(character_at(name, i));
    return characters;
  }

  // Line `height` of the column names, counted from the bottom.
  std::string column_name_line(const std::vector<std::vector<std::string>>& names,
                               std::size_t height) const {
    std::string text(indent(), ' ');
    for (const std::vector<std::string>& name : names)
      text += pad_right(height < name.size() ? name[name.size() - 1 - height] : "", cell_width_);
    return text.erase(text.find_last_not_of(' ') + 1) + "\n";
  }

  bool any_cell(bool (*condition)(Real)) const {
    return std::any_of(x_.data(), x_.data() + x_.size(), condition);
  }

  std::string scale() const {
    std::string text(indent(), ' ');
    text += decimal(range_.low, 4) + " ";
    for (const std::string& shade : shades_) text += shade;
    text += " " + decimal(range_.high, 4);
    if (any_cell([](Real v) { return std::isinf(v) && v < 0; }))
      text += "   " + repeated(masked_, 2) + " masked";
    if (any_cell([](Real v) { return std::isnan(v); })) text += "   ?? not a number";
    if (side_ > 1)
      text += "   each cell: maximum of " + std::to_string(side_) + " x " + std::to_string(side_);
    return text + "\n";
  }

  Array x_;
  std::vector<std::string> shades_;
  Range range_;
  std::vector<std::string> row_names_, column_names_;
  std::string masked_, edge_;
  std::size_t name_width_ = 0, cell_width_ = 2, side_ = 1;
};

}  // namespace

Array max_pooled(const Array& x, std::size_t side) {
  const std::size_t rows = x.shape()[0], columns = x.shape()[1];
  Array result = filled({(rows + side - 1) / side, (columns + side - 1) / side},
                        -std::numeric_limits<Real>::infinity());
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < columns; ++c) {
      Real& maximum = result(r / side, c / side);
      if (std::isnan(x(r, c)) || x(r, c) > maximum)
        maximum = std::isnan(maximum) ? maximum : x(r, c);
    }
  return result;
}

std::string heatmap_text(const Array& x, const HeatmapOptions& options) {
  check_heatmap(x, options);
  std::string text;
  if (!options.title.empty()) text += printable(options.title) + " " + str(shape_of(x)) + "\n";
  if (!options.row_title.empty() || !options.column_title.empty())
    text += "rows: " + options.row_title + ", columns: " + options.column_title + "\n";
  return text + HeatmapText(x, options).text();
}

}  // namespace HEED_NAMESPACE
