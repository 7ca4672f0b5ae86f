// loss_csv.cpp: a strict reader that says which line it could not read.

#include "heed/report/loss_csv.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <locale>
#include <sstream>

#include "heed/array/error.hpp"
#include "heed/report/format.hpp"

namespace heed {
namespace {

std::vector<std::string> cells_of(std::string line) {
  if (!line.empty() && line.back() == '\r') line.pop_back();
  std::vector<std::string> cells(1);
  for (const char c : line) {
    if (c == ',')
      cells.emplace_back();
    else
      cells.back() += c;
  }
  return cells;
}

// A decimal point in every locale, and the words a stream writes but cannot read.
bool read_number(const std::string& cell, double& value) {
  value = std::numeric_limits<double>::quiet_NaN();
  if (cell.empty() || cell == "nan" || cell == "-nan") return true;
  if (cell == "inf" || cell == "-inf") {
    value = (cell[0] == '-' ? -1 : 1) * std::numeric_limits<double>::infinity();
    return true;
  }
  std::istringstream in(cell);
  in.imbue(std::locale::classic());
  return (in >> value) && in.peek() == std::istringstream::traits_type::eof();
}

std::size_t column_named(const std::string& name, const std::vector<std::string>& header,
                         const std::string& path) {
  const auto found = std::find(header.begin(), header.end(), name);
  if (found == header.end()) refuse(path, ": its first line names no column '", name, "'");
  return static_cast<std::size_t>(found - header.begin());
}

double number_in(const std::vector<std::string>& cells, std::size_t column, const std::string& path,
                 std::size_t line) {
  double value = std::numeric_limits<double>::quiet_NaN();
  if (column >= cells.size()) refuse(path, ":", line, ": a cell is missing");
  if (!read_number(cells[column], value))
    refuse(path, ":", line, ": '", visible(cells[column]), "' is not a number");
  return value;
}

void append(Series& series, double step, double loss) {
  if (!std::isnan(loss)) series.append(step, loss);
}

}  // namespace

LossCsv read_loss_csv(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string line;
  if (!file || !std::getline(file, line)) refuse(path, ": cannot be read, or is empty");
  const std::vector<std::string> header = cells_of(line);
  LossCsv csv{{"training", {}, {}},
              {"validation", {}, {}, true},
              column_named("step", header, path),
              column_named("train_loss", header, path),
              column_named("val_loss", header, path)};
  for (std::size_t number = 2; std::getline(file, line); ++number) {
    const std::vector<std::string> cells = cells_of(line);
    if (cells.size() == 1 && cells[0].empty()) continue;
    const double step = number_in(cells, csv.step_column, path, number);
    append(csv.training, step, number_in(cells, csv.train_column, path, number));
    append(csv.validation, step, number_in(cells, csv.val_column, path, number));
  }
  return csv;
}

}  // namespace heed
