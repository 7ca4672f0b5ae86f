// heatmap_picture.cpp: draw_heatmap and draw_heatmap_sheet write gnuplot scripts for heat maps.

#include <algorithm>
#include <cmath>

#include "draw/heatmap_script.hpp"
#include "heed/array/shape.hpp"
#include "heed/base/text.hpp"
#include "heed/draw/heatmap.hpp"

namespace HEED_NAMESPACE {
namespace {

constexpr std::size_t max_named_cells = 80;  // larger matrices are drawn without names
constexpr double max_panel_cells = 128;      // maximum rows or columns of a matrix in a sheet
constexpr double max_sheet_cells = 512;      // maximum rows or columns of a whole square sheet

// The layout of a single heat map in pixels.
struct Layout {
  Canvas canvas;
  Rectangle panel;
  double cell;
};

// Computes the layout of a heat map, assuming that characters are about 8 pixels wide.
Layout layout_of(const Array& x, const HeatmapOptions& options) {
  const auto rows = static_cast<double>(x.shape()[0]), columns = static_cast<double>(x.shape()[1]);
  const auto space_for = [](const std::vector<std::string>& names, double without_names) {
    return names.empty() ? without_names : 8 * characters_of(names);
  };
  const bool named = !options.row_names.empty() || !options.column_names.empty();
  const double min_cell = named ? 12 : 2;  // a row or column name needs 12 pixels
  const double cell = std::clamp(std::floor(560 / std::max(rows, columns)), min_cell, 56.0);
  const Rectangle panel{
      34 + space_for(options.row_names, 30) + (options.row_title.empty() ? 0 : 24),
      34 + (options.title.empty() ? 0 : 34) + (options.column_title.empty() ? 0 : 24) +
          space_for(options.column_names, 16),
      cell * columns, cell * rows};
  const double title_width = 10 * static_cast<double>(display_width(options.title) + 12);
  const Canvas canvas{std::max(panel.left + panel.width + 110, title_width),
                      panel.top + 24 + std::max(120.0, panel.height)};
  return {canvas, panel, cell};
}

std::string titles(const Canvas& canvas, const Rectangle& panel, const HeatmapOptions& options,
                   const Shape& shape) {
  std::string text;
  if (!options.title.empty())
    text +=
        canvas.label(options.title + " " + str(shape), canvas.width / 2, 24, " center" + font(17));
  if (!options.column_title.empty())
    text += canvas.label(options.column_title, panel.left + panel.width / 2,
                         options.title.empty() ? 20 : 54, " center");
  if (!options.row_title.empty())
    text +=
        canvas.label(options.row_title, 20, panel.top + panel.height / 2, " center rotate by 90");
  return text;
}

std::string head(const std::string& name, const Canvas& canvas) {
  return canvas.head("a heat map. To draw it") + "set output " + gnuplot_string(name + ".svg") +
         "\nset datafile separator ','\nunset key\n";
}

std::string script_of(const std::string& name, const Array& x, const HeatmapOptions& options) {
  const auto [canvas, panel, cell] = layout_of(x, options);
  const Range range = heatmap_range({x}, options);
  const double name_size = std::min(14.0, cell - 1);
  const std::string style = characters_of(options.column_names) > 3 ? " rotate by 90 left" : "";
  const Cells cells{gnuplot_string(name + ".csv") + " skip 1", 1, cell, is_small(x) ? 12.0 : 0.0};
  return head(name, canvas) + canvas.margins(panel) + titles(canvas, panel, options, shape_of(x)) +
         palette(range, options.diverging) + cell_ranges(x) +
         color_box(canvas, panel.left + panel.width + 18, panel.top,
                   std::max(120.0, panel.height)) +
         tics("x2", options.column_names, name_size, is_small(x), style) +
         tics("y", options.row_names, name_size, is_small(x)) +
         plot_command(cells, range, x, options.diverging);
}

// A figure with several heat maps as subplots (tiles), each with space for its title and for the
// labels of its rows and columns.
class Sheet {
 public:
  Sheet(const std::vector<Array>& panels, const std::vector<std::string>& titles,
        const HeatmapOptions& options, std::size_t columns)
      : panels_(panels),
        titles_(titles),
        options_(options),
        columns_(sheet_columns(columns, panels.size())) {
    for (std::string& name : options_.row_names) name = printable(name);  // replaces " " by "␣"
    for (std::string& name : options_.column_names) name = printable(name);
    size_panel(), size_tile();
    const auto across = static_cast<double>(columns_);
    const auto down = static_cast<double>((panels.size() + columns_ - 1) / columns_);
    top_ = 14 + (options.title.empty() ? 0 : 36) + (options.column_title.empty() ? 0 : 26);
    left_ = options.row_title.empty() ? 10 : 40;
    scale_left_ = left_ + across * tile_width_ + 8;
    scale_height_ = std::clamp(panel_.height, 120.0, 360.0);
    canvas_ = {std::max(left_ + across * tile_width_ + 86, width_of(options.title) * 10 + 40),
               std::max(top_ + down * tile_height_, top_ + panel_.top + scale_height_ + 20)};
  }

