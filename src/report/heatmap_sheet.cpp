// heatmap_sheet.cpp: draw_heatmap_sheet draws several matrices of one shape in one SVG file.

#include <algorithm>
#include <cmath>

#include "heed/array/shape.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/report/heatmap.hpp"
#include "report/heatmap_script.hpp"

namespace HEED_NAMESPACE {
namespace {

using namespace heatmap_script;

constexpr std::size_t max_panel_cells = 128;  // on a panel's longer side
constexpr double max_sheet_cells = 512;       // on the side of a square with the area of all panels

// The layout of a sheet in pixels. Each panel lies in a tile with space for its title and names.
class SheetPicture {
 public:
  SheetPicture(const std::vector<Array>& panels, const std::vector<std::string>& titles,
               const HeatmapOptions& options, std::size_t columns)
      : panels_(panels), titles_(titles), options_(options), columns_(columns) {
    size_cells(), size_tiles();
    const double across = static_cast<double>(columns_);
    const double down = static_cast<double>((panels.size() + columns_ - 1) / columns_);
    top_ = 14 + (options.title.empty() ? 0 : 36) + (options.column_title.empty() ? 0 : 26);
    left_ = options.row_title.empty() ? 10 : 40;
    canvas_ = {std::max(left_ + across * tile_.width + 86, width_of(options.title) * 10 + 40),
               std::max(top_ + down * tile_.height, top_ + box_.top + scale_height() + 20)};
  }

  std::string script(const std::string& name) const {
    const Range range = heatmap_range(panels_, options_);
    std::string text = head(name, canvas_) + palette(options_.diverging) + "set cbrange " +
                       gnuplot_range(range.low, range.high) + "\n" +
                       ranges(panels_[0].shape()[0], panels_[0].shape()[1]) + axes() + scale() +
                       heading() + "set multiplot\n";
    for (std::size_t i = 0; i < panels_.size(); ++i) text += panel(i, name, range);
    return text + "unset multiplot\n";
  }

 private:
  static double width_of(const std::string& text) {
    return static_cast<double>(display_width(printable(text)));
  }

  // Cells are high enough for the names beside them and, in small matrices, wide enough for values.
  void size_cells() {
    const double rows = static_cast<double>(panels_[0].shape()[0]);
    const double columns = static_cast<double>(panels_[0].shape()[1]);
    const double longer_side = std::max(rows, columns);
    named_rows_ = !options_.row_names.empty() && longer_side <= max_panel_cells;
    named_columns_ = !options_.column_names.empty() && longer_side <= max_panel_cells;
    const double min_cell = named_rows_ || named_columns_ ? 10 : 2;
    cell_ = std::min(44.0, std::max(min_cell, std::floor(360 / longer_side)));
    box_ = {0, 0, cell_ * columns, cell_ * rows};
    name_size_ = std::min(13.0, cell_ - 1);
  }

  double length_of(const std::vector<std::string>& names) const {
    return 0.6 * name_size_ * static_cast<double>(std::min<std::size_t>(24, longest(names)));
  }

  void size_tiles() {
    if (columns_ == 0)
      columns_ = static_cast<std::size_t>(std::ceil(std::sqrt(double(panels_.size()))));
    columns_ = std::min(columns_, panels_.size());
    rotated_ = named_columns_ && length_of(options_.column_names) > 1.4 * cell_;
    box_.left = named_rows_ ? 14 + length_of(options_.row_names) : 34;
    box_.top = rotated_ ? 36 + length_of(options_.column_names) : 44;
    double title = 0;
    for (const std::string& text : titles_) title = std::max(title, 8.5 * width_of(text));
    tile_ = {0, 0, box_.left + std::max(box_.width, title) + 18, box_.top + box_.height + 22};
  }

  std::string axes() const {
    TicStyle style;
    style.all_numbers = std::max(panels_[0].shape()[0], panels_[0].shape()[1]) <= 12;
    style.show_spaces = true;
    style.font_size = name_size_;
    style.show_names = named_rows_;
    const std::string rows = tics("y", options_.row_names, style);
    style.show_names = named_columns_, style.rotated = rotated_;
    style.shift = rotated_ ? 0.2 : 0.5;
    return rows + tics("x2", options_.column_names, style);
  }

  // The colour scale is to the right of the first row of panels.
  std::string scale() const {
    const double left = left_ + static_cast<double>(columns_) * tile_.width + 8;
    return color_box({left, top_ + box_.top, 18, scale_height()}, canvas_);
  }

  double scale_height() const { return std::clamp(box_.height, 120.0, 360.0); }

  std::string heading() const {
    std::string text;
    double y = 26;
    if (!options_.title.empty()) {
      text += "set label " + gnuplot_string(options_.title) + at_pixel(canvas_, left_ + 8, y) +
              font(17) + "\n";
      y += 32;
    }
    if (!options_.column_title.empty())
      text += "set label " + gnuplot_string(options_.column_title + " \u2192") +
              at_pixel(canvas_, left_ + box_.left, y) + font(13) + "\n";
    if (!options_.row_title.empty())
      text += "set label " + gnuplot_string("\u2190 " + options_.row_title) +
              at_pixel(canvas_, 20, top_ + box_.top) + " right rotate by 90" + font(13) + "\n";
    return text;
  }

