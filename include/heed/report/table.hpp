// table.hpp: arrays as aligned text, the way the articles print them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "heed/array/array.hpp"

namespace heed {

// Written in place, as much of it as is needed: table(weights, {"weights", tokens, tokens}).
struct TableOptions {
  std::string title = {};                      // printed with the shape: "weights (3, 3)"
  std::vector<std::string> row_names = {};     // one for each row (axis -2), or none
  std::vector<std::string> column_names = {};  // one for each column (axis -1), or none
  int decimals = 4;
  std::size_t width = 80;      // columns of the terminal; wider matrices continue further down
  std::size_t max_shown = 32;  // longer axes show their first and last parts, "..." between
};

// Any rank: a scalar stands beside its title, a vector is one row, a matrix is rows, and more axes
// are matrices one below the other, each under its index "[1]". Right-aligned; every line ends in a
// newline. Values that four decimals cannot show (all below 0.0001, or some above 1e8) make the
// whole table scientific. Throws Error when there are more or fewer names than rows or columns.
std::string table(const Array& x, const TableOptions& options = {});

}  // namespace heed
