// table.hpp: formats arrays as tables of aligned text.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "heed/array/array.hpp"

namespace HEED_NAMESPACE {

// Options of table(). An aggregate: calls can list the first members, as table(w, {"weights"}).
struct TableOptions {
  std::string title = {};                      // printed with the array's shape: "weights (3, 3)"
  std::vector<std::string> row_names = {};     // one name for each row (axis -2), or no names
  std::vector<std::string> column_names = {};  // one name for each column (axis -1), or no names
  int decimals = 4;                            // number of digits after the decimal point, 0 to 100
  std::size_t width = 80;      // line width in characters; wider matrices are printed in parts
  std::size_t max_shown = 32;  // a longer axis shows its first and last indices, and "..." between
};

// Formats an array as text: a scalar after its title, a vector as one row, and a batch as one
// matrix after the other, each under its index, such as "[1]". Columns are right-aligned and every
// line ends in a newline. If all magnitudes are below 0.0001 (at 4 decimals) or one is above 1e8,
// the table uses scientific notation. Throws Error if the number of names does not match the shape.
std::string table(const Array& x, const TableOptions& options = {});

// The parts of table(): its title with the shape, and its rows. The first cell of a row is its
// name; a row of one cell is a title, such as "[1]". Cells have the width of their columns.
using TableRows = std::vector<std::vector<std::string>>;
std::string table_title(const Array& x, const TableOptions& options);
TableRows table_rows(const Array& x, const TableOptions& options);

}  // namespace HEED_NAMESPACE