  std::string panel(std::size_t i, const std::string& name, const Range& range) const {
    Rectangle box = box_;
    box.left += left_ + tile_.width * static_cast<double>(i % columns_);
    box.top += top_ + tile_.height * static_cast<double>(i / columns_);
    const std::size_t first = i * panels_[0].size(), last = first + panels_[0].size() - 1;
    const Cells cells{
        name + ".csv", 2, "every ::" + std::to_string(first) + "::" + std::to_string(last), cell_,
        cell_ >= 30,   11};
    // The first panel also draws the headings and the scale; they are unset before the second.
    const std::string reset = i == 1 ? "unset label\nunset colorbox\n" : "";
    return reset + "set label 100 " + gnuplot_string(titles_[i]) +
           at_pixel(canvas_, box.left, box.top - box_.top + 14) + font(14) + "\n" +
           margins(box, canvas_) + plot(cells, range, panels_[i], options_.diverging);
  }

  const std::vector<Array>& panels_;
  const std::vector<std::string>& titles_;
  const HeatmapOptions& options_;
  std::size_t columns_;
  Canvas canvas_{};
  Rectangle box_{}, tile_{};  // a panel inside its tile, and a tile
  double cell_ = 0, name_size_ = 0, left_ = 0, top_ = 0;
  bool named_rows_ = false, named_columns_ = false, rotated_ = false;
};

std::string csv_of(const std::vector<Array>& panels) {
  std::string text = "panel,row,column,value\n";
  for (std::size_t i = 0; i < panels.size(); ++i)
    text += csv_lines(panels[i], std::to_string(i) + ",");
  return text;
}

Plot draw(const std::string& folder, const std::string& name, const std::vector<Array>& panels,
          const std::vector<std::string>& titles, const HeatmapOptions& options,
          std::size_t columns) {
  const std::string failure = write_text(path_in(folder, name + ".csv"), csv_of(panels));
  if (!failure.empty()) return {false, failure};
  return draw_with_gnuplot(folder, name,
                           SheetPicture(panels, titles, options, columns).script(name));
}

// The side of the squares for max pooling. Every cell is one SVG shape; too many make viewers slow.
std::size_t side_of(const Shape& shape, std::size_t panels) {
  const std::size_t longer_side = std::max(shape[0], shape[1]);
  const double sheet = static_cast<double>(longer_side) * std::sqrt(static_cast<double>(panels));
  return std::max((longer_side + max_panel_cells - 1) / max_panel_cells,
                  static_cast<std::size_t>(std::ceil(sheet / max_sheet_cells)));
}

HeatmapOptions without_names(HeatmapOptions options, std::size_t side) {
  options.row_names.clear(), options.column_names.clear();
  const std::string square = std::to_string(side) + " x " + std::to_string(side);
  options.title += (options.title.empty() ? "" : ", ") + ("each cell: maximum of " + square);
  return options;
}

}  // namespace

void check_heatmaps(const std::vector<Array>& panels, const std::vector<std::string>& titles,
                    const HeatmapOptions& options) {
  if (panels.empty()) throw_error("heatmap: a sheet needs at least one matrix");
  if (titles.size() != panels.size())
    throw_error("heatmap: ", titles.size(), " titles for ", panels.size(), " matrices");
  for (const Array& panel : panels) {
    check_heatmap(panel, options);
    if (shape_of(panel) != shape_of(panels[0]))
      throw_error("heatmap: matrices of a sheet differ in shape: ", str(shape_of(panels[0])),
                  " and ", str(shape_of(panel)));
  }
}

Range heatmap_range(const std::vector<Array>& panels, const HeatmapOptions& options) {
  Range range;
  for (const Array& panel : panels)
    for (std::size_t i = 0; i < panel.size(); ++i)
      range.include(static_cast<double>(panel.data()[i]));
  Array ends = zeros({2});
  if (!range.empty())
    ends(0) = static_cast<Real>(range.low), ends(1) = static_cast<Real>(range.high);
  return heatmap_range(ends, options);
}

Plot draw_heatmap_sheet(const std::string& folder, const std::string& name,
                        const std::vector<Array>& panels, const std::vector<std::string>& titles,
                        const HeatmapOptions& options, std::size_t columns) {
  check_heatmaps(panels, titles, options);
  const std::size_t side = side_of(shape_of(panels[0]), panels.size());
  if (side > 1) {
    std::vector<Array> pooled;
    for (const Array& panel : panels) pooled.push_back(max_pooled(panel, side));
    return draw(folder, name, pooled, titles, without_names(options, side), columns);
  }
  return draw(folder, name, panels, titles, options, columns);
}

}  // namespace HEED_NAMESPACE
