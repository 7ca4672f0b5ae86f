// scatter_text.cpp: scatter_text plots points as text: a symbol and a label for each point.

#include <algorithm>

#include "draw/label_places.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/base/utf8.hpp"
#include "heed/draw/scatter.hpp"

namespace HEED_NAMESPACE {
namespace {

constexpr const char* marks[] = {"●", "▲", "■", "◆"};

// The position of a character, counted from the top left corner.
struct Cell {
  std::size_t row, column;
};

// A grid of characters on which points and labels are drawn.
class TextCanvas {
 public:
  TextCanvas(std::size_t columns, std::size_t rows)
      : lines_(rows, std::vector<std::string>(columns, " ")),
        placement_{{0, 0, static_cast<double>(columns), static_cast<double>(rows)}} {}

  void set_mark(const Cell& at, const std::string& mark) {
    std::string& cell = lines_[at.row][at.column];
    if (cell == " ") placement_.occupied.push_back(box_beside(at, 0, 0, 1));
    cell = cell == " " || cell == mark ? mark : "@";
  }

  // Writes a point's label beside the point's marker. Returns false if there is no free position.
  bool set_label(const Cell& mark, const std::string& text) {
    const auto length = static_cast<double>(display_width(text));
    const auto beside = [&](double down, double right) {
      return box_beside(mark, down, right, length);
    };
    const std::vector<Box> boxes = {beside(0, 2), beside(0, -1 - length), beside(-1, 0),
                                    beside(1, 0), beside(-1, 1 - length), beside(1, 1 - length)};
    const Box& best = boxes[placement_.best_position(boxes)];
    if (placement_.covered_area(best) > 0) return false;
    placement_.occupied.push_back({best.left - 1, best.top, best.right + 1, best.bottom});
    write({static_cast<std::size_t>(best.top), static_cast<std::size_t>(best.left)}, text);
    return true;
  }

  std::string text() const {
    std::string result;
    for (const std::vector<std::string>& line : lines_) {
      std::string row = joined(line, "");
      result += row.erase(row.find_last_not_of(' ') + 1) + "\n";
    }
    return result;
  }

 private:
  static Box box_beside(const Cell& cell, double down, double right, double length) {
    const double top = static_cast<double>(cell.row) + down;
    const double left = static_cast<double>(cell.column) + right;
    return {left, top, left + length, top + 1};
  }

  // Writes text into the grid. A character that is two columns wide leaves its second cell empty. A
  // combining mark is appended to the preceding character, or dropped if it comes first.
  void write(Cell at, const std::string& text) {
    std::string* last = nullptr;
    for (std::size_t i = 0; i < text.size(); i += character_at(text, i).size()) {
      const std::string character(character_at(text, i));
      const std::size_t columns = display_width(character);
      if (columns == 0) {
        if (last != nullptr) *last += character;
        continue;
      }
      last = &lines_[at.row][at.column++];
      *last = character;
      if (columns == 2) lines_[at.row][at.column++] = "";
    }
  }

  std::vector<std::vector<std::string>> lines_;
  LabelPlacement placement_;
};

Cell cell_of(const Array& points, std::size_t i, const PlotView& view,
             const ScatterOptions& options) {
  const auto index_of = [](double fraction, std::size_t cells) {
    const double position = fraction * static_cast<double>(cells);
    return std::min(cells - 1, static_cast<std::size_t>(std::max(position, 0.0)));
  };
  return {options.height - 1 - index_of(view.y.fraction(points(i, 1)), options.height),
          index_of(view.x.fraction(points(i, 0)), options.width)};
}

std::string legend_line(const ScatterOptions& options, std::size_t left_out) {
  std::vector<std::string> entries;
  for (std::size_t g = 0; g < options.group_names.size(); ++g)
    entries.push_back(marks[g] + (" " + printable(options.group_names[g])));
  if (left_out > 0) entries.push_back("(" + counted(left_out, "label") + " left out)");
  return entries.empty() ? "" : joined(entries, "   ") + "\n";
}

}  // namespace

std::string scatter_text(const Array& points, const ScatterOptions& options) {
  check_scatter(points, options);
  check_text_size("scatter", options.width, options.height);
  // A character is about twice as high as it is wide.
  const PlotView view = scatter_view(points, static_cast<double>(options.width),
                                     2 * static_cast<double>(options.height));
  TextCanvas canvas(options.width, options.height);
  for (std::size_t i = 0; i < points.shape(0); ++i)
    canvas.set_mark(cell_of(points, i, view, options), marks[options.group(i)]);
  std::size_t left_out = 0;
  for (std::size_t i = 0; i < options.labels.size(); ++i)
    left_out += !canvas.set_label(cell_of(points, i, view, options),
                                  truncated(printable(options.labels[i]), 24));
  const std::string title = options.title.empty() ? "" : printable(options.title) + "\n";
  return title + canvas.text() + legend_line(options, left_out);
}

}  // namespace HEED_NAMESPACE
