// table.cpp: formats arrays as tables of aligned text.

#include "heed/draw/table.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "heed/array/shape.hpp"
#include "heed/base/error.hpp"
#include "heed/base/text.hpp"

namespace HEED_NAMESPACE {
namespace {

constexpr std::size_t gap = static_cast<std::size_t>(-1);  // in place of omitted indices ("...")

// Returns all indices or, for a long axis, the first and the last ones with `gap` between them.
std::vector<std::size_t> shown_indices(std::size_t size, std::size_t limit) {
  std::vector<std::size_t> indices;
  const std::size_t half = std::max<std::size_t>(1, limit / 2);
  for (std::size_t i = 0; i < size; ++i) {
    if (size <= 2 * half || i < half || i >= size - half)
      indices.push_back(i);
    else if (i == half)
      indices.push_back(gap);
  }
  return indices;
}

struct Sizes {
  std::size_t blocks, rows, columns;
};

Sizes sizes_of(const Shape& shape) {
  const std::size_t rank = shape.size();
  Sizes sizes{1, rank < 2 ? 1 : shape[rank - 2], rank < 1 ? 1 : shape[rank - 1]};
  for (std::size_t i = 0; i + 2 < rank; ++i) sizes.blocks *= shape[i];
  return sizes;
}

// Checks the number of row or column names and returns the names as they are printed.
std::vector<std::string> checked_names(const std::vector<std::string>& names, std::size_t size,
                                       const char* axis, const Shape& shape) {
  if (!names.empty() && names.size() != size)
    throw_error("table: ", names.size(), " ", axis, " names for ", size, " ", axis, "s of x ",
                str(shape));
  std::vector<std::string> result;
  for (const std::string& name : names) result.push_back(printable(name));
  return result;
}

bool needs_scientific(const Array& x, int decimals) {
  double largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double magnitude = std::abs(static_cast<double>(x.data()[i]));
    if (std::isfinite(magnitude)) largest = std::max(largest, magnitude);
  }
  return largest >= 1e8 || (largest > 0 && decimals > 0 && largest < std::pow(10.0, -decimals));
}

const TableOptions& checked_options(const TableOptions& options) {
  if (options.decimals < 0 || options.decimals > 100)
    throw_error("table: decimals is ", options.decimals, "; give 0 to 100");
  return options;
}

class TableWriter {
 public:
  TableWriter(const Array& x, const TableOptions& options)
      : x_(x),
        options_(checked_options(options)),
        sizes_(sizes_of(shape_of(x))),
        scientific_(needs_scientific(x, options.decimals)),
        row_names_(checked_names(options.row_names, sizes_.rows, "row", shape_of(x))),
        column_names_(checked_names(options.column_names, sizes_.columns, "column", shape_of(x))),
        rows_(shown_indices(sizes_.rows, options.max_shown)),
        columns_(shown_indices(sizes_.columns, options.max_shown)) {
    for (const std::string& name : row_names_)
      name_width_ = std::max(name_width_, display_width(name));
    for (const std::size_t block : blocks())
      for (const std::size_t row : rows_)
        for (const std::size_t column : columns_)
          if (block != gap)
            number_width_ = std::max(number_width_, number(block, row, column).size());
  }

  std::vector<std::size_t> blocks() const {
    return shown_indices(sizes_.blocks, options_.max_shown);
  }

  // Appends the rows of one matrix of the batch, split into groups of columns that fit the
  // terminal's width.
  void add_matrix(std::size_t block, TableRows& rows) const {
    for (std::size_t first = 0; first < columns_.size();) {
      const std::size_t last = end_of_strip(first);
      if (first > 0 || last < columns_.size()) rows.push_back({strip_title(first, last)});
      add_strip(block, first, last, rows);
      first = last;
    }
  }

  std::string number(std::size_t block, std::size_t row, std::size_t column) const {
    if (row == gap || column == gap) return "...";
    const std::size_t i = (block * sizes_.rows + row) * sizes_.columns + column;
    const auto value = static_cast<double>(x_.data()[i]);
    return scientific_ ? scientific(value, options_.decimals) : decimal(value, options_.decimals);
  }

 private:
  std::string column_name(std::size_t column) const {
    if (column_names_.empty()) return "";
    return column == gap ? "..." : column_names_[column];
  }

  std::size_t column_width(std::size_t column) const {
    return std::max(column == gap ? 3 : number_width_, display_width(column_name(column)));
  }

  std::size_t end_of_strip(std::size_t first) const {
    std::size_t width = name_width_, last = first;
    while (last < columns_.size()) {
      width += 2 + column_width(columns_[last]);
      if (width > options_.width && last > first) break;
      ++last;
    }
    return last;
  }

  std::string strip_title(std::size_t first, std::size_t last) const {
    // A title such as "columns 8 to 15" includes the columns shown as "..." at the group's ends.
    const std::size_t begin = columns_[first] == gap ? columns_[first - 1] + 1 : columns_[first];
    const std::size_t end = columns_[last - 1] == gap ? columns_[last] - 1 : columns_[last - 1];
    return "columns " + std::to_string(begin) + " to " + std::to_string(end);
  }

  void add_strip(std::size_t block, std::size_t first, std::size_t last, TableRows& rows) const {
    if (!column_names_.empty())
      rows.push_back(cells("", first, last, [&](std::size_t c) { return column_name(c); }));
    for (const std::size_t row : rows_)
      rows.push_back(cells(row_names_.empty() || row == gap ? "" : row_names_[row], first, last,
                           [&](std::size_t column) { return number(block, row, column); }));
  }

  template <class Cell>
  std::vector<std::string> cells(const std::string& name, std::size_t first, std::size_t last,
                                 Cell&& cell) const {
    std::vector<std::string> row{pad_left(name, name_width_)};
    for (std::size_t c = first; c < last; ++c)
      row.push_back(pad_left(cell(columns_[c]), column_width(columns_[c])));
    return row;
  }

  const Array& x_;
  const TableOptions& options_;
  Sizes sizes_;
  bool scientific_;
  std::vector<std::string> row_names_, column_names_;
  std::vector<std::size_t> rows_, columns_;
  std::size_t name_width_ = 0, number_width_ = 0;
};

// The index of a matrix in its batch: "[1]" in an array of rank 3, "[0, 1]" in rank 4.
std::string block_title(const Shape& shape, std::size_t block) {
  std::vector<std::string> indices(shape.size() - 2);
  for (std::size_t axis = indices.size(); axis-- > 0; block /= shape[axis])
    indices[axis] = std::to_string(block % shape[axis]);
  return "[" + joined(indices, ", ") + "]";
}

}  // namespace

std::string table_title(const Array& x, const TableOptions& options) {
  return options.title.empty() ? "" : printable(options.title) + " " + str(shape_of(x));
}

TableRows table_rows(const Array& x, const TableOptions& options) {
  const Shape shape = shape_of(x);
  const TableWriter writer(x, options);
  if (shape.size() == 0) return {{"", writer.number(0, 0, 0)}};
  if (x.size() == 0) return {{"", "(empty)"}};
  TableRows rows;
  for (const std::size_t block : writer.blocks()) {
    if (shape.size() > 2) rows.push_back({block == gap ? "..." : block_title(shape, block)});
    if (block != gap) writer.add_matrix(block, rows);
  }
  return rows;
}

std::string table(const Array& x, const TableOptions& options) {
  std::string text = table_title(x, options);
  if (!text.empty() && shape_of(x).size() > 0) text += "\n";
  for (const std::vector<std::string>& row : table_rows(x, options))
    text += joined(row, "  ") + "\n";
  return text;
}

}  // namespace HEED_NAMESPACE
