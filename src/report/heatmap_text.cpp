// heatmap_text.cpp: matrices as shades of text: two characters are about as wide as they are high.

#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/array/shape.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/base/utf8.hpp"
#include "heed/report/heatmap.hpp"

namespace heed {
namespace {

// From dark blue over green to yellow: brighter is more, on light and on dark terminals.
constexpr int ansi_colors[] = {17, 18, 24, 30, 36, 35, 71, 107, 149, 185, 227};

std::string repeated(const std::string& text, std::size_t times) {
  std::string result;
  for (std::size_t i = 0; i < times; ++i) result += text;
  return result;
}

// Cells of `width` characters, from least to most.
std::vector<std::string> cells_of(Shades shades, std::size_t width) {
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

class Writer {
 public:
  Writer(const Array& x, const HeatmapOptions& options)
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
    shades_ = cells_of(options.shades, cell_width_);
  }

  std::string text() const {
    std::string text = column_lines();
    for (std::size_t r = 0; r < x_.shape()[0]; ++r) text += line(r);
    return text + scale();
  }

 private:
  std::size_t indent() const { return name_width_ + 2; }  // with a space and the edge

  void fit(std::size_t width) {
    const std::size_t room = width > indent() + 1 ? width - indent() - 1 : 1;
    cell_width_ = 2 * x_.shape()[1] <= room ? 2 : 1;
    side_ = (x_.shape()[1] + room - 1) / room;
    if (side_ == 1) return;
    x_ = max_pooled(x_, side_);
    row_names_.clear(), column_names_.clear();
    name_width_ = 0;
  }

  std::string cell(Real value) const {
    if (std::isnan(value)) return repeated("?", cell_width_);
    if (std::isinf(value) && value < 0) return repeated(masked_, cell_width_);
    const double part = (static_cast<double>(value) - range_.low) / range_.span();
    const double top = static_cast<double>(shades_.size() - 1);
    return shades_[static_cast<std::size_t>(std::lround(std::clamp(part, 0.0, 1.0) * top))];
  }

  std::string line(std::size_t row) const {
    std::string text =
        pad_left(row_names_.empty() ? "" : row_names_[row], name_width_) + " " + edge_;
    for (std::size_t c = 0; c < x_.shape()[1]; ++c) text += cell(x_(row, c));
    return text + edge_ + "\n";
  }

  // The columns' names, written downwards when they are wider than a cell.
  std::string column_lines() const {
    std::size_t height = 0;
    std::vector<std::vector<std::string>> letters;
    for (const std::string& name : column_names_) {
      letters.push_back(letters_of(name));
      height = std::max(height, letters.back().size());
    }
    std::string text;
    for (std::size_t h = height; h-- > 0;) text += letters_line(letters, h);
    return text;
  }

  std::vector<std::string> letters_of(const std::string& name) const {
    if (display_width(name) < cell_width_) return {name};
    std::vector<std::string> letters;
    for (std::size_t i = 0; i < name.size(); i += letters.back().size())
      letters.emplace_back(character_at(name, i));
    return letters;
  }

  // The letters that stand `from_bottom` lines above the last one.
  std::string letters_line(const std::vector<std::vector<std::string>>& letters,
                           std::size_t from_bottom) const {
    std::string text(indent(), ' ');
    for (const std::vector<std::string>& name : letters) {
      const bool reaches = from_bottom < name.size();
      text += pad_right(reaches ? name[name.size() - 1 - from_bottom] : "", cell_width_);
    }
    return text.erase(text.find_last_not_of(' ') + 1) + "\n";
  }

  bool holds(bool (*wanted)(Real)) const {
    return std::any_of(x_.data(), x_.data() + x_.size(), wanted);
  }

  std::string scale() const {
    std::string text(indent(), ' ');
    text += decimal(range_.low, 4) + " ";
    for (const std::string& shade : shades_) text += shade;
    text += " " + decimal(range_.high, 4);
    if (holds([](Real v) { return std::isinf(v) && v < 0; }))
      text += "   " + repeated(masked_, 2) + " masked";
    if (holds([](Real v) { return std::isnan(v); })) text += "   ?? not a number";
    if (side_ > 1)
      text +=
          "   each cell the largest of " + std::to_string(side_) + " x " + std::to_string(side_);
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
      Real& most = result(r / side, c / side);
      if (std::isnan(x(r, c)) || x(r, c) > most) most = std::isnan(most) ? most : x(r, c);
    }
  return result;
}

std::string heatmap_text(const Array& x, const HeatmapOptions& options) {
  check_heatmap(x, options);
  std::string text;
  if (!options.title.empty()) text += printable(options.title) + " " + str(shape_of(x)) + "\n";
  if (!options.row_title.empty() || !options.column_title.empty())
    text += "rows: " + options.row_title + ", columns: " + options.column_title + "\n";
  return text + Writer(x, options).text();
}

}  // namespace heed
