// scatter_text.cpp: named points as text: a sign for each, and its name where there is room.

#include <algorithm>
#include <cmath>

#include "heed/base/error.hpp"
#include "heed/base/text.hpp"
#include "heed/base/utf8.hpp"
#include "heed/report/label_places.hpp"
#include "heed/report/scatter.hpp"

namespace heed {
namespace {

constexpr const char* marks[] = {"●", "▲", "■", "◆"};

class Sheet {
 public:
  Sheet(std::size_t columns, std::size_t rows)
      : lines_(rows, std::vector<std::string>(columns, " ")),
        places_({0, 0, static_cast<double>(columns), static_cast<double>(rows)}) {}

  void set_mark(std::size_t row, std::size_t column, const std::string& mark) {
    std::string& cell = lines_[row][column];
    if (cell == " ") places_.take(box(row, column, 1));
    cell = cell == " " || cell == mark ? mark : "@";
  }

  // False when there is no place beside the mark that is free.
  bool set_label(std::size_t row, std::size_t column, const std::string& text) {
    const auto length = static_cast<double>(display_width(text));
    const auto r = static_cast<double>(row), c = static_cast<double>(column);
    const std::vector<Box> boxes = {moved(length, r, c + 2),
                                    moved(length, r, c - 1 - length),
                                    moved(length, r - 1, c),
                                    moved(length, r + 1, c),
                                    moved(length, r - 1, c - length + 1),
                                    moved(length, r + 1, c - length + 1)};
    const Box& place = boxes[places_.best(boxes)];
    if (places_.covered(place) > 0) return false;
    places_.take({place.left - 1, place.top, place.right + 1, place.bottom});
    write(static_cast<std::size_t>(place.top), static_cast<std::size_t>(place.left), text);
    return true;
  }

  std::string text() const {
    std::string result;
    for (const std::vector<std::string>& line : lines_) {
      std::string row;
      for (const std::string& cell : line) row += cell;
      result += row.erase(row.find_last_not_of(' ') + 1) + "\n";
    }
    return result;
  }

 private:
  static Box moved(double length, double row, double column) {
    return {column, row, column + length, row + 1};
  }
  static Box box(std::size_t row, std::size_t column, double length) {
    return moved(length, static_cast<double>(row), static_cast<double>(column));
  }

  // A wide character fills its second cell with nothing. What has no width of its own rides on the
  // character before it; where there is none it is dropped.
  void write(std::size_t row, std::size_t column, const std::string& text) {
    std::string* last = nullptr;
    for (std::size_t i = 0; i < text.size(); i += character_at(text, i).size()) {
      const std::string character(character_at(text, i));
      const std::size_t columns = display_width(character);
      if (columns == 0) {
        if (last != nullptr) *last += character;
        continue;
      }
      last = &lines_[row][column++];
      *last = character;
      if (columns == 2) lines_[row][column++] = "";
    }
  }

  std::vector<std::vector<std::string>> lines_;
  LabelPlacement places_;
};

struct Cell {
  std::size_t row, column;
};

Cell cell_of(const Array& points, std::size_t i, const View& view, const ScatterOptions& options) {
  const auto part = [](double value, const Range& range, std::size_t cells) {
    const double place = (value - range.low) / range.span() * static_cast<double>(cells);
    return std::min(cells - 1, static_cast<std::size_t>(std::max(place, 0.0)));
  };
  return {options.height - 1 - part(points(i, 1), view.y, options.height),
          part(points(i, 0), view.x, options.width)};
}

std::string legend_line(const ScatterOptions& options, std::size_t left_out) {
  std::string text;
  for (std::size_t g = 0; g < options.group_names.size(); ++g)
    text += std::string(g == 0 ? "" : "   ") + marks[g] + " " + printable(options.group_names[g]);
  if (left_out > 0)
    text += (text.empty() ? "(" : "   (") + std::to_string(left_out) +
            (left_out == 1 ? " label" : " labels") + " left out)";
  return text.empty() ? "" : text + "\n";
}

}  // namespace

std::string scatter_text(const Array& points, const ScatterOptions& options) {
  check_scatter(points, options);
  if (options.width < 40 || options.height < 10)
    throw_error("scatter: a text needs at least 40 x 10 characters, got ", options.width, " x ",
                options.height);
  // A character is about twice as high as wide.
  const View view = scatter_view(points, static_cast<double>(options.width),
                                 2 * static_cast<double>(options.height));
  Sheet sheet(options.width, options.height);
  for (std::size_t i = 0; i < points.shape(0); ++i) {
    const Cell at = cell_of(points, i, view, options);
    sheet.set_mark(at.row, at.column, marks[options.groups.empty() ? 0 : options.groups[i]]);
  }
  std::size_t left_out = 0;
  for (std::size_t i = 0; i < options.labels.size(); ++i) {
    const Cell at = cell_of(points, i, view, options);
    left_out += !sheet.set_label(at.row, at.column, truncated(printable(options.labels[i]), 24));
  }
  const std::string title = options.title.empty() ? "" : printable(options.title) + "\n";
  return title + sheet.text() + legend_line(options, left_out);
}

}  // namespace heed