  std::string script(const std::string& name) const {
    const Range range = heatmap_range(panels_, options_);
    std::string text = head(name, canvas_) + palette(range, options_.diverging) +
                       cell_ranges(panels_[0]) + axes() +
                       color_box(canvas_, scale_left_, top_ + panel_.top, scale_height_) +
                       heading() + "set multiplot\n";
    for (std::size_t i = 0; i < panels_.size(); ++i) text += panel(i, name, range);
    return text + "unset multiplot\n";
  }

  std::string csv() const {
    std::string text = "panel,row,column,value\n";
    for (std::size_t i = 0; i < panels_.size(); ++i)
      text += csv_lines(panels_[i], std::to_string(i) + ",");
    return text;
  }

 private:
  static double width_of(const std::string& text) {
    return static_cast<double>(display_width(printable(text)));
  }

  double length_of(const std::vector<std::string>& names) const {
    return 0.6 * name_size_ * characters_of(names);
  }

  // Makes cells high enough for the row names and, in small matrices, wide enough for the values.
  void size_panel() {
    const auto rows = static_cast<double>(panels_[0].shape()[0]);
    const auto columns = static_cast<double>(panels_[0].shape()[1]);
    const bool named = !options_.row_names.empty() || !options_.column_names.empty();
    cell_ = std::clamp(std::floor(360 / std::max(rows, columns)), named ? 10.0 : 2.0, 44.0);
    name_size_ = std::min(13.0, cell_ - 1);
    panel_.width = cell_ * columns, panel_.height = cell_ * rows;
  }

  void size_tile() {
    const double column_name_length = length_of(options_.column_names);
    rotated_ = column_name_length > 1.4 * cell_;
    panel_.left = options_.row_names.empty() ? 34 : 14 + length_of(options_.row_names);
    panel_.top = rotated_ ? 36 + column_name_length : 44;
    double title = 0;
    for (const std::string& text : titles_) title = std::max(title, 8.5 * width_of(text));
    tile_width_ = panel_.left + std::max(panel_.width, title) + 18;
    tile_height_ = panel_.top + panel_.height + 22;
  }

  std::string axes() const {
    const bool small = is_small(panels_[0]);
    return tics("y", options_.row_names, name_size_, small) +
           tics("x2", options_.column_names, name_size_, small,
                rotated_ ? " offset 0,-0.2 rotate by 90 left" : " offset 0,-0.5");
  }

  std::string heading() const {
    std::string text;
    if (!options_.title.empty()) text += canvas_.label(options_.title, left_ + 8, 26, font(17));
    if (!options_.column_title.empty())
      text += canvas_.label(options_.column_title + " \u2192", left_ + panel_.left,
                            options_.title.empty() ? 26 : 58, font(13));
    if (!options_.row_title.empty())
      text += canvas_.label("\u2190 " + options_.row_title, 20, top_ + panel_.top,
                            " right rotate by 90" + font(13));
    return text;
  }

