// loss_csv.cpp: writes and reads the loss history of a training run as CSV.

#include "heed/train/loss_csv.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <locale>
#include <sstream>

#include "heed/base/error.hpp"
#include "heed/base/file.hpp"
#include "heed/base/text.hpp"

namespace HEED_NAMESPACE {
namespace {

std::vector<std::string> cells_of(std::string line) {
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return split(line, ',');
}

// The number in a cell; NaN if the cell is empty. Accepts nan and inf, which streams cannot read.
double number_in(const std::vector<std::string>& cells, std::size_t column, const std::string& path,
                 std::size_t line) {
  if (column >= cells.size()) throw_error(path, ":", line, ": a cell is missing");
  const std::string& cell = cells[column];
  if (cell.empty() || cell == "nan" || cell == "-nan")
    return std::numeric_limits<double>::quiet_NaN();
  if (cell == "inf" || cell == "-inf")
    return (cell[0] == '-' ? -1 : 1) * std::numeric_limits<double>::infinity();
  double value = 0;
  std::istringstream in(cell);
  in.imbue(std::locale::classic());
  if (!(in >> value) || in.peek() != std::istringstream::traits_type::eof())
    throw_error(path, ":", line, ": '", printable(cell), "' is not a number");
  return value;
}

// The file's text. Throws Error for a pipe or a device, which could have no end.
std::string text_of(const std::string& path) {
  constexpr std::size_t most_bytes = 1'000'000'000;  // more than ten million rows
  const InputFile file(path);
  if (file.size() > most_bytes)
    throw_error(path, ": has ", grouped(static_cast<double>(file.size())), " bytes, more than ",
                grouped(static_cast<double>(most_bytes)), "; it is not a loss.csv of heed's");
  return file.read_to_end();
}

void append(LossCsv::Losses& losses, double step, double loss) {
  if (std::isnan(loss)) return;
  losses.steps.push_back(step);
  losses.values.push_back(loss);
}

}  // namespace

std::string csv(const LogRow& row) {
  return std::to_string(row.step) + "," + exact(row.train_loss) + "," +
         (row.val_loss ? exact(*row.val_loss) : "") + "," + exact(row.learning_rate) + "," +
         exact(row.grad_norm) + "," + exact(row.ms) + "\n";
}

std::string csv(const std::vector<LogRow>& rows) {
  std::string text = "step,train_loss,val_loss,learning_rate,grad_norm,ms\n";
  for (const LogRow& row : rows) text += csv(row);
  return text;
}

LossCsv read_loss_csv(const std::string& path) {
  std::istringstream file(text_of(path));
  std::string line;
  if (!std::getline(file, line))
    throw_error(path, ": is empty; heed train --resume writes it again");
  const auto column = [&, header = cells_of(line)](const char* name) {
    const auto found = std::find(header.begin(), header.end(), name);
    if (found == header.end()) throw_error(path, ": its first line has no column '", name, "'");
    return static_cast<std::size_t>(found - header.begin());
  };
  LossCsv csv{{}, {}, column("step"), column("train_loss"), column("val_loss")};
  for (std::size_t number = 2; std::getline(file, line); ++number) {
    const std::vector<std::string> cells = cells_of(line);
    if (cells.size() == 1 && cells[0].empty()) continue;
    const double step = number_in(cells, csv.step_column, path, number);
    if (!std::isfinite(step)) throw_error(path, ":", number, ": the step must be a finite number");
    append(csv.training, step, number_in(cells, csv.train_column, path, number));
    append(csv.validation, step, number_in(cells, csv.val_column, path, number));
  }
  return csv;
}

}  // namespace HEED_NAMESPACE