  std::string panel(std::size_t i, const std::string& name, const Range& range) const {
    Rectangle box = panel_;
    box.left += left_ + tile_width_ * static_cast<double>(i % columns_);
    box.top += top_ + tile_height_ * static_cast<double>(i / columns_);
    const std::size_t first = i * panels_[0].size(), last = first + panels_[0].size() - 1;
    const Cells cells{gnuplot_string(name + ".csv") + " skip 1 every ::" + std::to_string(first) +
                          "::" + std::to_string(last),
                      2, cell_, is_small(panels_[i]) ? 11.0 : 0.0};
    // The first panel also draws the headings and the colour scale. The second panel unsets the
    // headings and the scale, because gnuplot would draw them again.
    const std::string reset = i == 1 ? "unset label\nunset colorbox\n" : "";
    return reset + "set label 100 " + gnuplot_string(titles_[i]) +
           canvas_.at(box.left, box.top - panel_.top + 14) + font(14) + "\n" +
           canvas_.margins(box) + plot_command(cells, range, panels_[i], options_.diverging);
  }

  const std::vector<Array>& panels_;
  const std::vector<std::string>& titles_;
  HeatmapOptions options_;
  std::size_t columns_;
  // The sizes below are in pixels. `panel_` is the position of a matrix inside its tile.
  Canvas canvas_{};
  Rectangle panel_{};
  double left_ = 0, top_ = 0, tile_width_ = 0, tile_height_ = 0, scale_left_ = 0, scale_height_ = 0;
  double cell_ = 0, name_size_ = 0;
  bool rotated_ = false;
};

// Returns the side of the square windows of max pooling (1: no pooling). Pooling limits the number
// of cells, because each cell is an SVG shape, and many shapes make viewers slow.
std::size_t pooling_side(const std::vector<Array>& panels) {
  const auto panel_side = static_cast<double>(longer_side(panels[0]));
  const double sheet_side = panel_side * std::sqrt(static_cast<double>(panels.size()));
  return static_cast<std::size_t>(
      std::ceil(std::max(panel_side / max_panel_cells, sheet_side / max_sheet_cells)));
}

HeatmapOptions without_names(HeatmapOptions options) {
  options.row_names.clear(), options.column_names.clear();
  return options;
}

}  // namespace

Plot draw_heatmap(const std::string& folder, const std::string& name, const Array& x,
                  const HeatmapOptions& options) {
  check_heatmaps({x}, {""}, options);
  const bool named = longer_side(x) <= max_named_cells;
  return draw_with_gnuplot(folder, name,
                           script_of(name, x, named ? options : without_names(options)),
                           "row,column,value\n" + csv_lines(x, ""));
}

Plot draw_heatmap_sheet(const std::string& folder, const std::string& name,
                        const std::vector<Array>& panels, const std::vector<std::string>& titles,
                        const HeatmapOptions& options, std::size_t columns) {
  check_heatmaps(panels, titles, options);
  const auto draw = [&](const std::vector<Array>& shown, const HeatmapOptions& shown_options) {
    const Sheet sheet(shown, titles, shown_options, columns);
    return draw_with_gnuplot(folder, name, sheet.script(name), sheet.csv());
  };
  const std::size_t side = pooling_side(panels);
  if (side == 1) return draw(panels, options);
  std::vector<Array> pooled;
  for (const Array& panel : panels) pooled.push_back(max_pooled(panel, side));
  HeatmapOptions pooled_options = without_names(options);
  const std::string square = std::to_string(side) + " x " + std::to_string(side);
  pooled_options.title += (options.title.empty() ? "" : ", ") + ("each cell: maximum of " + square);
  return draw(pooled, pooled_options);
}

}  // namespace HEED_NAMESPACE
